// Columns of the first, second, … values of multi-value columns.

import { BLOCK_ROWS } from '../../base/layout.js';
import { constantOf } from '../../expression/expression-type.js';
import { type Expression, replacedCalls } from '../../model/expression.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { kernelFor } from '../block/context.js';
import { type Lists, listsOf } from './number/list.js';
import type { SegmentScope } from './scope.js';
import { PADDING_BYTES } from './uploaded-column.js';

/** Places are at least so large for the first value. */
const BASES: ReadonlyMap<string, bigint> = new Map([
  ['array_offset', 0n],
  ['array_ordinal', 1n],
]);
const PLACE_MAX = 0x7fffffffn;

/** The expression with columns in place of values at constant places of multi-value rows: strings with a dictionary, like any other column. */
export function readingElements(scope: SegmentScope, expression: Expression): Expression {
  return replacedCalls(expression, (call, parameters) => elementOf(scope, call, parameters));
}

function elementOf(
  scope: SegmentScope,
  { function: name, arguments: [list, index] }: Extract<Expression, { kind: 'call' }>,
  parameters: readonly string[],
): Expression | undefined {
  const base = BASES.get(name);
  const ordinal = index === undefined ? undefined : constantOf(index)?.value;
  if (base === undefined || list === undefined || typeof ordinal !== 'bigint' || ordinal < base || ordinal > PLACE_MAX) return undefined;
  const column = columnOf(list);
  if (column === undefined || parameters.includes(column)) return undefined;
  const lists = listsOf(scope, list);
  if (lists === undefined) return undefined;
  const place = Number(ordinal - base);
  // Null, the value of a row that has none at this place, is not told from a value of a list of one null.
  return scope.made(`value ${place} of ${column}`, lists.column, () => ({ kind: 'string', column: elementColumn(scope, lists, place) }));
}

/** The column whose rows are the lists; undefined of lists that are made of them. */
function columnOf(list: Expression): string | undefined {
  if (list.kind === 'column') return list.name;
  if (list.kind !== 'call' || (list.function !== 'mv_to_array' && list.function !== ':values')) return undefined;
  const [inner] = list.arguments;
  return inner === undefined ? undefined : columnOf(inner);
}

function elementColumn(scope: SegmentScope, { column }: Lists, place: number): StringColumnView {
  const { arena, context, view } = scope;
  const ids = arena.take(view.rowCount * 4 + PADDING_BYTES);
  const listElement = kernelFor(context.kernels, 'listElement', column.physical);
  for (let start = 0; start < view.rowCount; start += BLOCK_ROWS) {
    context.check();
    const rows = Math.min(BLOCK_ROWS, view.rowCount - start);
    listElement(column.ids, column.offsets + start * 4, rows, place, 1, ids + start * 4);
  }
  const dictionary = behindNull(scope, column.dictionary);
  return { kind: 'string', type: column.type, physical: 'U32', ids, offsets: 0, dictionary, isPart: true };
}

/** The dictionary with null before its entries. */
function behindNull({ arena, context: { memory } }: SegmentScope, { count, offsets, bytes }: DictionaryView): DictionaryView {
  const shifted = arena.take((count + 2) * 4 + PADDING_BYTES);
  const words = memory.u32(shifted, count + 2);
  words[0] = 0;
  words.set(memory.u32(offsets, count + 1), 1);
  return { count: count + 1, hasNull: true, offsets: shifted, bytes };
}
