// Computes functions of `__time` once per bucket in which they are constant, as runs of rows.

import { append } from '../../../base/lists.js';
import { compileExpression } from '../../../expression/evaluate.js';
import { convert, type Scalar, textOfValue, type Value } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import type { SegmentScope } from '../scope.js';
import type { Vector } from '../vector.js';
import { cutsWithin } from './bucket-table.js';
import { grainsOf } from './grains.js';
import { bucketRuns, RUN_BYTES, type Runs } from './runs.js';

const BUCKETS_MAX = 200_000;
const BUCKETS_PER_CHECK = 1024;
/** Buckets whose values are computed however few rows there are. */
const BUCKETS_FEW = 256;

/**
 * A function of `__time` alone that is constant within buckets of some granularity (`timestamp_floor`, the hour of the
 * day, a formatted day): its value is computed once per bucket of the segment, and rows become runs.
 * @returns undefined when the expression is of another kind, or changes too often to be worth it
 */
export function timeFunction(
  scope: SegmentScope,
  expression: Expression,
  vector: Vector,
): { runs: Runs; values: readonly Scalar[] } | undefined {
  const source = scope.source(TIME_COLUMN);
  const grains = grainsOf(expression);
  if (grains === undefined || source.kind !== 'number' || source.column.nulls !== 0) return undefined;
  const { view } = scope;
  const most = Math.min(BUCKETS_MAX, Math.max(BUCKETS_FEW, view.rowCount));
  const cuts: number[] = [];
  for (const grain of grains) {
    const boundaries = cutsWithin(grain, view.timeMin, view.timeMax, most);
    if (boundaries === undefined) return undefined;
    append(cuts, boundaries);
  }
  const boundaries = BigInt64Array.from(grains.length === 1 ? cuts : new Set(cuts), BigInt).sort();
  const compute = compileExpression(expression, (name) => (name === TIME_COLUMN ? 'LONG' : undefined), scope.context.check);
  const values: Scalar[] = [];
  const idsByValue = new Map<Scalar, number>();
  const bucketIds: number[] = [];
  const { runs: cut, first, card } = bucketRuns(scope, source.column, boundaries);
  for (let bucket = 0; bucket < card; bucket++) {
    const time = boundaries[first + bucket] ?? 0n;
    if (bucket % BUCKETS_PER_CHECK === 0) scope.context.check();
    const value = inType(
      compute((name) => (name === TIME_COLUMN ? time : null)),
      vector,
    );
    let id = idsByValue.get(value);
    if (id === undefined) {
      id = values.length;
      values.push(value);
      idsByValue.set(value, id);
    }
    bucketIds.push(id);
  }
  const runs: Runs = (block, start, end, out) => {
    const count = cut(block, start, end, out);
    const words = scope.context.memory.u32(out, (count * RUN_BYTES) / 4);
    for (let at = 0; at < words.length; at += 3) words[at] = bucketIds[words[at] ?? 0] ?? 0;
    return count;
  };
  return { runs, values };
}

function inType(value: Value, vector: Vector): Scalar {
  return vector.kind === 'string' ? textOfValue(value, vector.type) : convert(value, vector.type);
}
