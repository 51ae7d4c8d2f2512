// Calls that make lists of lists and of single values.

import { compileExpression } from '../../../expression/evaluate.js';
import { constantOf, inferType, type TypeOf } from '../../../expression/expression-type.js';
import { isArrayValue, type Value } from '../../../expression/value.js';
import { columnsReadBy } from '../../../model/columns-read.js';
import type { Expression } from '../../../model/expression.js';
import { layTexts } from '../../block/text-references.js';
import type { Lane, NumberNode } from '../number/node.js';
import type { TextWork } from '../text/text-node.js';
import type { TextNode } from '../vector.js';
import { elementOf, type ListsOf } from './list-calls.js';
import type { ListElement, ListNode } from './list-node.js';
import { concatenated, constantSingle, type Single, sliced } from './made-lists.js';

type Call = Extract<Expression, { kind: 'call' }>;

/** Operands of calls that make lists. */
export interface ListParts {
  readonly work: TextWork;
  readonly typeOf: TypeOf;
  readonly lists: ListsOf;
  /** A text for each row. */
  text(expression: Expression): TextNode | undefined;
  /** A number for each row. */
  numbers(expression: Expression, lane: Lane): NumberNode | undefined;
}

/** Values that a slice may ask for: where lists are shorter, all of these are made. */
const SLICE_MAX = 32n;
/** Values of a constant list, and lists of single ones. */
const SINGLES_MAX = 16;

/** A list that is made of others; undefined for any other expression, and where an element is of another type than the rest. */
export function madeList(parts: ListParts, expression: Expression): ListNode | undefined {
  if (expression.kind !== 'call') return undefined;
  const [first, second, third] = expression.arguments;
  switch (expression.function) {
    case 'array_slice':
      return first === undefined ? undefined : slice(parts, first, position(second), third === undefined ? undefined : position(third));
    case 'array_append':
      return joined(parts, expression, first, (list, element) => [list, ...singlesOf(parts, [second], element)]);
    case 'array_prepend':
      return joined(parts, expression, second, (list, element) => [...singlesOf(parts, [first], element), list]);
    case 'array_concat':
      return both(parts, expression);
    case 'array':
      return ofSingles(parts, expression);
    default:
      return undefined;
  }
}

/** A constant place, the first one for null; -1 for anything else. */
function position(expression: Expression | undefined): bigint {
  const value = constantOf(expression)?.value;
  return value === null ? 0n : typeof value === 'bigint' ? value : -1n;
}

function slice({ work, lists }: ListParts, first: Expression, from: bigint, to: bigint | undefined): ListNode | undefined {
  const size = to === undefined ? undefined : to - from;
  if (from < 0n || from >= 1n << 31n || (size !== undefined && (size < 0n || size > SLICE_MAX || from + size >= 1n << 31n)))
    return undefined;
  const list = lists(first);
  return list === undefined ? undefined : sliced(work, list, Number(from), size === undefined ? undefined : Number(size));
}

type Part = ListNode | Single | undefined;

function joined(
  { work, lists }: ListParts,
  { function: name }: Call,
  operand: Expression | undefined,
  make: (list: ListNode, element: ListElement) => readonly Part[],
): ListNode | undefined {
  const list = operand === undefined ? undefined : lists(operand);
  const parts = list === undefined ? [undefined] : make(list, list.element);
  return list === undefined || !areThere(parts) ? undefined : concatenated(work, list.element, parts, name);
}

function areThere(parts: readonly Part[]): parts is readonly (ListNode | Single)[] {
  return parts.every((part) => part !== undefined);
}

function both(parts: ListParts, { function: name, arguments: operands }: Call): ListNode | undefined {
  const found = operands.map((operand) => constantValues(operand) ?? parts.lists(operand));
  const element = found.find((each): each is ListNode => each !== undefined && !isValues(each))?.element;
  if (element === undefined) return undefined;
  const made = found.flatMap((each): readonly Part[] => {
    if (each === undefined) return [undefined];
    if (isValues(each)) return each.map((value) => ofConstant(parts, value, element));
    return [each.element === element ? each : undefined];
  });
  return areThere(made) ? concatenated(parts.work, element, made, name) : undefined;
}

function isValues(list: ListNode | readonly Value[]): list is readonly Value[] {
  return Array.isArray(list);
}

/** The elements of a constant array of few. */
function constantValues(expression: Expression): readonly Value[] | undefined {
  if (columnsReadBy(expression).size > 0) return undefined;
  const value = constant(expression);
  return value != null && isArrayValue(value) && value.length <= SINGLES_MAX ? value : undefined;
}

function constant(expression: Expression): Value {
  return compileExpression(
    expression,
    () => undefined,
    () => undefined,
  )(() => null);
}

function ofSingles(parts: ListParts, expression: Call): ListNode | undefined {
  const type = inferType(expression, parts.typeOf);
  const element = type === null ? undefined : elementOf({ type });
  const { length } = expression.arguments;
  if (element === undefined || length === 0 || length > SINGLES_MAX || columnsReadBy(expression).size === 0) return undefined;
  const made = singlesOf(parts, expression.arguments, element);
  return areThere(made) ? concatenated(parts.work, element, made, undefined) : undefined;
}

function singlesOf(
  parts: ListParts,
  expressions: readonly (Expression | undefined)[],
  element: ListElement,
): readonly (Single | undefined)[] {
  return expressions.map((expression) => (expression === undefined ? undefined : single(parts, expression, element)));
}

/** One value for each row; undefined where it is not of the type of the elements. */
function single(parts: ListParts, expression: Expression, element: ListElement): Single | undefined {
  if (expression.kind === 'lambda') return undefined;
  if (columnsReadBy(expression).size === 0) return ofConstant(parts, constant(expression), element);
  const type = inferType(expression, parts.typeOf);
  if (element === 'STRING') {
    const node = type === 'STRING' ? parts.text(expression) : undefined;
    return node === undefined ? undefined : { kind: 'single', run: (block) => ({ at: node.texts(block), nulls: 0 }) };
  }
  const isSame = type === element || (element === 'DOUBLE' && type === 'FLOAT');
  const node = isSame ? parts.numbers(expression, element === 'LONG' ? 'I64' : 'F64') : undefined;
  return node === undefined ? undefined : { kind: 'single', run: (block) => node.run(block) };
}

function ofConstant({ work }: ListParts, value: Value, element: ListElement): Single | undefined {
  const { arena, context } = work.scope;
  if (value === null) return constantSingle(work, undefined);
  if (element === 'LONG') return typeof value === 'bigint' ? constantSingle(work, value) : undefined;
  if (element === 'DOUBLE') return typeof value === 'number' ? constantSingle(work, bitsOf(value)) : undefined;
  if (typeof value !== 'string' || Buffer.from(value).toString() !== value) return undefined;
  const [reference] = context.memory.i64(layTexts(context.memory, arena, [value]), 1);
  return constantSingle(work, reference);
}

function bitsOf(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigInt64(0);
}
