import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { formatWithPattern, parseWithPattern } from '../../src/base/time-pattern.js';

const patterns = suite('time patterns');
const AT = Date.UTC(2015, 8, 12, 15, 4, 5, 67);

const printed: readonly { pattern: string; timeZone?: string; text: string }[] = [
  { pattern: "yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", text: '2015-09-12T15:04:05.067Z' },
  { pattern: 'yyyy/MM/dd HH:mm', text: '2015/09/12 15:04' },
  { pattern: 'yyyyMMddHHmmss', text: '20150912150405' },
  { pattern: 'd MMM yy, h:mm a', text: '12 Sep 15, 3:04 PM' },
  { pattern: 'EEEE, MMMM d', text: 'Saturday, September 12' },
  { pattern: "xxxx-'W'ww-e", text: '2015-W37-6' },
  { pattern: 'yyyy-DDD', text: '2015-255' },
  { pattern: 'HH:mm:ss.SSSSSS Z', timeZone: 'America/New_York', text: '11:04:05.067000 -0400' },
  { pattern: 'HH ZZ', timeZone: 'Asia/Kolkata', text: '20 +05:30' },
  { pattern: "h 'o''clock'", text: "3 o'clock" },
  { pattern: "HH:mm'Z", text: '15:04Z' },
];
for (const { pattern, timeZone, text } of printed) {
  patterns(`prints ${pattern}`, () => assert.is(formatWithPattern(pattern, timeZone === undefined ? {} : { timeZone })(AT), text));
}

const read: readonly { pattern: string; text: string; timeZone?: string; iso: string | null }[] = [
  { pattern: 'yyyy/MM/dd HH:mm', text: '2001/01/10 18:20', iso: '2001-01-10T18:20:00Z' },
  { pattern: 'yyyy-MM-dd', text: '2015-9-2', iso: '2015-09-02T00:00:00Z' },
  { pattern: 'yyyyMMdd', text: '20150912', iso: '2015-09-12T00:00:00Z' },
  { pattern: 'dd/MMM/yyyy:HH:mm:ss Z', text: '12/sep/2015:10:00:00 +0200', iso: '2015-09-12T08:00:00Z' },
  { pattern: 'MMMM d yyyy', text: 'September 1 2015', iso: '2015-09-01T00:00:00Z' },
  { pattern: 'MM/dd/yy', text: '09/12/15', iso: '2015-09-12T00:00:00Z' },
  { pattern: 'MM/dd/yy', text: '09/12/99', iso: '1999-09-12T00:00:00Z' },
  { pattern: 'h:mm a', text: '12:30 am', iso: '1970-01-01T00:30:00Z' },
  { pattern: 'HH:mm:ss.S', text: '01:02:03.5', iso: '1970-01-01T01:02:03.500Z' },
  { pattern: 'HH:mm:ss.SSSSSS', text: '01:02:03.123456', iso: '1970-01-01T01:02:03.123Z' },
  { pattern: 'yyyy-MM-dd HH:mm', timeZone: 'Europe/Berlin', text: '2015-03-29 12:00', iso: '2015-03-29T10:00:00Z' },
  { pattern: 'yyyy-MM-dd HH:mm', timeZone: 'Europe/Berlin', text: '2015-03-29 02:30', iso: null },
  { pattern: "xxxx-'W'ww-e", text: '2015-W37-6', iso: '2015-09-12T00:00:00Z' },
  { pattern: 'yyyy-DDD', text: '2016-366', iso: '2016-12-31T00:00:00Z' },
  { pattern: 'yyyy-DDD', text: '2015-366', iso: null },
  { pattern: 'yyyy-MM-dd', text: '2015-02-29', iso: null },
  { pattern: 'yyyy-MM-dd', text: '2015-09-12x', iso: null },
  { pattern: 'yyyy-MM-dd', text: '2015-09', iso: null },
  { pattern: 'HH', text: '24', iso: null },
  { pattern: 'hh a', text: '13 PM', iso: null },
  { pattern: 'EEE yyyy-MM-dd', text: 'Sun 2015-09-12', iso: null },
];
for (const { pattern, text, timeZone, iso } of read) {
  patterns(`reads ${text} by ${pattern}`, () =>
    assert.is(parseWithPattern(pattern, timeZone === undefined ? {} : { timeZone })(text), iso === null ? undefined : Date.parse(iso)),
  );
}

patterns('printed times are read back', () => {
  for (const pattern of [
    "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
    'yyyyMMddHHmmssSSS Z',
    "xxxx-'W'ww-e HH:mm:ss.SSS Z",
    'yyyy DDD KK:mm:ss.SSS a Z',
    'EEEE d MMMM yyyy kk:mm:ss.SSS ZZZ',
  ]) {
    for (const timeZone of ['UTC', 'Asia/Kathmandu', '-03:30']) {
      const print = formatWithPattern(pattern, { timeZone });
      const parse = parseWithPattern(pattern);
      fc.assert(
        fc.property(fc.integer({ min: Date.UTC(1990, 0), max: Date.UTC(2100, 0) }), (ms) => assert.is(parse(print(ms)), ms, print(ms))),
      );
    }
  }
});

for (const pattern of ['yyyy-bb', 'yyyy-j']) {
  patterns(`refuses ${pattern}`, () => {
    assert.throws(
      () => parseWithPattern(pattern, { code: 'query_invalid' }),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid',
    );
  });
}
patterns.run();
