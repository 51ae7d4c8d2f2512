// Predicates over numbers that are made of dictionary entries: the entries are compared, and rows are looked up by id.

import { wordsOf } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { eachEntryBlock } from '../expression/text/text-entries.js';
import type { EntryNumbers, NumberVector } from '../expression/vector.js';
import { ALL, NONE, type Predicate } from './predicate.js';
import { stringPredicate, takeIdBits } from './string-predicate.js';

/** Rows whose entry has a number that `compare` lets pass. */
export function entryPredicate(
  scope: SegmentScope,
  { column, numbers }: EntryNumbers,
  compare: (numbers: NumberVector) => Predicate,
): Predicate {
  const { kernels, memory } = scope.context;
  const { count, hasNull } = column.dictionary;
  const set = takeIdBits(scope, count);
  const predicate = compare(numbers);
  eachEntryBlock(scope, column, (block) => {
    const match = predicate.constant ?? predicate.test(block);
    const at = set + block.start / 8;
    if (match === ALL) kernels.bitsFill(at, wordsOf(block), 0, block.rows);
    else if (match !== NONE) kernels.bitsOr(match, match, wordsOf(block), at);
  });
  const [first = 0] = memory.u8(set, 1);
  return stringPredicate(scope, column, { kind: 'bits', at: set }, hasNull && (first & 1) === 1);
}
