// Calls of functions of lists, with constants for all else.

import { compileExpression } from '../../../expression/evaluate.js';
import { constantOf, expressionType } from '../../../expression/expression-type.js';
import { isArrayValue, type Value } from '../../../expression/value.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { type ColumnType, elementType, isArrayType } from '../../../model/schema.js';
import { listsOf } from '../number/list.js';
import type { NumberNode, TruthNode } from '../number/node.js';
import { rowsNode } from '../text/text-entries.js';
import type { TextWork } from '../text/text-node.js';
import type { TextNode } from '../vector.js';
import { arrays, hasEach, joined, lengths, numberAt, placeOf, stringAt } from './list-functions.js';
import { arraysOfTexts, type ListElement, type ListNode, listsOfRows } from './list-node.js';

type Call = Extract<Expression, { kind: 'call' }>;
/** An expression as lists; undefined where it is none that kernels know. */
export type ListsOf = (expression: Expression) => ListNode | undefined;

/** Elements of an array of numbers or strings; undefined of any other type. */
export function elementOf({ type }: { readonly type: ColumnType }): ListElement | undefined {
  const element = isArrayType(type) ? elementType(type) : undefined;
  return element === 'STRING' || element === 'LONG' || element === 'DOUBLE' ? element : undefined;
}

/** Lists of a segment's rows: an array that is stored or computed as texts, or a multi-value column and what keeps some of its values. */
export function listsOfSegment(work: TextWork, expression: Expression): ListNode | undefined {
  const { scope } = work;
  if (expression.kind === 'column') {
    const source = scope.source(expression.name);
    if (source.kind === 'string' && source.column.offsets === 0) {
      const element = elementOf(source.column);
      return element === undefined ? undefined : arraysOfTexts(work, rowsNode(work, source.column), element);
    }
    if (source.kind === 'computed' && source.vector.kind === 'string') {
      const { node, type } = source.vector;
      const element = elementOf({ type });
      return node === undefined || element === undefined ? undefined : arraysOfTexts(work, node, element);
    }
  }
  const lists = listsOf(scope, expression);
  return lists === undefined || lists.isHarmonized ? undefined : listsOfRows(work, lists.column);
}

/** A number that is made of a list. */
export function numberOfList(
  work: TextWork,
  { function: name, arguments: [first, second, third] }: Call,
  lists: ListsOf,
): NumberNode | undefined {
  if (first === undefined || third !== undefined) return undefined;
  const wanted = constantOf(second)?.value;
  switch (name) {
    case 'array_length':
      return second === undefined ? made(lists(first), (list) => lengths(work, list)) : undefined;
    case 'array_offset':
      return placed(wanted, 0n, (place) => made(lists(first), (list) => numberAt(work, list, place)));
    case 'array_ordinal':
      return placed(wanted, 1n, (place) => made(lists(first), (list) => numberAt(work, list, place)));
    case 'array_offset_of':
      return wanted == null ? undefined : made(lists(first), (list) => placeOf(work, list, wanted, 0n));
    case 'array_ordinal_of':
      return wanted == null ? undefined : made(lists(first), (list) => placeOf(work, list, wanted, 1n));
    default:
      return undefined;
  }
}

/** A condition on what is in a list. */
export function truthOfList(
  work: TextWork,
  { function: name, arguments: [first, second, third] }: Call,
  lists: ListsOf,
): TruthNode | undefined {
  if (first === undefined || second === undefined || third !== undefined) return undefined;
  switch (name) {
    case 'array_contains':
    case 'mv_contains':
      return has(
        work,
        first,
        lists,
        setsOf(second, (value) => (isArrayValue(value) ? value.map((each) => [each]) : [[value]])),
      );
    case 'array_overlap':
    case 'mv_overlap':
      return has(
        work,
        first,
        lists,
        setsOf(second, (value) => (isArrayValue(value) ? [value] : undefined)),
      );
    default:
      return undefined;
  }
}

/** A string that is made of a list. */
export function textOfList(
  work: TextWork,
  { function: name, arguments: [first, second, third] }: Call,
  lists: ListsOf,
): TextNode | undefined {
  if (first === undefined || third !== undefined) return undefined;
  const constant = constantOf(second)?.value;
  switch (name) {
    case 'array_to_string':
      return typeof constant === 'string' && Buffer.from(constant).toString() === constant
        ? made(lists(first), (list) => joined(work, list, constant))
        : undefined;
    case 'array_offset':
      return placed(constant, 0n, (place) => made(lists(first), (list) => stringAt(work, list, place)));
    case 'array_ordinal':
      return placed(constant, 1n, (place) => made(lists(first), (list) => stringAt(work, list, place)));
    default:
      return undefined;
  }
}

/** Lists of elements of a type as arrays; undefined where that is what is stored. */
export function arrayOfList(work: TextWork, expression: Expression, element: ListElement, lists: ListsOf): TextNode | undefined {
  const list = expression.kind === 'call' ? lists(expression) : undefined;
  return list?.element === element ? arrays(work, list) : undefined;
}

function made<Node>(list: ListNode | undefined, make: (list: ListNode) => Node | undefined): Node | undefined {
  return list === undefined ? undefined : make(list);
}

/** A place in lists, which is none where it lies before the first. */
function placed<Node>(value: Value | undefined, first: bigint, make: (place: number) => Node | undefined): Node | undefined {
  return typeof value === 'bigint' && value >= first && value - first < 1n << 31n ? make(Number(value - first)) : undefined;
}

/** Each is looked for in all values of a piece. */
const VALUES_MAX = 32;

function has(work: TextWork, first: Expression, lists: ListsOf, sets: readonly (readonly Value[])[] | undefined): TruthNode | undefined {
  if (sets === undefined || sets.flat().length > VALUES_MAX) return undefined;
  return made(lists(first), (list) => hasEach(work, list, sets));
}

/** The sets that a constant stands for; undefined where it is none, or a list that is null. */
function setsOf(
  wanted: Expression,
  sets: (value: Value) => readonly (readonly Value[])[] | undefined,
): readonly (readonly Value[])[] | undefined {
  if (wanted.kind === 'lambda' || columnsReadBy(wanted).size > 0) return undefined;
  const value = compileExpression(
    wanted,
    () => undefined,
    () => undefined,
  )(() => null);
  const type = expressionType(wanted, () => undefined);
  return value === null && type !== null && isArrayType(type) ? undefined : sets(value);
}
