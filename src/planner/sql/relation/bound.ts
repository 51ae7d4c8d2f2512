// Bound, typed expressions.

import { ServiceError } from '../../../base/errors.js';
import { arrayText } from '../../../model/array-text.js';
import type { Expression } from '../../../model/expression.js';
import type { SqlType } from '../../../model/statement.js';
import { askOf, carried, changed, isRecorded, keyPart, leafKey, placed, placedOf } from '../../places/recording.js';
import { nativeType } from '../parse/sql-type.js';
import type { CompareOperator } from '../parse/syntax.js';

/** A NULL literal fits every type until something gives it one. */
export type BoundType = SqlType | 'NULL';

export type LiteralValue = string | bigint | number | null;

/**
 * An expression whose names are resolved and whose types are known. Conversions are explicit: the operands of a
 * comparison or function already have the type it works in. It carries no positions, so that two are the same exactly
 * when `boundKey` says so. Literal values: VARCHAR string; BIGINT, INTEGER, BOOLEAN, TIMESTAMP, DATE bigint; the rest number.
 */
export type Bound =
  | { readonly kind: 'literal'; readonly type: BoundType; readonly value: LiteralValue }
  | { readonly kind: 'column'; readonly type: BoundType; readonly name: string }
  /** A function of the native expression language. */
  | { readonly kind: 'call'; readonly type: BoundType; readonly function: string; readonly arguments: readonly Bound[] }
  /** A value of an outer query, `depth` levels up; gone once the query is joined with it. */
  | { readonly kind: 'outer'; readonly type: BoundType; readonly bound: Bound; readonly depth: number }
  /** The result of an aggregate of the query, by its number. */
  | { readonly kind: 'aggregate'; readonly type: BoundType; readonly index: number }
  /** The result of a window function of the query, by its number. */
  | { readonly kind: 'window'; readonly type: BoundType; readonly index: number }
  | Condition;

type Condition = { readonly type: 'BOOLEAN' } & (
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Bound[] }
  | { readonly kind: 'not'; readonly operand: Bound }
  /** `domain`: the type the comparison is made in. */
  | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly domain: SqlType; readonly left: Bound; readonly right: Bound }
  /** Values without null. */
  | { readonly kind: 'in'; readonly domain: SqlType; readonly operand: Bound; readonly values: readonly (string | bigint | number)[] }
  | { readonly kind: 'isNull'; readonly operand: Bound }
  | { readonly kind: 'like'; readonly operand: Bound; readonly pattern: string; readonly escape: string | null }
);

export type BoundLiteral = Extract<Bound, { kind: 'literal' }>;

export function literal(type: BoundType, value: LiteralValue): BoundLiteral {
  return { kind: 'literal', type, value };
}

export function isNullLiteral(bound: Bound): boolean {
  return bound.kind === 'literal' && askOf(bound, 'value', (value) => value === null);
}

/** A literal that is computed of data with literals; undefined where there is none. Nobody looks at its value. */
export function computedLiteral<Data>(data: Data, compute: (data: Data) => BoundLiteral | undefined): BoundLiteral | undefined {
  if (!isRecorded()) return compute(data);
  const holder = placed(data, compute, (made) => ({ made }));
  const type = askOf(holder, 'made', (made) => made?.type);
  if (type === undefined) return undefined;
  return placedOf(
    holder,
    'made',
    (made) => made?.value ?? null,
    (value) => literal(type, value),
  );
}

export const text = (value: string): BoundLiteral => literal('VARCHAR', value);
export const integer = (value: number | bigint): BoundLiteral => literal('BIGINT', BigInt(value));
export const NULL: BoundLiteral = literal('NULL', null);
export const TRUE: BoundLiteral = literal('BOOLEAN', 1n);
export const FALSE: BoundLiteral = literal('BOOLEAN', 0n);

export function outer(bound: Bound, depth: number): Bound {
  return { kind: 'outer', type: bound.type, bound, depth };
}

export function column(type: BoundType, name: string): Bound {
  return { kind: 'column', type, name };
}

export function isNull(operand: Bound): Bound {
  return { kind: 'isNull', type: 'BOOLEAN', operand };
}

export function conjuncts(condition: Bound | null): readonly Bound[] {
  return condition === null ? [] : condition.kind === 'and' ? condition.operands : [condition];
}

export function call(type: BoundType, name: string, ...args: readonly Bound[]): Bound {
  return { kind: 'call', type, function: name, arguments: args };
}

/** The same value under another type of the same native kind. */
export function retype(bound: Bound, type: SqlType): Bound {
  if (bound.type === type) return bound;
  if (
    bound.kind === 'literal' ||
    bound.kind === 'column' ||
    bound.kind === 'call' ||
    bound.kind === 'aggregate' ||
    bound.kind === 'window' ||
    bound.kind === 'outer'
  )
    return changed(bound, { type }) as Bound;
  // A condition is a long already: a cast states the new type without changing the value.
  return call(type, 'cast', bound, text('LONG'));
}

/** Type of a result column; a NULL without a type gets one. */
export function settledType(type: BoundType): SqlType {
  return type === 'NULL' ? 'VARCHAR' : type;
}

export function not(operand: Bound): Bound {
  return operand.kind === 'not' ? operand.operand : { kind: 'not', type: 'BOOLEAN', operand };
}

export function and(operands: readonly Bound[]): Bound {
  return junction('and', operands);
}

export function or(operands: readonly Bound[]): Bound {
  return junction('or', operands);
}

function junction(kind: 'and' | 'or', operands: readonly Bound[]): Bound {
  const flat: Bound[] = [];
  for (const operand of operands)
    if (operand.kind === kind) for (const each of operand.operands) flat.push(each);
    else flat.push(operand);
  const [first] = flat;
  return flat.length === 1 && first !== undefined ? first : { kind, type: 'BOOLEAN', operands: flat };
}

/** Equal for equal expressions, different for different ones. */
export function boundKey(bound: Bound): string {
  return isRecorded() ? keyOf(bound) : plainKey(bound);
}

/** The key where no places are compared: a letter for each kind, and texts behind their lengths. */
function plainKey(bound: Bound): string {
  switch (bound.kind) {
    case 'literal':
      return `l${bound.type.length} ${bound.type}${leafKey(bound.value)};`;
    case 'column':
      return `c${bound.type.length} ${bound.type}${bound.name.length} ${bound.name}`;
    case 'call':
      return `f${bound.type.length} ${bound.type}${bound.function.length} ${bound.function}${plainKeys(bound.arguments)}`;
    case 'outer':
      return `o${bound.type.length} ${bound.type}${bound.depth} ${plainKey(bound.bound)}`;
    case 'aggregate':
      return `a${bound.type.length} ${bound.type}${bound.index};`;
    case 'window':
      return `w${bound.type.length} ${bound.type}${bound.index};`;
    case 'and':
      return `&${plainKeys(bound.operands)}`;
    case 'or':
      return `|${plainKeys(bound.operands)}`;
    case 'not':
      return `!${plainKey(bound.operand)}`;
    case 'compare':
      return `${bound.operator} ${bound.domain.length} ${bound.domain}${plainKey(bound.left)}${plainKey(bound.right)}`;
    case 'in':
      return `i${bound.domain.length} ${bound.domain}${plainKey(bound.operand)}${leafKey(bound.values)}`;
    case 'isNull':
      return `n${plainKey(bound.operand)}`;
    case 'like':
      return `k${plainKey(bound.operand)}${leafKey(bound.pattern)}${leafKey(bound.escape)};`;
  }
}

function plainKeys(bounds: readonly Bound[]): string {
  let key = `${bounds.length} `;
  for (const bound of bounds) key += plainKey(bound);
  return key;
}

/** The key while planning is recorded, field by field. Like JSON, with numbers and integers told apart. */
function keyOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return leafKey(value);
  let key = '';
  if (Array.isArray(value)) {
    for (const item of value) key += `${keyOf(item)},`;
    return `[${key}]`;
  }
  for (const name of Object.keys(value)) key += keyPart(value, name, keyOfMember);
  return `{${key}}`;
}

function keyOfMember(name: string, member: unknown): string {
  return member === undefined ? '' : `${name}:${keyOf(member)},`;
}

export function children(bound: Bound): readonly Bound[] {
  switch (bound.kind) {
    case 'call':
      return bound.arguments;
    case 'and':
    case 'or':
      return bound.operands;
    case 'compare':
      return [bound.left, bound.right];
    case 'not':
    case 'in':
    case 'isNull':
    case 'like':
      return [bound.operand];
    default:
      return [];
  }
}

/** The columns of the rows below that an expression reads. */
/** Whether a column of strings is read, which may be a multi-value one. */
export function readsStrings(bound: Bound): boolean {
  return (bound.kind === 'column' && bound.type === 'VARCHAR') || children(bound).some(readsStrings);
}

export function columnNames(bound: Bound, into = new Set<string>()): Set<string> {
  switch (bound.kind) {
    case 'column':
      into.add(bound.name);
      break;
    case 'call':
      for (const part of bound.arguments) columnNames(part, into);
      break;
    case 'and':
    case 'or':
      for (const part of bound.operands) columnNames(part, into);
      break;
    case 'compare':
      columnNames(bound.left, into);
      columnNames(bound.right, into);
      break;
    case 'not':
    case 'in':
    case 'isNull':
    case 'like':
      columnNames(bound.operand, into);
      break;
    default:
      break;
  }
  return into;
}

export function hasOuter(bound: Bound): boolean {
  return bound.kind === 'outer' || children(bound).some(hasOuter);
}

/** Columns under other names, or replaced by what they stand for. */
export function substitute(bound: Bound, meaning: (name: string) => Bound | undefined): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? meaning(part.name) : undefined));
}

/** The same expression over other operands; itself when none has changed. */
export function mapChildren(bound: Bound, change: (part: Bound) => Bound): Bound {
  switch (bound.kind) {
    case 'call': {
      const args = mapAll(bound.arguments, change);
      return args === bound.arguments ? bound : { kind: 'call', type: bound.type, function: bound.function, arguments: args };
    }
    case 'and':
    case 'or': {
      const operands = mapAll(bound.operands, change);
      return operands === bound.operands ? bound : { kind: bound.kind, type: 'BOOLEAN', operands };
    }
    case 'compare': {
      const left = change(bound.left);
      const right = change(bound.right);
      if (left === bound.left && right === bound.right) return bound;
      return { kind: 'compare', type: 'BOOLEAN', operator: bound.operator, domain: bound.domain, left, right };
    }
    case 'not':
    case 'in':
    case 'isNull':
    case 'like': {
      const operand = change(bound.operand);
      return operand === bound.operand ? bound : changed(bound, { operand });
    }
    default:
      return bound;
  }
}

/** The list with each item changed; itself when none has. */
export function mapAll<Item>(items: readonly Item[], change: (item: Item) => Item): readonly Item[] {
  let changedItems: Item[] | undefined;
  for (let index = 0; index < items.length; index++) {
    const item = items[index] as Item;
    const next = change(item);
    if (changedItems === undefined && next !== item) changedItems = items.slice(0, index);
    changedItems?.push(next);
  }
  return changedItems ?? items;
}

/** Replaces the largest parts for which `replace` has an answer; the others keep their shape. */
export function transform(bound: Bound, replace: (part: Bound) => Bound | undefined): Bound {
  return replace(bound) ?? mapChildren(bound, (part) => transform(part, replace));
}

/** The same as a tree of the native expression language. `aggregate` nodes must have become columns. */
export function toExpression(bound: Bound): Expression {
  switch (bound.kind) {
    case 'literal': {
      const type = bound.type === 'NULL' ? null : nativeType(bound.type);
      return carried(bound, 'value', (value): Expression => ({ kind: 'literal', type, value }));
    }
    case 'column':
      return { kind: 'column', name: bound.name };
    case 'call':
      return { kind: 'call', function: bound.function, arguments: bound.arguments.map(toExpression) };
    case 'aggregate':
      return { kind: 'column', name: `aggregate ${bound.index}` };
    case 'window':
    case 'outer':
      throw new ServiceError('internal', 'a column of the outer query, or a window function, was left in an expression');
    case 'and':
    case 'or':
      return balanced(bound.kind === 'and' ? '&&' : '||', bound.operands.map(toExpression));
    case 'not':
      return { kind: 'call', function: '!', arguments: [toExpression(bound.operand)] };
    case 'compare':
      return {
        kind: 'call',
        function: NATIVE_COMPARISONS[bound.operator],
        arguments: [toExpression(bound.left), toExpression(bound.right)],
      };
    case 'in': {
      const operand = toExpression(bound.operand);
      const type = nativeType(bound.domain);
      const isLookedUp =
        type === 'STRING'
          ? operand.kind !== 'column' && askOf(bound, 'values', ({ length }) => length > 1)
          : type === 'LONG' &&
            askOf(bound, 'values', ({ length }) => length > NUMBERS_COMPARED_MAX) &&
            nativeType(settledType(bound.operand.type)) === 'LONG';
      // An operand that must be computed is computed once here, rather than once for each value of the list.
      if (isLookedUp) {
        const list = placed(
          bound,
          ({ values }) => arrayText(values, `ARRAY<${type}>`),
          (value): Expression => ({ kind: 'literal', type: `ARRAY<${type}>`, value }),
        );
        return { kind: 'call', function: 'scalar_in_array', arguments: [operand, list] };
      }
      const literals = bound.values.map((value): Expression => ({ kind: 'literal', type, value }));
      return balanced(
        '||',
        literals.map((literal) => ({ kind: 'call', function: '==', arguments: [operand, literal] })),
      );
    }
    case 'isNull':
      return { kind: 'call', function: 'isnull', arguments: [toExpression(bound.operand)] };
    case 'like': {
      const pattern = carried(bound, 'pattern', (value): Expression => ({ kind: 'literal', type: 'STRING', value }));
      const escape: readonly Expression[] = bound.escape === null ? [] : [{ kind: 'literal', type: 'STRING', value: bound.escape }];
      return { kind: 'call', function: 'like', arguments: [toExpression(bound.operand), pattern, ...escape] };
    }
  }
}

const NATIVE_COMPARISONS: Readonly<Record<CompareOperator, string>> = { '=': '==', '<>': '!=', '<': '<', '<=': '<=', '>': '>', '>=': '>=' };

/** Kernels compare a number with so many others sooner than a set is asked. */
const NUMBERS_COMPARED_MAX = 100;

/** The operands joined in a tree of logarithmic depth: a list may hold thousands. */
function balanced(operator: string, operands: readonly Expression[]): Expression {
  const [first, second] = operands;
  if (first === undefined) return { kind: 'literal', type: 'LONG', value: operator === '&&' ? 1n : 0n };
  if (second === undefined) return first;
  const middle = operands.length >>> 1;
  return {
    kind: 'call',
    function: operator,
    arguments: [balanced(operator, operands.slice(0, middle)), balanced(operator, operands.slice(middle))],
  };
}
