import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findZone } from '../../src/base/calendar.js';
import { ETERNITY } from '../../src/base/instant.js';
import { addPeriod, formatInstant, formatInstantIn, monthsBetween, parseInstant, parsePeriod } from '../../src/base/time.js';

const instants = suite('instants');

const parsed: readonly { text: string; zone?: string; iso: string | null }[] = [
  { text: '2015', iso: '2015-01-01T00:00:00.000Z' },
  { text: '2015-09', iso: '2015-09-01T00:00:00.000Z' },
  { text: '2015-09-12', iso: '2015-09-12T00:00:00.000Z' },
  { text: '2015-09-12T', iso: '2015-09-12T00:00:00.000Z' },
  { text: '2015-09-12T07', iso: '2015-09-12T07:00:00.000Z' },
  { text: '2015-09-12T00Z', iso: '2015-09-12T00:00:00.000Z' },
  { text: '2015-09-12T00:46:58.771Z', iso: '2015-09-12T00:46:58.771Z' },
  { text: '2015-09-12 00:46:58.7719', iso: '2015-09-12T00:46:58.771Z' },
  { text: '1', iso: '0001-01-01T00:00:00.000Z' },
  { text: '10-2', iso: '0010-02-01T00:00:00.000Z' },
  { text: '-1', iso: '-000001-01-01T00:00:00.000Z' },
  { text: '2000-W05', iso: '2000-01-31T00:00:00.000Z' },
  { text: '2000-W05-3', iso: '2000-02-02T00:00:00.000Z' },
  { text: '2009-W01-1', iso: '2008-12-29T00:00:00.000Z' },
  { text: '2009-W53-7T10', iso: '2010-01-03T10:00:00.000Z' },
  { text: '2000-060', iso: '2000-02-29T00:00:00.000Z' },
  { text: '2000-01-01T10.5', iso: '2000-01-01T10:30:00.000Z' },
  { text: '2000-01-01T10:01,25', iso: '2000-01-01T10:01:15.000Z' },
  { text: '2000-01-01T10:00:00,5', iso: '2000-01-01T10:00:00.500Z' },
  { text: '2015-09-12T02:00+02:00', iso: '2015-09-12T00:00:00.000Z' },
  { text: '2015-09-12T02:00-0330', iso: '2015-09-12T05:30:00.000Z' },
  { text: '2015-09-12', zone: 'Europe/Berlin', iso: '2015-09-11T22:00:00.000Z' },
  { text: '2015-09-12TZ', zone: 'Europe/Berlin', iso: '2015-09-12T00:00:00.000Z' },
  { text: '2015-03-29T02:30', zone: 'Europe/Berlin', iso: null },
  { text: '2015-03-29T03:00', zone: 'Europe/Berlin', iso: '2015-03-29T01:00:00.000Z' },
  { text: '2015-10-25T02:30', zone: 'Europe/Berlin', iso: '2015-10-25T00:30:00.000Z' },
  { text: '-0044-03-15', iso: '-000044-03-15T00:00:00.000Z' },
  { text: '2016-02-29', iso: '2016-02-29T00:00:00.000Z' },
  { text: '1', iso: '0001-01-01T00:00:00.000Z' },
  { text: '-12-3-4', iso: '-000012-03-04T00:00:00.000Z' },
  { text: '2015-09-12Z', iso: null },
  { text: '2024-013-01', iso: null },
  { text: '2015-02-29', iso: null },
  { text: '2015-366', iso: null },
  { text: '2015-000', iso: null },
  { text: '2015-W54', iso: null },
  { text: '2010-W53', iso: null },
  { text: '2015-W01-8', iso: null },
  { text: '2015-09-12T24:00', iso: null },
  { text: '2015-13-01', iso: null },
  { text: '2015-09-12T25', iso: null },
  { text: '2015-09-12T24:01', iso: null },
  { text: '2015-09-12T10:60', iso: null },
  { text: '2015-09-12', zone: 'Mars/Olympus', iso: null },
  { text: '12/09/2015', iso: null },
  { text: 'yesterday', iso: null },
  { text: '', iso: null },
];
for (const { text, zone, iso } of parsed) {
  instants(`parses "${text}" in ${zone ?? 'UTC'} as ${iso}`, () => {
    assert.is(parseInstant(text, zone), iso === null ? undefined : Date.parse(iso));
  });
}

instants('prints what Date prints, over all of its years of four digits', () => {
  const lastMs = Date.UTC(9999, 11, 31);
  const firstMs = Date.parse('0000-01-01T00:00:00Z');
  fc.assert(fc.property(fc.integer({ min: firstMs, max: lastMs }), (ms) => formatInstant(ms) === new Date(ms).toISOString()));
});

instants('printed instants parse back, inside and outside of the range of Date', () => {
  fc.assert(fc.property(fc.maxSafeInteger(), (ms) => parseInstant(formatInstant(ms)) === ms));
});

instants('the bounds of eternity are the documented texts', () => {
  assert.is(formatInstant(ETERNITY.start), '-146136543-09-08T08:23:32.096Z');
  assert.is(formatInstant(ETERNITY.end), '146140482-04-24T15:36:27.903Z');
  assert.is(parseInstant('-146136543-09-08T08:23:32.096Z'), ETERNITY.start);
  assert.is(parseInstant('146140482-04-24T15:36:27.903Z'), ETERNITY.end);
});

instants('prints the wall clock of a zone with its offset', () => {
  const noon = Date.UTC(2015, 8, 12, 12);
  assert.is(formatInstantIn(noon, zoneOf('America/New_York')), '2015-09-12T08:00:00.000-04:00');
  assert.is(formatInstantIn(noon, zoneOf('Asia/Kathmandu')), '2015-09-12T17:45:00.000+05:45');
  assert.is(formatInstantIn(noon, zoneOf('UTC')), '2015-09-12T12:00:00.000Z');
});

instants('rules hold for ever: summer and winter of years that the zone data do not reach', () => {
  for (const year of [2499, 2500, 3001, 9999, 10_000, 275_000]) {
    assert.is(zoneOf('America/New_York').offsetAt(Date.UTC(year, 6, 1)) / 3_600_000, -4, String(year));
    assert.is(zoneOf('America/New_York').offsetAt(Date.UTC(year, 0, 1)) / 3_600_000, -5, String(year));
  }
});

instants('offsets agree with those of the JavaScript engine', () => {
  for (const id of ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Pacific/Apia']) {
    const zone = zoneOf(id);
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: id,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1975, 0) / 1000, max: Date.UTC(2035, 0) / 1000 }), (seconds) => {
        const parts = Object.fromEntries(clock.formatToParts(seconds * 1000).map(({ type, value }) => [type, Number(value)]));
        const wall = Date.UTC(parts['year'] ?? 0, (parts['month'] ?? 0) - 1, parts['day'], parts['hour'], parts['minute'], parts['second']);
        assert.is(zone.offsetAt(seconds * 1000), wall - seconds * 1000);
      }),
    );
  }
});
instants('a time that the clock skips lies behind the gap where it is asked for', () => {
  assert.is(parseInstant('2015-03-29T02:30', 'Europe/Berlin', 'later'), Date.parse('2015-03-29T01:30:00.000Z'));
});

instants.run();

const periods = suite('periods');
const periodCases: readonly { text: string; period: { months: number; days: number; milliseconds: number } | null }[] = [
  { text: 'P1D', period: { months: 0, days: 1, milliseconds: 0 } },
  { text: 'PT15M', period: { months: 0, days: 0, milliseconds: 900_000 } },
  { text: 'P1Y2M3W4DT5H6M7.8S', period: { months: 14, days: 25, milliseconds: 18_367_800 } },
  { text: '-P1M', period: { months: -1, days: 0, milliseconds: 0 } },
  { text: 'P-1D', period: { months: 0, days: -1, milliseconds: 0 } },
  { text: 'P', period: null },
  { text: 'PT', period: null },
  { text: 'P1DT', period: null },
  { text: 'P1H', period: null },
  { text: '1D', period: null },
];
for (const { text, period } of periodCases) periods(text, () => assert.equal(parsePeriod(text) ?? null, period));

const sums: readonly { from: string; period: string; count?: number; zone?: string; to: string }[] = [
  { from: '2015-01-31', period: 'P1M', to: '2015-02-28' },
  { from: '2015-01-31', period: 'P1M', count: 2, to: '2015-03-31' },
  { from: '2016-02-29', period: 'P1Y', to: '2017-02-28' },
  { from: '2015-01-01', period: 'P1M', count: -1, to: '2014-12-01' },
  { from: '2015-03-28T11:00Z', period: 'P1D', zone: 'Europe/Berlin', to: '2015-03-29T10:00Z' },
  // The clock shows 01:30 twice; whichever of them it was, it stays.
  { from: '2015-11-01T06:30Z', period: 'P1M', count: 0, zone: 'America/New_York', to: '2015-11-01T06:30Z' },
  { from: '2015-11-02T06:30Z', period: 'P1D', count: -1, zone: 'America/New_York', to: '2015-11-01T06:30Z' },
  { from: '2015-10-31T05:30Z', period: 'P1D', zone: 'America/New_York', to: '2015-11-01T05:30Z' },
  { from: '2015-03-28T11:00Z', period: 'PT24H', zone: 'Europe/Berlin', to: '2015-03-29T11:00Z' },
];
for (const { from, period, count, zone, to } of sums) {
  periods(`${from} + ${count ?? 1} × ${period} in ${zone ?? 'UTC'} is ${to}`, () => {
    const length = parsePeriod(period);
    assert.ok(length);
    assert.is(addPeriod(Date.parse(from), length, count, zoneOf(zone ?? 'UTC')), Date.parse(to));
  });
}

const differences: readonly { from: string; to: string; months: number; zone?: string }[] = [
  { from: '2015-01-15', to: '2015-02-14', months: 0 },
  { from: '2015-01-15', to: '2015-02-15', months: 1 },
  // A month from the last day of January ends on the last day of February.
  { from: '2015-01-31', to: '2015-02-28', months: 1 },
  { from: '2015-01-31', to: '2015-02-27T23:59', months: 0 },
  { from: '2016-02-29', to: '2020-02-29', months: 48 },
  { from: '2020-02-29', to: '2016-02-29', months: -48 },
  { from: '2015-03-01', to: '2015-02-01T00:00:00.001Z', months: 0 },
  // In Berlin both are midnights of a first day of a month.
  { from: '2015-02-28T23:00Z', to: '2015-03-31T22:00Z', months: 1, zone: 'Europe/Berlin' },
  { from: '2015-02-28T23:00Z', to: '2015-03-31T21:59Z', months: 0, zone: 'Europe/Berlin' },
];
for (const { from, to, months, zone } of differences)
  periods(`${months} months from ${from} to ${to} in ${zone ?? 'UTC'}`, () => {
    assert.is(monthsBetween(Date.parse(from), Date.parse(to), zoneOf(zone ?? 'UTC')), months);
  });
periods.run();

function zoneOf(id: string) {
  const zone = findZone(id);
  assert.ok(zone, id);
  return zone;
}
