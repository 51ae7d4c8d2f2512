// Estimates row counts and distinct values of relations.

import { highest } from '../../../base/lists.js';
import { type Bound, columnNames, conjuncts } from './bound.js';
import { joinParts } from './join-condition.js';
import { type JoinRelation, putsOutRight, type Relation, type SourceRelation } from './relation.js';

/** About how many rows a relation has, and how many different values are in its columns. */
export interface Estimate {
  readonly rows: number;
  /** Estimated number of distinct values, at least 1; undefined: not known. */
  distinct(column: string): number | undefined;
}

const known = new WeakMap<Relation, Estimate | null>();

/** Undefined when nothing is known of one of its tables. */
export function estimate(relation: Relation): Estimate | undefined {
  let found = known.get(relation);
  if (found === undefined) {
    found = estimated(relation) ?? null;
    known.set(relation, found);
  }
  return found ?? undefined;
}

function estimated(relation: Relation): Estimate | undefined {
  switch (relation.kind) {
    case 'source':
      return ofSource(relation);
    case 'filter': {
      const input = estimate(relation.input);
      return input && reduced(input, selectivity(relation.condition, input));
    }
    case 'project': {
      const input = estimate(relation.input);
      const meanings = new Map(relation.columns.map(({ name, bound }) => [name, bound]));
      return (
        input && {
          rows: input.rows,
          distinct: (name) => {
            const bound = meanings.get(name);
            return bound && distinctOf(bound, input);
          },
        }
      );
    }
    case 'aggregate': {
      const input = estimate(relation.input);
      if (input === undefined) return undefined;
      const keys = new Map(relation.keys.map(({ name, bound }) => [name, distinctOf(bound, input) ?? input.rows * KEY_DISTINCT]));
      const rows = Math.max(
        1,
        Math.min(
          input.rows,
          [...keys.values()].reduce((product, count) => product * count, 1),
        ),
      );
      return { rows, distinct: (name) => Math.min(rows, keys.get(name) ?? rows) };
    }
    case 'limit': {
      const input = estimate(relation.input);
      return input && (relation.limit === null ? input : capped(input, Math.max(1, relation.limit)));
    }
    case 'sort':
    case 'window':
      return estimate(relation.input);
    case 'unnest': {
      const input = estimate(relation.input);
      return input && { rows: input.rows * UNNESTED, distinct: (name) => input.distinct(name) };
    }
    case 'union': {
      const inputs = relation.inputs.map(estimate);
      if (!inputs.every((input) => input !== undefined)) return undefined;
      return { rows: inputs.reduce((rows, input) => rows + input.rows, 0), distinct: () => undefined };
    }
    case 'join':
      return ofJoin(relation);
  }
}

/** Assumed share of distinct values for a key without statistics, and assumed elements of an array. */
export const KEY_DISTINCT = 0.1;
const UNNESTED = 3;

function ofSource({ source, rowCount, columns }: SourceRelation): Estimate | undefined {
  const rows = source.kind === 'inline' ? source.frame.rowCount : rowCount;
  if (rows === undefined) return undefined;
  const counts = new Map(columns.map(({ name, schema }) => [name, schema?.distinctCount]));
  return { rows: Math.max(1, rows), distinct: (name) => atLeastOne(counts.get(name)) };
}

function atLeastOne(count: number | undefined): number | undefined {
  return count === undefined ? undefined : Math.max(1, count);
}

function ofJoin(join: JoinRelation): Estimate | undefined {
  const [left, right] = [estimate(join.left), estimate(join.right)];
  if (left === undefined || right === undefined) return undefined;
  const { keys, residual } = joinParts(join.condition, join.prefix, join.type);
  const pair = keySelectivity(
    keys.map((key) => [distinctOf(key.left, left), distinctOf(key.right, right)] as const),
    left.rows,
    right.rows,
  );
  const met = residual.reduce((part, condition) => part * selectivity(condition, NOTHING_KNOWN), left.rows * right.rows * pair);
  if (!putsOutRight(join)) {
    if (join.type === 'mark') return left;
    const part = Math.min(
      1,
      keys.reduce((each, key) => each * filterPart(distinctOf(key.left, left), distinctOf(key.right, right)), 1),
    );
    return reduced(left, join.type === 'semi' ? part : 1 - part * FOUND);
  }
  const rows = join.type === 'inner' ? met : Math.max(met, join.type === 'right' ? 0 : left.rows, join.type === 'left' ? 0 : right.rows);
  const distinct = (name: string): number | undefined => {
    const count = name.startsWith(join.prefix) ? right.distinct(name.slice(join.prefix.length)) : left.distinct(name);
    return count && Math.min(count, Math.max(1, rows));
  };
  return { rows: Math.max(1, rows), distinct };
}

/** Share of the left side's key values that the right side of a semi join has. */
export function filterPart(left: number | undefined, right: number | undefined): number {
  return left === undefined || right === undefined ? RANGE : Math.min(1, right / left);
}

/** Largest assumed share of matches: an anti join is asked for the rest, so something must remain. */
export const FOUND = 0.9;

/**
 * The part of all pairs of rows that are equal in their keys. Of several keys between the same two inputs, which mostly are one
 * key of one of them, the values are no more than the rows, and the key has about as many as lie between those of the two sides.
 */
export function keySelectivity(
  keys: readonly (readonly [number | undefined, number | undefined])[],
  leftRows: number,
  rightRows: number,
): number {
  const [first] = keys;
  if (first === undefined) return 1;
  const side = (at: 0 | 1, rows: number): number =>
    Math.min(
      rows,
      keys.reduce((product, key) => product * (key[at] ?? rows * KEY_DISTINCT), 1),
    );
  const [left, right] = [side(0, leftRows), side(1, rightRows)];
  return 1 / Math.max(1, keys.length === 1 ? Math.max(left, right) : Math.sqrt(left * right));
}

/** Distinct values of a column, or of an expression with one value for each of a column's. */
export function distinctOf(bound: Bound, input: Estimate): number | undefined {
  if (bound.kind === 'column') return input.distinct(bound.name);
  if (bound.kind === 'literal') return 1;
  const [only, second] = [...columnNames(bound)];
  return only === undefined ? 1 : second === undefined ? input.distinct(only) : undefined;
}

const NOTHING_KNOWN: Estimate = { rows: 1, distinct: () => undefined };

/** Assumed share of rows that pass a comparison without statistics. */
const EQUAL = 0.1;
const RANGE = 0.3;
const LIKE = 0.1;
const NULL_PART = 0.05;

/** The part of rows for which a condition is true. */
export function selectivity(condition: Bound, input: Estimate): number {
  const part = (bound: Bound): number => selectivity(bound, input);
  switch (condition.kind) {
    case 'literal':
      return condition.value === null || Number(condition.value) === 0 ? 0 : 1;
    case 'and':
      return conjuncts(condition).reduce((product, each) => product * part(each), 1);
    case 'or':
      return 1 - condition.operands.reduce((product, each) => product * (1 - part(each)), 1);
    case 'not':
      return 1 - part(condition.operand);
    case 'compare': {
      if (condition.operator !== '=' && condition.operator !== '<>') return RANGE;
      const sides = [condition.left, condition.right].filter(({ kind }) => kind !== 'literal');
      const counts = sides.map((side) => (side.kind === 'column' ? input.distinct(side.name) : undefined));
      const equal = counts.includes(undefined) ? EQUAL : 1 / highest([1, ...counts.map((count) => count ?? 1)]);
      return condition.operator === '=' ? equal : 1 - equal;
    }
    case 'in': {
      const count = condition.operand.kind === 'column' ? input.distinct(condition.operand.name) : undefined;
      return Math.min(1, condition.values.length * (count === undefined ? EQUAL : 1 / count));
    }
    case 'isNull':
      return NULL_PART;
    case 'like':
      return LIKE;
    default:
      return RANGE;
  }
}

/** A part of the rows, drawn without regard to a column: of its values those are left of which a row was drawn. */
function reduced(input: Estimate, part: number): Estimate {
  const rows = Math.max(1, input.rows * part);
  return {
    rows,
    distinct: (name) => {
      const count = input.distinct(name);
      return count === undefined ? undefined : Math.max(1, Math.min(rows, count * (1 - (1 - part) ** (input.rows / count))));
    },
  };
}

function capped(input: Estimate, rows: number): Estimate {
  if (input.rows <= rows) return input;
  return {
    rows,
    distinct: (name) => {
      const count = input.distinct(name);
      return count && Math.min(count, rows);
    },
  };
}
