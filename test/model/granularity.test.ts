import { ChronoUnit, Instant, LocalDateTime, ZoneId } from '@js-joda/core';
import * as fc from 'fast-check';
import '@js-joda/timezone';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import {
  bucketBoundaries,
  floorInstant,
  type Granularity,
  granularityName,
  nextBucketStart,
  parseGranularity,
} from '../../src/model/granularity.js';

const parsing = suite('parseGranularity');

parsing('simple names', () => {
  assert.equal(parseGranularity('all', 'g'), { kind: 'all' });
  assert.equal(parseGranularity('NONE', 'g'), { kind: 'none' });
  assert.equal(parseGranularity('fifteen_minute', 'g'), { kind: 'period', period: 'PT15M', timeZone: 'UTC', origin: null });
  assert.equal(parseGranularity({ type: 'all' }, 'g'), { kind: 'all' });
});

parsing('objects', () => {
  assert.equal(
    parseGranularity({ type: 'period', period: 'P1D', timeZone: 'America/Los_Angeles', origin: '2012-02-01T00:00:00-08:00' }, 'g'),
    {
      kind: 'period',
      period: 'P1D',
      timeZone: 'America/Los_Angeles',
      origin: Date.UTC(2012, 1, 1, 8),
    },
  );
  assert.equal(parseGranularity({ type: 'duration', duration: 7200000 }, 'g'), { kind: 'duration', durationMs: 7_200_000, origin: 0 });
});

const refused: readonly { value: unknown; message: RegExp }[] = [
  { value: 'fortnight', message: /g: unknown granularity "fortnight"; accepted: all, none, second/ },
  { value: 7, message: /g: expected a granularity/ },
  { value: { type: 'century' }, message: /g\.type/ },
  { value: { type: 'period' }, message: /g\.period/ },
  { value: { type: 'period', period: 'P0D' }, message: /g\.period/ },
  { value: { type: 'period', period: 'P1D', timeZone: 'Nowhere' }, message: /g\.timeZone/ },
  { value: { type: 'period', period: 'P1D', timeZone: '__proto__' }, message: /g\.timeZone: unknown time zone "__proto__"/ },
  { value: { type: 'period', period: 'P1D', timeZone: 'constructor' }, message: /g\.timeZone: unknown time zone "constructor"/ },
  { value: { type: 'period', period: 'P1D', zone: 'UTC' }, message: /unknown key "zone"/ },
  { value: { type: 'period', period: 'P1D', origin: 'soon' }, message: /g\.origin/ },
  { value: { type: 'duration', duration: 0 }, message: /g\.duration/ },
];
for (const { value, message } of refused) {
  parsing(`refuses ${JSON.stringify(value)}`, () => {
    assert.throws(
      () => parseGranularity(value, 'g'),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });
}
parsing.run();

const flooring = suite('buckets');

const floors: readonly { name: string; granularity: unknown; at: string; start: string; next: string }[] = [
  { name: 'hour', granularity: 'hour', at: '2015-09-12T10:20:30.5Z', start: '2015-09-12T10:00Z', next: '2015-09-12T11:00Z' },
  { name: 'six_hour', granularity: 'six_hour', at: '2015-09-12T10:20Z', start: '2015-09-12T06:00Z', next: '2015-09-12T12:00Z' },
  { name: 'week starts on Monday', granularity: 'week', at: '2015-09-12T10:20Z', start: '2015-09-07', next: '2015-09-14' },
  { name: 'month', granularity: 'month', at: '2016-02-29T23:59Z', start: '2016-02-01', next: '2016-03-01' },
  { name: 'quarter', granularity: 'quarter', at: '2015-05-31', start: '2015-04-01', next: '2015-07-01' },
  { name: 'year before 1970', granularity: 'year', at: '1915-05-31', start: '1915-01-01', next: '1916-01-01' },
  {
    name: 'duration with origin',
    granularity: { type: 'duration', duration: 7200000, origin: '2012-01-01T00:30:00Z' },
    at: '2012-01-01T00:00Z',
    start: '2011-12-31T22:30Z',
    next: '2012-01-01T00:30Z',
  },
  {
    name: 'two days from an origin',
    granularity: { type: 'period', period: 'P2D', origin: '2012-01-02' },
    at: '2012-01-05T12:00Z',
    start: '2012-01-04',
    next: '2012-01-06',
  },
  {
    name: 'months from the last day of one',
    granularity: { type: 'period', period: 'P1M', origin: '2015-01-31' },
    at: '2015-03-01',
    start: '2015-02-28',
    next: '2015-03-31',
  },
  {
    name: 'day of 23 hours',
    granularity: { type: 'period', period: 'P1D', timeZone: 'America/New_York' },
    at: '2015-03-08T12:00Z',
    start: '2015-03-08T05:00Z',
    next: '2015-03-09T04:00Z',
  },
  {
    name: 'day of 25 hours',
    granularity: { type: 'period', period: 'P1D', timeZone: 'America/New_York' },
    at: '2015-11-01T12:00Z',
    start: '2015-11-01T04:00Z',
    next: '2015-11-02T05:00Z',
  },
  {
    name: 'day without a midnight',
    granularity: { type: 'period', period: 'P1D', timeZone: 'America/Sao_Paulo' },
    at: '2015-10-18T12:00Z',
    start: '2015-10-18T03:00Z',
    next: '2015-10-19T02:00Z',
  },
  {
    name: 'hour of a zone off by half an hour',
    granularity: { type: 'period', period: 'PT1H', timeZone: 'Asia/Kolkata' },
    at: '2015-09-12T10:20Z',
    start: '2015-09-12T09:30Z',
    next: '2015-09-12T10:30Z',
  },
  {
    name: 'hour cut short by a half-hour change',
    granularity: { type: 'period', period: 'PT1H', timeZone: 'Australia/Lord_Howe' },
    at: '2015-10-03T15:45Z',
    start: '2015-10-03T15:30Z',
    next: '2015-10-03T16:00Z',
  },
  {
    name: 'week in a zone',
    granularity: { type: 'period', period: 'P1W', timeZone: 'Europe/Berlin' },
    at: '2015-09-12',
    start: '2015-09-06T22:00Z',
    next: '2015-09-13T22:00Z',
  },
];
for (const { name, granularity, at, start, next } of floors) {
  flooring(name, () => {
    const parsed = parseGranularity(granularity, 'g');
    assert.is(floorInstant(parsed, Date.parse(at)), Date.parse(start));
    assert.is(nextBucketStart(parsed, Date.parse(at)), Date.parse(next));
  });
}

const instant = fc.integer({ min: Date.UTC(1972, 0), max: Date.UTC(2036, 0) });
const zones = ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', 'America/Sao_Paulo', 'Pacific/Apia', 'Australia/Lord_Howe'];

for (const timeZone of zones) {
  const zone = ZoneId.of(timeZone);
  /** The start of a day, month or year as js-joda works it out. */
  const naturalStart = (ms: number, period: string): number => {
    const day = LocalDateTime.ofInstant(Instant.ofEpochMilli(ms), zone).truncatedTo(ChronoUnit.DAYS);
    const start = period === 'P1D' ? day : period === 'P1M' ? day.withDayOfMonth(1) : day.withDayOfYear(1);
    return start.atZone(zone).toInstant().toEpochMilli();
  };
  for (const period of ['P1D', 'P1M', 'P1Y']) {
    flooring(`${period} in ${timeZone} agrees with js-joda`, () => {
      const granularity: Granularity = { kind: 'period', period, timeZone, origin: null };
      fc.assert(fc.property(instant, (ms) => assert.is(floorInstant(granularity, ms), naturalStart(ms, period))));
    });
  }
  for (const period of ['PT1M', 'PT1H', 'PT6H', 'P1D', 'P3D', 'P1W', 'P2W', 'P1M', 'P3M', 'P1Y', 'P1M10D', 'P1DT12H', 'P1MT1H']) {
    for (const origin of [null, Date.UTC(2001, 4, 31, 13, 7)]) {
      flooring(`${period} in ${timeZone} from ${origin} cuts time without gaps`, () => {
        const granularity: Granularity = { kind: 'period', period, timeZone, origin };
        fc.assert(
          fc.property(instant, (ms) => {
            const start = floorInstant(granularity, ms);
            const end = nextBucketStart(granularity, ms);
            assert.ok(start <= ms && ms < end);
            assert.is(floorInstant({ ...granularity }, start), start);
            assert.is(floorInstant({ ...granularity }, end - 1), start);
            assert.is(floorInstant({ ...granularity }, end), end);
          }),
          { numRuns: 30 },
        );
      });
    }
  }
}

flooring('boundaries cover an interval and end it', () => {
  const day = parseGranularity('day', 'g');
  const interval = { start: Date.UTC(2015, 8, 12, 6), end: Date.UTC(2015, 8, 14) };
  assert.equal(
    [...bucketBoundaries(day, interval, 2)],
    [12, 13, 14].map((date) => BigInt(Date.UTC(2015, 8, date))),
  );
  assert.equal([...bucketBoundaries({ kind: 'all' }, interval, 1)], [BigInt(interval.start), BigInt(interval.end)]);
  assert.throws(
    () => bucketBoundaries(day, interval, 1),
    (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit',
  );
});

flooring('names', () => {
  assert.is(granularityName(parseGranularity('day', 'g')), 'day');
  assert.is(granularityName(parseGranularity({ type: 'period', period: 'P1D', timeZone: 'Europe/Berlin' }, 'g')), 'P1D in Europe/Berlin');
});
flooring.run();
