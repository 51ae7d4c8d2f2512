// Pulls correlated conditions out of subqueries, so that they become joins.

import type { SqlType } from '../../../model/statement.js';
import { folded } from '../bind/function-call.js';
import type { Session } from '../bind/session.js';
import type { CompareOperator, SqlQuery } from '../parse/syntax.js';
import { valueOfNoRows } from './aggregate.js';
import { type Bound, column, columnNames, conjuncts, FALSE, hasOuter, retype, substitute, transform } from './bound.js';
import { type NamedBound, type ProjectedColumn, putsOutRight, type Relation } from './relation.js';
import { expressionsOf } from './rules/verify-relation.js';

/** A comparison of a subquery's column with a value of the outer query, in the type both are compared in. */
export interface Correlation {
  readonly operator: CompareOperator;
  readonly domain: SqlType;
  /** Operand over the columns of the subquery. */
  readonly inner: Bound;
  /** Operand over the columns of the outer query. */
  readonly outer: Bound;
}

export interface PulledUp {
  readonly relation: Relation;
  readonly correlations: readonly Correlation[];
  /** Other conditions over columns of the subquery and values of the outer query. */
  readonly others: readonly Bound[];
  /**
   * An aggregation without keys gives a row even over no rows; once it is grouped by the correlated columns that row is
   * missing: these would be its values. null: no row over no rows.
   */
  readonly emptyRow: ReadonlyMap<string, Bound> | null;
}

/**
 * Takes the conditions on values of the outer query out of a subquery, so that they can become those of a join. Undefined where
 * they, or other uses of such values, stand where they cannot leave from.
 */
export function pullUp(session: Session, query: SqlQuery, relation: Relation): PulledUp | undefined {
  const unchanged = (whole: Relation): PulledUp => ({ relation: whole, correlations: [], others: [], emptyRow: null });
  const visit = (node: Relation): PulledUp | undefined => {
    if (!isCorrelated(node)) return unchanged(node);
    switch (node.kind) {
      case 'filter': {
        const below = visit(node.input);
        if (below === undefined) return undefined;
        const own = conjuncts(node.condition).filter((part) => !hasOuter(part));
        const { correlations, others } = split(node.condition);
        const kept = own.length === 0 ? below.relation : filterOf(below.relation, own);
        if (below.emptyRow === null)
          return {
            relation: kept,
            correlations: [...below.correlations, ...correlations],
            others: [...below.others, ...others],
            emptyRow: null,
          };
        if (correlations.length + others.length > 0) return undefined;
        const { emptyRow } = below;
        const passes = own.every((part) =>
          isTrue(
            folded(
              substitute(part, (name) => emptyRow.get(name)),
              session,
              query.at,
            ),
          ),
        );
        // A group that fails is not a row, and neither is one that is not there: only the second would have passed.
        if (passes) return undefined;
        return { ...below, relation: kept, emptyRow: null };
      }
      case 'project': {
        const below = node.columns.some(({ bound }) => hasOuter(bound)) ? undefined : visit(node.input);
        if (below === undefined) return undefined;
        const { relation: input, correlations, emptyRow } = below;
        const added = new Added(node.columns);
        const kept = correlations.map((each) => ({ ...each, inner: added.column(each.inner) }));
        const others = below.others.map((part) => transform(part, (each) => (each.kind === 'column' ? added.column(each) : undefined)));
        const emptied =
          emptyRow === null
            ? null
            : new Map(
                node.columns.map(({ name, bound }) => [
                  name,
                  folded(
                    substitute(bound, (inner) => emptyRow.get(inner)),
                    session,
                    query.at,
                  ),
                ]),
              );
        return { relation: { ...node, input, columns: added.projected() }, correlations: kept, others, emptyRow: emptied };
      }
      case 'aggregate': {
        const parts = [...node.keys.map(({ bound }) => bound), ...node.aggregates.flatMap(({ operands, filter }) => [...operands, filter])];
        const below = parts.some((part) => part !== null && hasOuter(part)) ? undefined : visit(node.input);
        if (below === undefined || below.emptyRow !== null || below.others.length > 0) return undefined;
        const { relation: input, correlations } = below;
        if (correlations.some(({ operator }) => operator !== '=')) return undefined;
        const added = new Added(node.keys);
        const kept = correlations.map((each) => ({ ...each, inner: added.column(each.inner) }));
        const empty = new Map(node.aggregates.map((aggregate) => [aggregate.name, valueOfNoRows(aggregate)]));
        return {
          relation: { ...node, input, keys: added.columns },
          correlations: kept,
          others: [],
          emptyRow: node.keys.length === 0 ? empty : null,
        };
      }
      case 'sort':
        // Without a limit around it the order of a subquery means nothing.
        return visit(node.input);
      case 'join': {
        if (node.type !== 'inner') {
          const own = node.type === 'left' || !putsOutRight(node);
          const left =
            own && !isCorrelated(node.right) && !(node.condition !== null && hasOuter(node.condition)) ? visit(node.left) : undefined;
          return left === undefined || left.emptyRow !== null ? undefined : { ...left, relation: { ...node, left: left.relation } };
        }
        const [left, right] = [visit(node.left), visit(node.right)];
        if (left === undefined || right === undefined || left.emptyRow !== null || right.emptyRow !== null) return undefined;
        const own = conjuncts(node.condition).filter((part) => !hasOuter(part));
        const { correlations, others } = split(node.condition);
        const prefixed = (bound: Bound): Bound =>
          transform(bound, (part) => (part.kind === 'column' ? column(part.type, node.prefix + part.name) : undefined));
        return {
          relation: { ...node, left: left.relation, right: right.relation, condition: conjunction(own) },
          correlations: [
            ...left.correlations,
            ...right.correlations.map((each) => ({ ...each, inner: prefixed(each.inner) })),
            ...correlations,
          ],
          others: [...left.others, ...right.others.map(prefixed), ...others],
          emptyRow: null,
        };
      }
      case 'unnest': {
        const below = hasOuter(node.array) ? undefined : visit(node.input);
        return below === undefined || below.emptyRow !== null ? undefined : { ...below, relation: { ...node, input: below.relation } };
      }
      case 'limit':
      case 'window':
      case 'union':
        return undefined;
      case 'source':
        return unchanged(node);
    }
  };
  return visit(relation);
}

/** Columns that carry correlated values up, added to those that are there. */
class Added {
  readonly columns: NamedBound[];

  constructor(columns: readonly NamedBound[]) {
    this.columns = [...columns];
  }

  column(inner: Bound): Bound {
    const found =
      inner.kind === 'column' ? this.columns.find(({ bound }) => bound.kind === 'column' && bound.name === inner.name) : undefined;
    if (found !== undefined) return column(inner.type, found.name);
    let name = `k${this.columns.length}`;
    while (this.columns.some((each) => each.name === name)) name = `_${name}`;
    this.columns.push({ name, bound: inner });
    return column(inner.type, name);
  }

  projected(): readonly ProjectedColumn[] {
    return this.columns.map(({ name, bound }) => ({ name, bound, type: settled(bound) }));
  }
}

function settled(bound: Bound): SqlType {
  return bound.type === 'NULL' ? 'VARCHAR' : bound.type;
}

function filterOf(input: Relation, parts: readonly Bound[]): Relation {
  const condition = conjunction(parts);
  return condition === null ? input : { kind: 'filter', input, condition };
}

function conjunction(parts: readonly Bound[]): Bound | null {
  const [first] = parts;
  if (first === undefined) return null;
  return parts.length === 1 ? first : { kind: 'and', type: 'BOOLEAN', operands: parts };
}

/** The parts of a condition that use values of the outer query. */
function split(condition: Bound | null): Pick<PulledUp, 'correlations' | 'others'> {
  const parts = conjuncts(condition).filter(hasOuter);
  const correlations = parts.flatMap((part) => correlation(part) ?? []);
  return { correlations, others: parts.filter((part) => correlation(part) === undefined) };
}

function isTrue(bound: Bound): boolean {
  return bound.kind === 'literal' && bound.value !== null && bound.value !== FALSE.value;
}

/** A comparison of the subquery's own columns with columns of the outer query; `undefined` for any other condition. */
function correlation(part: Bound): Correlation | undefined {
  if (part.kind !== 'compare') return undefined;
  const { operator, domain, left, right } = part;
  const isOwn = (side: Bound): boolean => !hasOuter(side);
  const isOuter = (side: Bound): boolean => hasOuter(side) && columnNames(side).size === 0;
  if (isOwn(left) && isOuter(right)) return { operator, domain, inner: left, outer: unwrapped(right) };
  if (isOwn(right) && isOuter(left)) return { operator: MIRRORED[operator], domain, inner: right, outer: unwrapped(left) };
  return undefined;
}

const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** The expression as the outer query sees it: its own columns are plain there. */
export function unwrapped(bound: Bound): Bound {
  return transform(bound, (part) => {
    if (part.kind !== 'outer') return undefined;
    if (part.depth > 1) return { ...part, depth: part.depth - 1 };
    return part.type === 'NULL' ? part.bound : retype(part.bound, part.type);
  });
}

export function isCorrelated(relation: Relation): boolean {
  switch (relation.kind) {
    case 'source':
      return false;
    case 'filter':
      return hasOuter(relation.condition) || isCorrelated(relation.input);
    case 'project':
      return relation.columns.some(({ bound }) => hasOuter(bound)) || isCorrelated(relation.input);
    case 'aggregate':
      return (
        relation.keys.some(({ bound }) => hasOuter(bound)) ||
        relation.aggregates.some(({ operands, filter }) => [...operands, filter].some((part) => part !== null && hasOuter(part))) ||
        isCorrelated(relation.input)
      );
    case 'sort':
      return relation.by.some(({ bound }) => hasOuter(bound)) || isCorrelated(relation.input);
    case 'limit':
      return isCorrelated(relation.input);
    case 'join':
      return (relation.condition !== null && hasOuter(relation.condition)) || isCorrelated(relation.left) || isCorrelated(relation.right);
    case 'window':
      return expressionsOf(relation).some(hasOuter) || isCorrelated(relation.input);
    case 'union':
      return relation.inputs.some(isCorrelated);
    case 'unnest':
      return hasOuter(relation.array) || isCorrelated(relation.input);
  }
}
