// Calendar arithmetic and time zones.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { ZoneRules } from '@js-joda/core';
import { INSTALLATION } from './installation.js';
import { onFirstUse } from './on-first-use.js';

/**
 * The proleptic Gregorian calendar as integer arithmetic, and time zones. js-joda and the packed rules of all zones are loaded when
 * the first zone other than UTC or a fixed offset is asked for, and the rules of a zone unpacked when it is first named: a thread
 * that never meets one does not pay for them.
 */
export const DAY_MS = 86_400_000;

export interface CivilDate {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly day: number;
}

/** Days since 1970-01-01 of a date; `month` and `day` must be in range, any year. */
export function daysFromCivil(year: number, month: number, day: number): number {
  // Years run from March, so that the leap day is the last of its year, in eras of 400 years.
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  return era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468;
}

export function civilFromDays(days: number): CivilDate {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day: dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1 };
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** ISO day of week, Monday 1 to Sunday 7, of a day number. */
export function dayOfWeek(days: number): number {
  return ((((days + 3) % 7) + 7) % 7) + 1;
}

/** `local` means milliseconds as if the zone's wall clock showed UTC. */
export interface Zone {
  readonly id: string;
  /** Null when the offset changes over time. */
  readonly fixedOffsetMs: number | null;
  /** Milliseconds east of UTC at an instant. */
  offsetAt(instantMs: number): number;
  /**
   * The instant of a wall-clock time: of two the one with the preferred offset, or the earlier; for a time that was skipped, as far
   * after the gap as it lies into it.
   */
  fromLocal(localMs: number, preferredOffsetMs?: number): number;
}

export const UTC: Zone = fixedZone('UTC', 0);

const UTC_NAMES = new Set([
  'utc',
  'z',
  'gmt',
  'ut',
  'etc/utc',
  'etc/gmt',
  'zulu',
  'etc/zulu',
  'etc/uct',
  'uct',
  'universal',
  'etc/universal',
  'greenwich',
  'etc/greenwich',
]);
const OFFSET = /^(?:UTC|GMT|UT)?([+-])(\d{2})(?::?(\d{2})(?::?(\d{2}))?)?$/;
const zones = new Map<string, Zone>();

/** A zone by IANA name or fixed offset (`+05:30`); undefined when there is no such zone. */
export function findZone(id: string): Zone | undefined {
  const known = zones.get(id);
  if (known !== undefined) return known;
  const zone = makeZone(id);
  if (zone !== undefined) zones.set(id, zone);
  return zone;
}

function makeZone(id: string): Zone | undefined {
  if (UTC_NAMES.has(id.toLowerCase())) return UTC;
  const offset = OFFSET.exec(id);
  if (offset !== null) {
    const [, sign, hours, minutes = '0', seconds = '0'] = offset;
    if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
    const milliseconds = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
    return fixedZone(id, sign === '-' ? -milliseconds : milliseconds);
  }
  const rules = findRules(id);
  return rules === undefined ? undefined : variableZone(id, rules);
}

/** The instant of a wall-clock time, the earlier of two; undefined for a time that was skipped. */
export function instantAt(zone: Zone, localMs: number): number | undefined {
  const instant = zone.fromLocal(localMs);
  return zone.fixedOffsetMs !== null || instant + zone.offsetAt(instant) === localMs ? instant : undefined;
}

function fixedZone(id: string, offsetMs: number): Zone {
  return { id, fixedOffsetMs: offsetMs, offsetAt: () => offsetMs, fromLocal: (localMs) => localMs - offsetMs };
}

function variableZone(id: string, rules: ZoneRules): Zone {
  const offsetAt = (instantMs: number): number => rules.offsetOfEpochMilli(withinRules(instantMs)).totalSeconds() * 1000;
  return {
    id,
    fixedOffsetMs: null,
    offsetAt,
    fromLocal(localMs, preferredOffsetMs) {
      if (preferredOffsetMs !== undefined && offsetAt(localMs - preferredOffsetMs) === preferredOffsetMs)
        return localMs - preferredOffsetMs;
      // No zone is further than a day from UTC, and none changes its offset twice within two days.
      const before = offsetAt(localMs - DAY_MS);
      const earlier = localMs - before;
      if (offsetAt(earlier) === before) return earlier;
      const after = offsetAt(localMs + DAY_MS);
      const later = localMs - after;
      // In a gap neither offset is right; the one from before carries the time over to the other side.
      return offsetAt(later) === after ? later : earlier;
    },
  };
}

/** The zone data end with the year 2499. The calendar repeats every 400 years, and the last rules hold for ever. */
const RULES_END = daysFromCivil(2499, 1, 1) * DAY_MS;
const CALENDAR_CYCLE = 146_097 * DAY_MS;

function withinRules(instantMs: number): number {
  if (instantMs < RULES_END) return Math.max(-8.64e15, instantMs);
  return RULES_END - CALENDAR_CYCLE + ((instantMs - RULES_END) % CALENDAR_CYCLE);
}

/** Rules as the package @js-joda/timezone packs them: of each zone a text, `name|…`, and of further names `zone|name`. */
interface PackedRules {
  readonly version: string;
  readonly zones: readonly string[];
  readonly links: readonly string[];
}

declare module '@js-joda/core' {
  namespace ZoneRulesProvider {
    /** Unpacks rules, beside those it has; `@js-joda/timezone` adds it for zone data of one's own, but no type of it. */
    function loadTzdbData(packed: PackedRules): void;
  }
}

const load = createRequire(import.meta.url);

const packedRules = onFirstUse(() => {
  const { version, zones, links } = load(join(INSTALLATION, 'build', 'time-zones.json')) as PackedRules;
  const byName = new Map(zones.map((packed) => [packed.slice(0, packed.indexOf('|')), packed]));
  const targets = new Map(links.map((link) => [link.slice(link.indexOf('|') + 1), link.slice(0, link.indexOf('|'))]));
  return { version, byName, targets };
});

const rulesProvider = onFirstUse(() => {
  const { ZoneRulesProvider } = load('@js-joda/core') as typeof import('@js-joda/core');
  load('@js-joda/timezone/dist/js-joda-timezone-empty.js');
  return ZoneRulesProvider;
});

/** Unpacks the rules of one zone: those of all together would hold up a start, or the first request that names one, by 60 ms. */
function findRules(id: string): ZoneRules | undefined {
  const { version, byName, targets } = packedRules();
  const name = targets.get(id) ?? id;
  const packed = byName.get(name);
  if (packed === undefined) return undefined;
  const provider = rulesProvider();
  provider.loadTzdbData({ version, zones: [packed], links: [] });
  return provider.getRules(name);
}
