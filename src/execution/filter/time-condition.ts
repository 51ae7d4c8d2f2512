// Conditions on functions of `__time`, as runs of rows.

import { BLOCK_ROWS } from '../../base/layout.js';
import { expressionType } from '../../expression/expression-type.js';
import { toTruth } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { ROWS_OF_BUCKET, timeFunction } from '../expression/time/function.js';
import { RUN_BYTES } from '../expression/time/runs.js';
import { ALL, constantPredicate, type Match, NONE, type Predicate } from './predicate.js';

/** Less than conditions over the numbers of rows. */
const TIME_COST = 5;

/**
 * A condition on `__time` alone that is constant within buckets of time (an hour of the day, a day of the week): decided once for each bucket,
 * and for all rows of it.
 * @returns undefined for other conditions, and where few rows are in a bucket
 */
export function timeCondition(scope: SegmentScope, expression: Expression, matchUnknown: boolean): Predicate | undefined {
  if (expressionType(expression, (name) => (name === TIME_COLUMN ? 'LONG' : undefined)) !== 'LONG') return undefined;
  const found = timeFunction(scope, expression, 'LONG', Math.floor(scope.view.rowCount / ROWS_OF_BUCKET));
  if (found === undefined) return undefined;
  const isMet = found.values.map((value) => toTruth(value) ?? matchUnknown);
  if (!isMet.includes(true)) return constantPredicate(false);
  if (!isMet.includes(false)) return constantPredicate(true);
  const { memory } = scope.context;
  const [runs, bits] = [scope.arena.take(BLOCK_ROWS * RUN_BYTES), takeBits(scope.arena)];
  const test = (block: Block): Match => {
    const count = found.runs(block, 0, block.rows, runs);
    const words = memory.u32(runs, (count * RUN_BYTES) / 4);
    let met = 0;
    const out = memory.u32(bits, wordsOf(block) * 2).fill(0);
    for (let at = 0; at < words.length; at += 3) {
      if (isMet[words[at] ?? 0] !== true) continue;
      const [start, end] = [words[at + 1] ?? 0, words[at + 2] ?? 0];
      met += end - start;
      setBits(out, start, end);
    }
    return met === 0 ? NONE : met === block.rows ? ALL : bits;
  };
  return { constant: undefined, cost: TIME_COST, test };
}

/** Sets bits [start, end), at least one. */
function setBits(words: Uint32Array, start: number, end: number): void {
  const [first, last] = [start >>> 5, (end - 1) >>> 5];
  const [low, high] = [0xffffffff << (start & 31), 0xffffffff >>> (31 - ((end - 1) & 31))];
  if (first === last) {
    words[first] = (words[first] ?? 0) | (low & high);
    return;
  }
  words[first] = (words[first] ?? 0) | low;
  words.fill(0xffffffff, first + 1, last);
  words[last] = (words[last] ?? 0) | high;
}
