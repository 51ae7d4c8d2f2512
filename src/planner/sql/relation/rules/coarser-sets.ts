// Rule: coarser grouping sets are made of the groups of a finer one.

import type { RunLimits } from '../../../../model/run-limits.js';
import { nativeType } from '../../parse/sql-type.js';
import { boundKey, column, settledType } from '../bound.js';
import { estimate } from '../estimate.js';
import { type AggregateRelation, columnsOf, mapInputs, mayGiveSeveral, type NamedAggregate, type Relation } from '../relation.js';

/** Rows that the finer set must have for each of its groups, so that reading these is less work than reading the rows again. */
const ROWS_PER_GROUP = 8;
/** Rows that a condition is tested for in the time in which one is grouped. */
const TESTED_PER_ROW = 8;

/**
 * The sets of one GROUP BY read the same rows. What a set of fewer keys counts and sums is counted and summed from the groups of one that has
 * its keys and more: the groups stand in the statement several times, and are made once.
 */
export function coarserSets(relation: Relation, limits: RunLimits): Relation {
  // Groups that are read again count as a subquery, whose size is limited.
  if (typeof limits.maxSubqueryRows === 'number' || typeof limits.maxSubqueryBytes === 'number') return relation;
  const node = mapInputs(relation, (input) => coarserSets(input, limits));
  if (node.kind !== 'union') return node;
  const sets = node.inputs.map(groupsOf);
  const finest = sets.reduce(
    (most, set) => (set !== undefined && (most === undefined || set.keys.length > most.keys.length) ? set : most),
    undefined,
  );
  if (finest === undefined || !isWorthReading(finest)) return node;
  return { ...node, inputs: node.inputs.map((input, index) => (sets[index] === finest ? input : overGroups(input, finest))) };
}

/** The groups that a branch of a union is made of, by filters and projections. */
function groupsOf(relation: Relation): AggregateRelation | undefined {
  if (relation.kind === 'aggregate') return relation;
  return relation.kind === 'project' || relation.kind === 'filter' ? groupsOf(relation.input) : undefined;
}

function isWorthReading(finest: AggregateRelation): boolean {
  const [groups, rows] = [estimate(finest), estimate(finest.input)];
  if (groups === undefined || rows === undefined) return false;
  if (groups.rows * ROWS_PER_GROUP > rows.rows + testedRows(finest.input) / TESTED_PER_ROW) return false;
  // A row of several values of a key is in several groups.
  const columns = new Map(columnsOf(finest.input).map((each) => [each.name, each]));
  return !finest.keys.some(({ bound }) => mayGiveSeveral(bound, (name) => columns.get(name)?.schema?.multiValue === true));
}

/** Rows that conditions are tested for each time that a relation is read. */
function testedRows(relation: Relation): number {
  if (relation.kind === 'project') return testedRows(relation.input);
  return relation.kind === 'filter' ? (estimate(relation.input)?.rows ?? 0) + testedRows(relation.input) : 0;
}

/** The branch with its groups made of the finest ones; itself where they do not tell enough. */
function overGroups(relation: Relation, finest: AggregateRelation): Relation {
  if (relation.kind === 'project' || relation.kind === 'filter') return mapInputs(relation, (input) => overGroups(input, finest));
  if (relation.kind !== 'aggregate' || relation.input !== finest.input || relation.keys.length === finest.keys.length) return relation;
  const keyNames = new Map(finest.keys.map(({ name, bound }) => [boundKey(bound), name]));
  const keys = relation.keys.flatMap(({ name, bound }) => {
    const own = keyNames.get(boundKey(bound));
    return own === undefined ? [] : [{ name, bound: column(settledType(bound.type), own) }];
  });
  const parts = new Map(finest.aggregates.filter(isDivisible).map((aggregate) => [keyOf(aggregate), aggregate.name]));
  const aggregates = relation.aggregates.flatMap((aggregate): NamedAggregate[] => {
    const part = isDivisible(aggregate) ? parts.get(keyOf(aggregate)) : undefined;
    if (part === undefined) return [];
    return [
      { ...aggregate, kind: aggregate.kind === 'count' ? 'sum' : aggregate.kind, operands: [column(aggregate.type, part)], filter: null },
    ];
  });
  if (keys.length < relation.keys.length || aggregates.length < relation.aggregates.length) return relation;
  return { ...relation, input: finest, keys, aggregates };
}

/** Whether parts can be put together in any order, to the last bit: sums of doubles cannot. */
function isDivisible({ kind, type }: NamedAggregate): boolean {
  return kind === 'count' || kind === 'min' || kind === 'max' || (kind === 'sum' && nativeType(type) === 'LONG');
}

/** Equal for divisible aggregates that are the same but for their names. */
function keyOf({ kind, type, operands, filter }: NamedAggregate): string {
  return [kind, type, ...operands.map(boundKey), 'of', filter === null ? '' : boundKey(filter)].join(' ');
}
