// The offsets of a time zone as tables of steps.

import { DAY_MS, type Zone } from './calendar.js';

/** From `starts[i]` on, up to the next start, `offsets[i]` is to be added. Milliseconds; the first start is the lowest i64. */
interface OffsetSteps {
  readonly starts: BigInt64Array;
  readonly offsets: BigInt64Array;
}

export interface ZoneOffsets {
  /** Wall-clock times by instant. */
  readonly toLocal: OffsetSteps;
  /** Instants by wall-clock time, as `Zone.fromLocal` has it. */
  readonly fromLocal: OffsetSteps;
}

/** Day before which no zone has changed its offset: that was before the railways. */
const FIRST_DAY = Date.UTC(1800, 0, 1) / DAY_MS;

/** Days that are looked at together; each takes about a microsecond. */
const DAYS_AT_ONCE = 3653;

interface Change {
  readonly instant: number;
  readonly before: number;
  readonly after: number;
}

/** The changes of a zone's offset from one day up to another, as far as they were looked for. */
interface Known {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly changes: readonly Change[];
}

const known = new WeakMap<Zone, Known>();

const steps = new WeakMap<readonly Change[], ZoneOffsets>();

/** Offsets of a zone that hold for all instants and wall-clock times of [low, high]; found once for each ten years. */
export function offsetsWithin(zone: Zone, low: number, high: number): ZoneOffsets {
  const changes = changesWithin(zone, low, high);
  let offsets = steps.get(changes);
  if (offsets === undefined) {
    offsets = stepsOf(changes, zone.offsetAt(low));
    steps.set(changes, offsets);
  }
  return offsets;
}

function changesWithin(zone: Zone, low: number, high: number): readonly Change[] {
  // No wall clock is further than a day from UTC.
  const from = Math.max(FIRST_DAY, Math.floor(low / DAY_MS) - 2);
  const to = Math.max(from, Math.ceil(high / DAY_MS) + 2);
  let found = known.get(zone);
  if (found !== undefined && from >= found.firstDay && to <= found.lastDay) return found.changes;
  found ??= { firstDay: from, lastDay: from, changes: [] };
  const firstDay = Math.max(FIRST_DAY, Math.min(found.firstDay, from - (from % DAYS_AT_ONCE) - DAYS_AT_ONCE));
  const lastDay = Math.max(found.lastDay, to - (to % DAYS_AT_ONCE) + DAYS_AT_ONCE);
  const changes = [...findChanges(zone, firstDay, found.firstDay), ...found.changes, ...findChanges(zone, found.lastDay, lastDay)];
  known.set(zone, { firstDay, lastDay, changes });
  return changes;
}

/** No zone changes its offset twice within two days. */
function findChanges(zone: Zone, firstDay: number, lastDay: number): readonly Change[] {
  const changes: Change[] = [];
  let before = zone.offsetAt(firstDay * DAY_MS);
  for (let day = firstDay + 1; day <= lastDay; day++) {
    const after = zone.offsetAt(day * DAY_MS);
    if (after === before) continue;
    changes.push({ instant: changeBetween(zone, (day - 1) * DAY_MS, day * DAY_MS), before, after });
    before = after;
  }
  return changes;
}

const LOWEST = -(2n ** 63n);

/** @param only  the offset where it does not change */
function stepsOf(changes: readonly Change[], only: number): ZoneOffsets {
  const first = BigInt(changes[0]?.before ?? only);
  const offsets = BigInt64Array.from([first, ...changes.map(({ after }) => BigInt(after))]);
  const instants = changes.map(({ instant }) => BigInt(instant));
  // The earlier of two instants with one wall-clock time counts, and a time that was skipped keeps the offset from before.
  const locals = changes.map(({ instant, before, after }) => BigInt(instant + Math.max(before, after)));
  return {
    toLocal: { starts: BigInt64Array.from([LOWEST, ...instants]), offsets },
    fromLocal: { starts: BigInt64Array.from([LOWEST, ...locals]), offsets: offsets.map((offset) => -offset) },
  };
}

/** The first instant of the offset that holds at `after`, which another offset at `before` precedes. */
export function changeBetween(zone: Zone, before: number, after: number): number {
  const offset = zone.offsetAt(after);
  let low = before;
  let high = after;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (zone.offsetAt(middle) === offset) high = middle;
    else low = middle;
  }
  return high;
}
