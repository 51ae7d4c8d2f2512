import { createRequire } from 'node:module';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findZone } from '../../src/base/calendar.js';

type Joda = typeof import('@js-joda/core');

const load = createRequire(import.meta.url);
const DAY_MS = 86_400_000;

/** js-joda with the rules of all zones, apart from the one that the program loads. */
function wholeJoda(): Joda {
  const loaded = Object.entries(load.cache).filter(([file]) => file.includes('/@js-joda/'));
  for (const [file] of loaded) delete load.cache[file];
  const joda = load('@js-joda/core') as Joda;
  load('@js-joda/timezone');
  for (const file of Object.keys(load.cache)) if (file.includes('/@js-joda/')) delete load.cache[file];
  for (const [file, module] of loaded) load.cache[file] = module;
  return joda;
}

const zones = suite('time zones');

zones('the rules of a zone are unpacked when it is first named, and no others', () => {
  const ids = () => [...(load('@js-joda/core') as Joda).ZoneId.getAvailableZoneIds()];
  assert.is(findZone('Mars/Olympus'), undefined);
  assert.equal(ids(), []);
  assert.ok(findZone('Europe/Berlin'));
  assert.ok(findZone('Europe/Berlin'));
  assert.equal(ids(), ['Europe/Berlin']);
  // Another name of America/Los_Angeles.
  assert.is(findZone('US/Pacific')?.id, 'US/Pacific');
  assert.equal(ids(), ['Europe/Berlin', 'America/Los_Angeles']);
});

const whole = wholeJoda();
/** Beyond, the package has no rules, and the calendar's own repetition is tested against that of the system. */
const RULES_END = Date.UTC(2498, 0, 1);

zones('every zone of the package is known, with the offsets that it has there, from the year 1 on and around every change', () => {
  const ids = whole.ZoneId.getAvailableZoneIds();
  assert.ok(ids.length > 500, String(ids.length));
  const begin = Date.parse('0001-01-01T00:00Z');
  for (const id of ids) {
    const zone = findZone(id);
    assert.ok(zone, id);
    const rules = whole.ZoneId.of(id).rules();
    const expected = (ms: number) => rules.offsetOfEpochMilli(ms).totalSeconds() * 1000;
    const check = (ms: number) => {
      if (zone.offsetAt(ms) !== expected(ms)) assert.is(zone.offsetAt(ms), expected(ms), `${id} at ${new Date(ms).toISOString()}`);
    };
    for (let ms = begin; ms < RULES_END; ms += 1009.3 * DAY_MS) check(Math.floor(ms));
    for (let ms = Date.UTC(1850, 0, 1); ms < Date.UTC(2060, 0, 1); ms += 45 * DAY_MS) {
      if (expected(ms) === expected(ms + 45 * DAY_MS)) continue;
      let before = ms;
      let after = ms + 45 * DAY_MS;
      while (after - before > 1) {
        const middle = Math.floor((before + after) / 2);
        if (expected(middle) === expected(before)) before = middle;
        else after = middle;
      }
      for (const near of [before - 3_600_000, before, after, after + 3_600_000]) check(near);
    }
  }
});

/** Zones whose rules have long been what they are, so that no release of either data set differs. */
const settled = ['Europe/Berlin', 'America/New_York', 'US/Pacific', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Asia/Tokyo', 'Etc/GMT+5'];
for (const id of settled)
  zones(`${id}: its offsets are those of the system, to the year 9999`, () => {
    const zone = findZone(id);
    assert.ok(zone);
    const format = new Intl.DateTimeFormat('en-US', { timeZone: id, timeZoneName: 'longOffset' });
    const system = (ms: number) => {
      const [, sign, hours, minutes] = /GMT(?:([+-])(\d{2}):(\d{2}))?$/.exec(format.format(ms)) ?? [];
      const offset = (Number(hours ?? 0) * 60 + Number(minutes ?? 0)) * 60_000;
      return sign === '-' ? -offset : offset;
    };
    const instants: number[] = [];
    // Every other hour of some years, days of DST among them; then days of all years.
    for (const year of [1996, 2015, 2024])
      for (let ms = Date.UTC(year, 0, 1); ms < Date.UTC(year + 1, 0, 1); ms += 7_200_000) instants.push(ms);
    for (let ms = Date.UTC(1990, 0, 1); ms < Date.UTC(9999, 11, 31); ms += 397 * DAY_MS) instants.push(ms);
    for (const ms of instants) assert.is(zone.offsetAt(ms), system(ms), new Date(ms).toISOString());
  });

const unknown = [
  '',
  ' ',
  'Mars/Olympus',
  'Europe',
  'europe/berlin',
  'Europe/Berlin ',
  'Europe/Berlin|LMT',
  'Europe/Berlin\n',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'version',
  'zones',
];
for (const id of unknown) zones(`${JSON.stringify(id)} is no zone`, () => assert.is(findZone(id), undefined));

zones.run();
