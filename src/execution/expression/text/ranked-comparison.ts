// Compares two stored string columns by the places of their values in both dictionaries together.

import type { Expression } from '../../../model/expression.js';
import { allTexts } from '../../../storage/columns/read-dictionary.js';
import type { DictionaryView, StringColumnView } from '../../../storage/view.js';
import { takeZeroed } from '../../block/context.js';
import { entryBitBytes, numbersById } from '../dictionary-function.js';
import { vectorNode } from '../number/leaf.js';
import type { Node, Rooms, TruthNode } from '../number/node.js';
import { type Comparison, compared } from '../number/truth.js';
import type { SegmentScope } from '../scope.js';

/** Entries of either dictionary: both are decoded, and their places kept while the dictionaries are known. */
const ENTRIES_MAX = 1 << 15;

const COMPARISONS: ReadonlySet<string> = new Set<Comparison>(['==', '!=', '<', '<=', '>', '>=']);

/** Two numbers a row are compared in place of two strings; undefined where an operand is anything but a stored column of few entries. */
export function rankedComparison(rooms: Rooms, expression: Expression): TruthNode | undefined {
  if (expression.kind !== 'call' || !COMPARISONS.has(expression.function) || expression.arguments.length !== 2) return undefined;
  const { scope } = rooms;
  const [left, right] = expression.arguments.map((operand) => storedColumn(scope, operand));
  if (left === undefined || right === undefined) return undefined;
  if (left.dictionary.count + right.dictionary.count > scope.view.rowCount) return undefined;
  const ranks = ranksOf(scope, left.dictionary, right.dictionary);
  return compared(rooms, expression.function as Comparison, byRank(rooms, left, ranks.left), byRank(rooms, right, ranks.right));
}

function storedColumn(scope: SegmentScope, operand: Expression): StringColumnView | undefined {
  const source = operand.kind === 'column' ? scope.source(operand.name) : undefined;
  if (source?.kind !== 'string') return undefined;
  const { column } = source;
  return column.offsets === 0 && column.type === 'STRING' && column.dictionary.count <= ENTRIES_MAX ? column : undefined;
}

function byRank(rooms: Rooms, column: StringColumnView, ranks: BigInt64Array): Node {
  const { scope } = rooms;
  const { arena, context } = scope;
  const { count, hasNull } = column.dictionary;
  const table = arena.take(Math.max(1, count) * 8);
  context.memory.i64(table, count).set(ranks);
  const nullIds = hasNull ? takeZeroed(arena, context, entryBitBytes(count)) : 0;
  if (hasNull) context.memory.u8(nullIds, 1)[0] = 1;
  return vectorNode(rooms, numbersById(scope, column, { table, nullIds }, 'LONG'));
}

interface Ranks {
  readonly left: BigInt64Array;
  readonly right: BigInt64Array;
}

/** Places of entries, by both dictionaries; these are the same objects for every stretch of a segment. */
const known = new WeakMap<DictionaryView, WeakMap<DictionaryView, Ranks>>();

function ranksOf({ context }: SegmentScope, left: DictionaryView, right: DictionaryView): Ranks {
  const byRight = known.get(left) ?? new WeakMap<DictionaryView, Ranks>();
  known.set(left, byRight);
  const found = byRight.get(right);
  if (found !== undefined) return found;
  const ranks = merged(allTexts(context.memory, left), allTexts(context.memory, right));
  byRight.set(right, ranks);
  return ranks;
}

/** Both ascend; equal texts have one place. Null, before all others, has a place that nobody reads. */
function merged(left: readonly (string | null)[], right: readonly (string | null)[]): Ranks {
  const ranks = { left: new BigInt64Array(left.length), right: new BigInt64Array(right.length) };
  let [a, b, place] = [0, 0, 0n];
  if (left[0] === null) a++;
  if (right[0] === null) b++;
  while (a < left.length || b < right.length) {
    const [one, other] = [left[a] ?? null, right[b] ?? null];
    const takesLeft = one !== null && (other === null || one <= other);
    const takesRight = other !== null && (one === null || other <= one);
    if (takesLeft) ranks.left[a++] = place;
    if (takesRight) ranks.right[b++] = place;
    place++;
  }
  return ranks;
}
