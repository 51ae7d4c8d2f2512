// Rule: groups each branch of a UNION ALL before they are joined.

import { nativeType } from '../../parse/sql-type.js';
import { valueOfNoRows } from '../aggregate.js';
import { type Bound, boundKey, call, column, settledType } from '../bound.js';
import { estimate } from '../estimate.js';
import {
  type AggregateRelation,
  columnsOf,
  identity,
  mapInputs,
  mayGiveSeveral,
  type NamedAggregate,
  type NamedBound,
  type Relation,
  type UnionRelation,
} from '../relation.js';

/**
 * Groups each query of a UNION ALL by itself first, so that its table is grouped where it lies; then all groups together. Where distinct
 * values of one expression are asked for, that is a key of the first groups.
 */
export function pushAggregates(relation: Relation): Relation {
  const node = mapInputs(relation, pushAggregates);
  if (node.kind !== 'aggregate' || node.input.kind !== 'union') return node;
  if (node.input.inputs.every((input) => areGroups(input, node))) return node;
  const [distinct, ...others] = node.aggregates.filter(({ kind }) => kind === 'distinct');
  if (!node.aggregates.every(({ kind }) => kind === 'distinct' || isDivisible(kind))) return node;
  if (distinct === undefined) return divided(node, node.input.inputs);
  const value = distinctValue(distinct, others, node.input);
  return value === undefined ? node : divided(node, node.input.inputs, value);
}

/** Whether each row of a query is a group of these keys by itself: to group it first would give the same rows. */
function areGroups(input: Relation, { keys }: AggregateRelation): boolean {
  let names = new Set(keys.flatMap(({ bound }) => (bound.kind === 'column' ? [bound.name] : [])));
  let relation = input;
  while (relation.kind === 'project') {
    const kept = names;
    names = new Set(relation.columns.flatMap(({ name, bound }) => (kept.has(name) && bound.kind === 'column' ? [bound.name] : [])));
    relation = relation.input;
  }
  return relation.kind === 'aggregate' && relation.keys.length > 0 && relation.keys.every(({ name }) => names.has(name));
}

/** @param value  the expression of which distinct values are asked for */
function divided(node: AggregateRelation, inputs: readonly Relation[], value?: NamedBound): Relation {
  const keys = identity(node.keys.map(({ name, bound }) => ({ name, type: bound.type === 'NULL' ? 'VARCHAR' : bound.type })));
  const aggregates = node.aggregates.filter(({ kind }) => kind !== 'distinct');
  const parts = value === undefined ? node : { ...node, keys: [...node.keys, value], aggregates };
  const whole: AggregateRelation = {
    ...node,
    input: { kind: 'union', inputs: inputs.map((input): Relation => ({ ...parts, input })) },
    keys: keys.map(({ name, bound }): NamedBound => ({ name, bound })),
    aggregates: node.aggregates.map((aggregate): NamedAggregate => {
      if (value !== undefined && aggregate.kind === 'distinct') return { ...aggregate, operands: [column(value.bound.type, value.name)] };
      const kind = aggregate.kind === 'count' ? 'sum' : aggregate.kind;
      return { ...aggregate, kind, operands: [column(aggregate.type, aggregate.name)], filter: null };
    }),
  };
  // Without keys of its own every part gives a row, so that a count of none stays 0; with the value as a key it may give none.
  return value === undefined || node.keys.length > 0 ? whole : withCountsOfNone(whole, node.aggregates);
}

function withCountsOfNone(whole: AggregateRelation, asked: readonly NamedAggregate[]): Relation {
  const valueOf = (aggregate: NamedAggregate): Bound => {
    const sum = column(aggregate.type, aggregate.name);
    return aggregate.kind === 'count' ? call(aggregate.type, 'nvl', sum, valueOfNoRows(aggregate)) : sum;
  };
  return {
    kind: 'project',
    input: whole,
    columns: asked.map((aggregate) => ({ name: aggregate.name, type: aggregate.type, bound: valueOf(aggregate) })),
  };
}

/** Counts and sums of parts are added. */
function isDivisible(kind: NamedAggregate['kind']): boolean {
  return kind === 'sum' || kind === 'min' || kind === 'max' || kind === 'count';
}

/** Strings of which more of the rows than this are different are left: as many groups as rows gain nothing. */
const DIFFERENT = 0.5;

/** The one expression of which all of these want distinct values, as a key; undefined: they are several, or cannot be a key or had better not. */
function distinctValue(first: NamedAggregate, others: readonly NamedAggregate[], union: UnionRelation): NamedBound | undefined {
  const [bound] = first.operands;
  if (bound === undefined || bound.type === 'NULL' || first.operands.length > 1 || first.filter !== null) return undefined;
  // Doubles that are equal need not be the same, and arrays are no keys.
  const type = nativeType(bound.type);
  if (type !== 'STRING' && type !== 'LONG') return undefined;
  const key = boundKey(bound);
  const isOther = ({ operands: [own], filter }: NamedAggregate): boolean => own === undefined || filter !== null || boundKey(own) !== key;
  if (others.some(isOther)) return undefined;
  if (union.inputs.some((input) => mayHaveSeveral(bound, input))) return undefined;
  return union.inputs.some((input) => isMostlyDifferent(bound, input)) ? undefined : { name: first.name, bound };
}

/** Whether a row may have several values, and so be in several groups: strings of unions and of files may, of which nothing is known. */
function mayHaveSeveral(bound: Bound, input: Relation): boolean {
  const columns = new Map(columnsOf(input).map((each) => [each.name, each]));
  return mayGiveSeveral(bound, (name) => {
    const found = columns.get(name);
    return found === undefined || (nativeType(found.type) === 'STRING' && found.schema?.multiValue !== false);
  });
}

/** Whether most strings differ. Numbers may be few between their extremes, which is all that is known of them. */
function isMostlyDifferent(bound: Bound, input: Relation): boolean {
  if (bound.kind !== 'column' || nativeType(settledType(bound.type)) !== 'STRING') return false;
  const rows = estimate(input);
  const values = rows?.distinct(bound.name);
  return rows !== undefined && values !== undefined && values > rows.rows * DIFFERENT;
}
