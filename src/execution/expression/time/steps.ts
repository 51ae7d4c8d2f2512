// Steps of kernels that make instants, and parts of them, of instants.

import type { Zone } from '../../../base/calendar.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { offsetsWithin, type ZoneOffsets } from '../../../base/zone-offsets.js';
import type { NumberColumnView } from '../../../storage/view.js';
import { ROWS_PER_CHECK } from '../../block/checked-loops.js';
import { type Block, kernelFor, type Scratch, takeBits } from '../../block/context.js';
import { computedNumbers, type NumberVector, oncePerBlock } from '../vector.js';
import { nullTest, type Range, rangeFinder } from './range.js';

/** Facts known of the instants that steps begin with. Bits at `nulls` (or 0) name rows that do not matter. */
interface Instants {
  readonly nulls: Address;
  readonly low: bigint;
  readonly high: bigint;
}

/** Computes i64 values of a block from those at `from`, which may lie at `out` as well. */
export type Step = (from: Address, rows: number, out: Address, instants: Instants) => void;

/** A function of an instant by steps of kernels. */
export interface Stepped {
  readonly steps: readonly Step[];
  /** Instants up to here are near enough to their zone's known offsets, and to 1970, for the steps to be right. */
  readonly latest: bigint;
  /** The same of one instant, for blocks that reach beyond. */
  readonly each: (instant: bigint) => bigint | null;
}

/** Instants from 1970 on, or before, within which all that steps make of them are instants as well: doubles count them. */
export const NEAR = 2n ** 52n;

/** Year up to which offsets of zones are looked for, day by day. */
export const YEAR_2500 = BigInt(Date.UTC(2500, 0, 1));

/** LONG numbers through steps, one after the other; null where the operand is. */
export function stepped(scope: Scratch, operand: NumberVector, { steps, latest, each }: Stepped): NumberVector {
  const { arena } = scope;
  const longs = longsOf(scope, operand);
  const all = steps.length === 0 ? [scalarStep(scope, 0n, 'addI64')] : steps;
  const at = arena.take(BLOCK_ROWS * 8);
  const { stored } = operand;
  const isWithin = (range: Range): boolean => range.low > -NEAR && range.high < latest;
  const whole = stored === undefined ? undefined : rangeOf(stored);
  const isNear = whole !== undefined && isWithin(whole);
  const findRange = isNear ? () => whole : rangeFinder(scope);
  const further = isNear ? 0 : takeBits(arena);
  let nulls: Address = 0;
  const run = oncePerBlock((block) => {
    const { rows } = block;
    let from = longs(block);
    nulls = operand.nulls(block);
    const range = findRange(from, rows, nulls);
    if (range === undefined) return;
    if (isWithin(range)) {
      for (const step of all) {
        step(from, rows, at, { nulls, ...range });
        from = at;
      }
      return;
    }
    nulls = eachRow(scope, { from, rows, out: at, nulls, further }, each);
  });
  return computedNumbers('LONG', { run, at: () => at, nulls: () => nulls, mayBeNull: operand.mayBeNull || !isNear });
}

interface Rows {
  readonly from: Address;
  readonly rows: number;
  readonly out: Address;
  readonly nulls: Address;
  /** Room for bits of rows that are null. */
  readonly further: Address;
}

/** Computes row by row. @returns bits of the null rows */
function eachRow(scope: Scratch, { from, rows, out, nulls, further }: Rows, each: (instant: bigint) => bigint | null): Address {
  const { memory } = scope.context;
  const [values, results, bits] = [memory.i64(from, rows), memory.i64(out, rows), memory.u32(further, Math.ceil(rows / 64) * 2)];
  const isNull = nullTest(scope, nulls, rows);
  bits.fill(0);
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_PER_CHECK === 0) scope.context.check();
    const result = isNull(row) ? null : each(values[row] ?? 0n);
    results[row] = result ?? 0n;
    if (result === null) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31));
  }
  return further;
}

function rangeOf({ min, max }: NumberColumnView): Range | undefined {
  return typeof min === 'bigint' && typeof max === 'bigint' ? { low: min, high: max } : undefined;
}

/** The values of a LONG vector as i64. */
export function longsOf(scope: Scratch, { physical, base, values }: NumberVector): (block: Block) => Address {
  if (physical === 'I64' && base === 0n) return values;
  if (physical === 'F32' || physical === 'F64') throw new TypeError('a LONG is stored as an integer');
  const widen = kernelFor(scope.context.kernels, 'toI64', physical);
  const at = scope.arena.take(BLOCK_ROWS * 8);
  const run = oncePerBlock((block) => widen(values(block), 0, block.rows, base, at));
  return (block) => {
    run(block);
    return at;
  };
}

export function plus(scope: Scratch, amount: bigint): readonly Step[] {
  return amount === 0n ? [] : [scalarStep(scope, amount, 'addI64')];
}

export function times(scope: Scratch, factor: bigint): readonly Step[] {
  return factor === 1n ? [] : [scalarStep(scope, factor, 'multiplyI64')];
}

/** Division that cuts towards zero. */
export function over(scope: Scratch, divisor: bigint): readonly Step[] {
  return [scalarStep(scope, divisor, 'divideI64')];
}

function scalarStep({ arena, context: { memory, kernels } }: Scratch, value: bigint, name: 'addI64' | 'multiplyI64' | 'divideI64'): Step {
  const at = arena.take(8);
  memory.i64(at, 1)[0] = value;
  return (from, rows, out) => kernels[name](from, at, 1, rows, out);
}

/** Distance, in milliseconds, at which the values that a step is given may lie from the instants that steps begin with. */
type Margin = number;

/** From instants to the wall clock of a zone. */
export function toLocal(scope: Scratch, zone: Zone, margin: Margin = 1): readonly Step[] {
  if (zone.fixedOffsetMs !== null) return plus(scope, BigInt(zone.fixedOffsetMs));
  const find = offsetFinder(scope, zone, 'toLocal', margin);
  return [
    (from, rows, out, instants) => {
      const { starts, offsets, count } = find(instants);
      scope.context.kernels.addStepsI64(from, rows, starts, count, offsets, out);
    },
  ];
}

/** From the wall clock of a zone with a fixed offset to instants. */
export function fromFixed(scope: Scratch, offsetMs: number): readonly Step[] {
  return plus(scope, BigInt(-offsetMs));
}

/**
 * Instants that are moved on the wall clock of a zone, as `addPeriod` has it: of two instants with one wall-clock time the one with the
 * offset from before the move counts, or the earlier.
 */
export function onWallClock(scope: Scratch, zone: Zone, move: Step, margin: Margin): Step {
  const { arena, context } = scope;
  const { kernels } = context;
  const local = offsetFinder(scope, zone, 'toLocal', margin);
  const instant = offsetFinder(scope, zone, 'fromLocal', margin);
  const [moved, preferred, other, isRight] = [
    arena.take(BLOCK_ROWS * 8),
    arena.take(BLOCK_ROWS * 8),
    arena.take(BLOCK_ROWS * 8),
    takeBits(arena),
  ];
  return (from, rows, out, instants) => {
    const [toLocal, toInstant] = [local(instants), instant(instants)];
    kernels.addStepsI64(from, rows, toLocal.starts, toLocal.count, toLocal.offsets, moved);
    kernels.subtractI64(moved, from, 0, rows, preferred);
    move(moved, rows, moved, instants);
    kernels.subtractI64(moved, preferred, 0, rows, preferred);
    kernels.addStepsI64(preferred, rows, toLocal.starts, toLocal.count, toLocal.offsets, other);
    kernels.compareI64(other, moved, 0, rows, 0, isRight);
    kernels.addStepsI64(moved, rows, toInstant.starts, toInstant.count, toInstant.offsets, other);
    kernels.choose64(isRight, preferred, 0, other, 0, rows, out);
  };
}

/** Floors to hours, minutes or seconds of a wall clock; a change of its offset begins another stretch. */
export function wallClockFloor(scope: Scratch, unitMs: number, zone: Zone): Step {
  const find = offsetFinder(scope, zone, 'toLocal', unitMs);
  const width = BigInt(unitMs);
  return (from, rows, out, instants) => {
    const { starts, offsets, count } = find(instants);
    scope.context.kernels.floorStepsI64(from, rows, width, starts, count, offsets, out);
  };
}

interface Uploaded {
  readonly starts: Address;
  readonly offsets: Address;
  readonly count: number;
}

/** Gives the offsets of a zone for a block's instants; uploads them when a block lies beyond those before. */
function offsetFinder(
  { arena, context: { memory } }: Scratch,
  zone: Zone,
  direction: keyof ZoneOffsets,
  margin: Margin,
): (instants: Instants) => Uploaded {
  let [first, last] = [Infinity, -Infinity];
  let uploaded: Uploaded = { starts: 0, offsets: 0, count: 0 };
  let room = 0;
  return ({ low, high }) => {
    const [from, to] = [Number(low), Number(high)];
    if (from >= first && to <= last) return uploaded;
    first = Math.min(first, from);
    last = Math.max(last, to);
    const { starts, offsets } = offsetsWithin(zone, first - margin, last + margin)[direction];
    const count = starts.length;
    uploaded = count > room ? { starts: arena.take(count * 8), offsets: arena.take(count * 8), count } : { ...uploaded, count };
    room = Math.max(room, count);
    memory.i64(uploaded.starts, count).set(starts);
    memory.i64(uploaded.offsets, count).set(offsets);
    return uploaded;
  };
}
