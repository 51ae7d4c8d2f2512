// Computes functions of `__time` once per bucket in which they are constant, as runs of rows.

import { BoundedCache } from '../../../base/bounded-cache.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { append } from '../../../base/lists.js';
import { compileExpression } from '../../../expression/evaluate.js';
import { convert, type Scalar, textOfValue, type Value } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { type ColumnType, isTextType, TIME_COLUMN } from '../../../model/schema.js';
import type { Block } from '../../block/context.js';
import { resultsKey } from '../remembered-results.js';
import type { SegmentScope } from '../scope.js';
import { type NumberVector, oncePerBlock } from '../vector.js';
import { cutsWithin } from './bucket-table.js';
import { type Grain, grainsOf } from './grains.js';
import { bucketRuns, bucketsMet, RUN_BYTES, type Runs } from './runs.js';

const BUCKETS_MAX = 200_000;
const BUCKETS_PER_CHECK = 1024;
/** Buckets whose values are computed however few rows there are. */
const BUCKETS_FEW = 256;

/** A function of `__time` over a span of time: the boundaries of the buckets that the span meets, and its value in each. */
interface Computed {
  readonly boundaries: BigInt64Array;
  /** Position among the values, by bucket. */
  readonly bucketIds: Uint32Array;
  readonly values: readonly Scalar[];
}

const COMPUTED_BYTES_MAX = 16 * 1024 * 1024;

/** Outlive queries: the same functions of time are asked of the same segments again and again. */
const COMPUTED = new BoundedCache<string, Computed>(COMPUTED_BYTES_MAX);

const VALUE_BYTES = 32;
/** Approximate bytes of the key and the objects of an entry. */
const ENTRY_BYTES = 500;

/**
 * A function of `__time` alone that is constant within buckets of some granularity (`timestamp_floor`, the hour of the
 * day, a formatted day): its value is computed once per bucket of the segment, and rows become runs.
 * @param bucketsMax  buckets above which it changes too often to be worth it
 * @returns undefined then, and when the expression is of another kind
 */
export function timeFunction(
  scope: SegmentScope,
  expression: Expression,
  type: ColumnType,
  bucketsMax = Math.max(BUCKETS_FEW, scope.view.rowCount),
): { runs: Runs; values: readonly Scalar[] } | undefined {
  const source = scope.source(TIME_COLUMN);
  const grains = grainsOf(expression);
  if (grains === undefined || source.kind !== 'number' || source.column.nulls !== 0) return undefined;
  const { timeMin, timeMax } = scope.view;
  const most = Math.min(BUCKETS_MAX, bucketsMax);
  const key = `${timeMin} ${timeMax} ${most} ${resultsKey(type, expression)}`;
  const known = COMPUTED.find(key);
  const computed = known ?? computeBuckets(scope, expression, type, { grains, most });
  if (computed === undefined) return undefined;
  const { boundaries, bucketIds, values } = computed;
  if (known === undefined) COMPUTED.keep(key, computed, bytesOf(computed));
  const { runs: cut } = bucketRuns(scope, source.column, boundaries);
  const runs: Runs = (block, start, end, out) => {
    const count = cut(block, start, end, out);
    const words = scope.context.memory.u32(out, (count * RUN_BYTES) / 4);
    for (let at = 0; at < words.length; at += 3) words[at] = bucketIds[words[at] ?? 0] ?? 0;
    return count;
  };
  return { runs, values };
}

/** Rows that computing by kernels takes as long for as a bucket by itself. */
export const ROWS_OF_BUCKET = 64;

/**
 * The same of LONGs as a column: the distance of each row's value from the smallest one.
 * @returns undefined too where there are few rows to a bucket, or the values lie far apart
 */
export function timeNumbers(scope: SegmentScope, expression: Expression): NumberVector | undefined {
  const { arena, context, view } = scope;
  const { memory, kernels } = context;
  const found = timeFunction(scope, expression, 'LONG', Math.floor(view.rowCount / ROWS_OF_BUCKET));
  if (found === undefined) return undefined;
  const values = found.values.flatMap((value) => (typeof value === 'bigint' ? [value] : []));
  const [first] = values;
  if (first === undefined || values.length < found.values.length) return undefined;
  const base = values.reduce((least, value) => (value < least ? value : least), first);
  if (values.some((value) => value - base >= 1n << 32n)) return undefined;
  const distances = Uint32Array.from(values, (value) => Number(value - base));
  const [runs, at] = [arena.take(BLOCK_ROWS * RUN_BYTES), arena.take(BLOCK_ROWS * 4)];
  const run = oncePerBlock((block) => {
    const count = found.runs(block, 0, block.rows, runs);
    const words = memory.u32(runs, (count * RUN_BYTES) / 4);
    for (let word = 0; word < words.length; word += 3) words[word] = distances[words[word] ?? 0] ?? 0;
    kernels.keyRuns(runs, count, 0, block.rows, 1, 0, at);
  });
  const atBlock = (block: Block): Address => {
    run(block);
    return at;
  };
  return { kind: 'number', type: 'LONG', physical: 'U32', base, mayBeNull: false, stored: undefined, values: atBlock, nulls: () => 0 };
}

function computeBuckets(
  scope: SegmentScope,
  expression: Expression,
  type: ColumnType,
  { grains, most }: { readonly grains: readonly Grain[]; readonly most: number },
): Computed | undefined {
  const { timeMin, timeMax } = scope.view;
  const cuts: number[] = [];
  for (const grain of grains) {
    const boundaries = cutsWithin(grain, timeMin, timeMax, most);
    if (boundaries === undefined) return undefined;
    append(cuts, boundaries);
  }
  const all = BigInt64Array.from(grains.length === 1 ? cuts : new Set(cuts), BigInt).sort();
  const { first, end } = bucketsMet(scope.view, all);
  const boundaries = all.slice(first, end + 1);
  const compute = compileExpression(expression, (name) => (name === TIME_COLUMN ? 'LONG' : undefined), scope.context.check);
  const values: Scalar[] = [];
  const idsByValue = new Map<Scalar, number>();
  const bucketIds = new Uint32Array(end - first);
  bucketIds.forEach((_, bucket) => {
    const time = boundaries[bucket] ?? 0n;
    if (bucket % BUCKETS_PER_CHECK === 0) scope.context.check();
    const value = inType(
      compute((name) => (name === TIME_COLUMN ? time : null)),
      type,
    );
    let id = idsByValue.get(value);
    if (id === undefined) {
      id = values.length;
      values.push(value);
      idsByValue.set(value, id);
    }
    bucketIds[bucket] = id;
  });
  return { boundaries, bucketIds, values };
}

/** Approximate bytes on the heap; two for each code unit of a string. */
function bytesOf({ boundaries, bucketIds, values }: Computed): number {
  const ofValues = values.reduce((sum: number, value) => sum + VALUE_BYTES + (typeof value === 'string' ? value.length * 2 : 0), 0);
  return ENTRY_BYTES + boundaries.byteLength + bucketIds.byteLength + ofValues;
}

function inType(value: Value, type: ColumnType): Scalar {
  return isTextType(type) ? textOfValue(value, type) : convert(value, type);
}
