// Rule: sums of a value with constants added become one sum and one count.

import { extended } from '../../../../base/names.js';
import { rowsWith } from '../../bind/aggregates/row-conditions.js';
import { nativeType } from '../../parse/sql-type.js';
import { type Bound, type BoundLiteral, boundKey, call, column, isNullLiteral } from '../bound.js';
import { type AggregateRelation, columnsOf, identity, mapInputs, type NamedAggregate, type Relation } from '../relation.js';

/** `SUM(value + constant)`, or `SUM(constant - value)`. */
interface ShiftedSum {
  readonly value: Bound;
  readonly constant: BoundLiteral;
  readonly isMinus: boolean;
  readonly isConstantFirst: boolean;
}

/** Sums and counts of one value over the same rows, and what they give the sums that are made of them. */
interface Parts {
  readonly sum: NamedAggregate;
  readonly count: NamedAggregate;
  readonly shifted: Map<string, ShiftedSum>;
}

/**
 * SUM(x + c) is SUM(x) + c * COUNT(x): longs wrap at 64 bits in both, and no rows give null in both. It is done where
 * fewer aggregates are left: ninety sums of one column with constants read it twice.
 */
export function splitSums(relation: Relation): Relation {
  const node = mapInputs(relation, splitSums);
  return node.kind === 'aggregate' ? split(node) : node;
}

function split(node: AggregateRelation): Relation {
  if (node.aggregates.length < 3 || !node.aggregates.some(isShiftedSum)) return node;
  const known = new Map(node.aggregates.flatMap((each) => (each.kind === 'sum' || each.kind === 'count' ? [[keyOf(each), each]] : [])));
  const taken = new Set(columnsOf(node).map(({ name }) => name));
  const named = (aggregate: Omit<NamedAggregate, 'name'>): NamedAggregate => {
    const there = known.get(keyOf(aggregate));
    if (there !== undefined) return there;
    let number = taken.size;
    while (taken.has(`sum ${number}`)) number++;
    const added = extended(aggregate, { name: `sum ${number}` });
    taken.add(added.name);
    known.set(keyOf(aggregate), added);
    return added;
  };
  const all = new Map<string, Parts>();
  for (const { name, kind, operands, filter, type } of node.aggregates) {
    const [operand] = operands;
    const shifted = kind === 'sum' && isLong(type) && operand !== undefined ? shiftOf(operand) : undefined;
    // A sum that others are made of stays: `x + 1 + 2` is left as it is.
    if (shifted === undefined || shiftOf(shifted.value) !== undefined) continue;
    const key = boundKey(call('BIGINT', '', shifted.value, ...(filter === null ? [] : [filter])));
    let parts = all.get(key);
    if (parts === undefined) {
      const sum = named({ kind: 'sum', operands: [shifted.value], filter, type });
      const count = named({ kind: 'count', ...rowsWith(shifted.value, filter), type: 'BIGINT' });
      parts = { sum, count, shifted: new Map() };
      all.set(key, parts);
    }
    parts.shifted.set(name, shifted);
  }
  const there = new Set(node.aggregates);
  const added = new Map<string, NamedAggregate>();
  const meanings = new Map<string, Bound>();
  for (const { sum, count, shifted } of all.values()) {
    const missing = [sum, count].filter((each) => !there.has(each));
    if (missing.length >= shifted.size) continue;
    for (const each of missing) added.set(each.name, each);
    for (const [name, each] of shifted) meanings.set(name, sumOf(each, sum, count));
  }
  if (meanings.size === 0) return node;
  const aggregates = [...node.aggregates.filter(({ name }) => !meanings.has(name)), ...added.values()];
  const columns = identity(columnsOf(node)).map((each) => ({ ...each, bound: meanings.get(each.name) ?? each.bound }));
  return { kind: 'project', input: { ...node, aggregates }, columns };
}

function isShiftedSum({ kind, operands: [operand], type }: NamedAggregate): boolean {
  return kind === 'sum' && isLong(type) && operand !== undefined && shiftOf(operand) !== undefined;
}

/** Equal for equal sums and counts. */
function keyOf({ kind, operands, filter, type }: Omit<NamedAggregate, 'name'>): string {
  return JSON.stringify([kind, type, operands.map(boundKey), filter === null ? null : boundKey(filter)]);
}

function shiftOf(operand: Bound): ShiftedSum | undefined {
  if (operand.kind !== 'call' || operand.arguments.length !== 2) return undefined;
  const { function: name, arguments: parts } = operand;
  if ((name !== '+' && name !== '-') || !parts.every(({ type }) => isLong(type))) return undefined;
  const [left, right] = parts;
  if (left === undefined || right === undefined) return undefined;
  if (right.kind === 'literal' && left.kind !== 'literal' && !isNullLiteral(right))
    return { value: left, constant: right, isMinus: name === '-', isConstantFirst: false };
  if (left.kind === 'literal' && right.kind !== 'literal' && !isNullLiteral(left))
    return { value: right, constant: left, isMinus: name === '-', isConstantFirst: true };
  return undefined;
}

function isLong(type: Bound['type']): boolean {
  return type !== 'NULL' && nativeType(type) === 'LONG';
}

function sumOf({ constant, isMinus, isConstantFirst }: ShiftedSum, sum: NamedAggregate, count: NamedAggregate): Bound {
  const total = column(sum.type, sum.name);
  const constants = call('BIGINT', '*', constant, column('BIGINT', count.name));
  const name = isMinus ? '-' : '+';
  return isConstantFirst ? call(sum.type, name, constants, total) : call(sum.type, name, total, constants);
}
