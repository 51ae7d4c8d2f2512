// Rule: groups each branch of a UNION ALL before they are joined.

import { stateTraits, stateType } from '../../../../model/state-traits.js';
import { nativeType } from '../../parse/sql-type.js';
import { valueOfNoRows } from '../aggregate.js';
import { type Bound, boundKey, call, column, literal, NULL, settledType } from '../bound.js';
import {
  type AggregateRelation,
  columnsOf,
  identity,
  mapInputs,
  type NamedAggregate,
  type NamedBound,
  type Relation,
  type UnionRelation,
} from '../relation.js';
import { mayHaveSeveral } from '../several-values.js';

/**
 * Groups each query of a UNION ALL by itself first, so that its table is grouped where it lies; then all groups together: counts and sums are
 * added, states merged. Where distinct values are asked for, these are keys of the first groups, which are made for each of several.
 */
export function pushAggregates(relation: Relation): Relation {
  const node = mapInputs(relation, pushAggregates);
  if (node.kind !== 'aggregate' || node.input.kind !== 'union') return node;
  if (node.input.inputs.every((input) => areGroups(input, node))) return node;
  if (!node.aggregates.every((each) => each.kind === 'distinct' || isDivisible(each))) return node;
  const values = distinctValues(node.aggregates, node.input);
  return values === undefined ? node : divided(node, node.input.inputs, values);
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

/** @param values  those of which distinct ones are asked for */
function divided(node: AggregateRelation, inputs: readonly Relation[], values: readonly DistinctValue[]): Relation {
  const others = node.aggregates.filter(({ kind }) => kind !== 'distinct').map(partOf);
  const keys = identity(node.keys.map(({ name, bound }) => ({ name, type: settledType(bound.type) })));
  const whole: AggregateRelation = {
    ...node,
    input: { kind: 'union', inputs: inputs.flatMap((input) => partsOf({ ...node, input, aggregates: others }, values)) },
    keys: keys.map(({ name, bound }): NamedBound => ({ name, bound })),
    aggregates: node.aggregates.map((aggregate): NamedAggregate => {
      const value = values.find(({ names }) => names.has(aggregate.name));
      return value === undefined
        ? wholeOf(aggregate)
        : { ...aggregate, filter: null, operands: [column(value.key.bound.type, value.key.name)] };
    }),
  };
  // Without keys of its own every part gives a row, so that a count of none stays 0; with a value as a key it may give none.
  return values.length === 0 || node.keys.length > 0 ? whole : withCountsOfNone(whole, node.aggregates);
}

/** The groups of one query; those of each value, with all else beside the first, where there are several. */
function partsOf(part: AggregateRelation, values: readonly DistinctValue[]): readonly Relation[] {
  if (values.length === 0) return [part];
  return values.map(({ key }, at): Relation => {
    const own: AggregateRelation = { ...part, keys: [...part.keys, key], aggregates: at === 0 ? part.aggregates : [] };
    if (values.length === 1) return own;
    const there = new Set(columnsOf(own).map(({ name }) => name));
    const all = columnsOf({ ...part, keys: [...part.keys, ...values.map((value) => value.key)] });
    const columns = identity(all).map((each) => (there.has(each.name) ? each : { ...each, bound: literal(each.type, null) }));
    return { kind: 'project', input: own, columns };
  });
}

/** An aggregate as it is of the rows of one query: what merges states gives the state. */
function partOf(aggregate: NamedAggregate): NamedAggregate {
  const { state } = aggregate;
  if (state === undefined || isOwnState(state)) return aggregate;
  return { ...aggregate, type: stateType(state.aggregateState), state: { ...state, output: 'state' } };
}

/** The same aggregate of its parts. */
function wholeOf(aggregate: NamedAggregate): NamedAggregate {
  const { state, kind, name } = aggregate;
  const whole = { ...aggregate, kind: kind === 'count' ? 'sum' : kind, operands: [column(partOf(aggregate).type, name)], filter: null };
  return state === undefined || isOwnState(state) ? whole : { ...whole, state: { ...state, input: 'states' } };
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

/** Counts and sums of parts are added, and states merged where columns may hold them. */
function isDivisible({ kind, state }: NamedAggregate): boolean {
  if (state !== undefined) return isOwnState(state) || stateTraits(state.aggregateState).declared.length > 0;
  return kind === 'sum' || kind === 'min' || kind === 'max' || kind === 'count';
}

/** Whether values are states too: the smallest of the smallest. */
function isOwnState({ aggregateState: { type } }: State): boolean {
  return type === 'min' || type === 'max';
}

type State = NonNullable<NamedAggregate['state']>;

/** Each value is a grouping of all rows. */
const VALUES_MAX = 8;

/** A value of which distinct ones are asked for, as a key of groups. */
interface DistinctValue {
  readonly key: NamedBound;
  /** Aggregates that are about it. */
  readonly names: ReadonlySet<string>;
}

/** The values of aggregates of distinct ones; undefined: some cannot be keys. */
function distinctValues(aggregates: readonly NamedAggregate[], union: UnionRelation): readonly DistinctValue[] | undefined {
  const found = new Map<string, { readonly key: NamedBound; readonly names: Set<string> }>();
  for (const { kind, name, operands, filter } of aggregates) {
    if (kind !== 'distinct') continue;
    const [operand, second] = operands;
    if (operand === undefined || second !== undefined) return undefined;
    // Nulls are not among the values.
    const bound = filter === null ? operand : call(operand.type, 'case_searched', filter, operand, NULL);
    const key = boundKey(bound);
    const known = found.get(key);
    if (known !== undefined) known.names.add(name);
    else if (isKey(bound, union)) found.set(key, { key: { name, bound }, names: new Set([name]) });
    else return undefined;
  }
  return found.size > VALUES_MAX ? undefined : [...found.values()];
}

function isKey(bound: Bound, union: UnionRelation): boolean {
  if (bound.type === 'NULL') return false;
  // Doubles that are equal need not be the same, and arrays are no keys.
  const type = nativeType(bound.type);
  if (type !== 'STRING' && type !== 'LONG') return false;
  return !union.inputs.some((input) => mayHaveSeveral(bound, input));
}
