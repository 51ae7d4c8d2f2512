import type { SqlType } from '../../model/statement.js';
import { type Bound, column, columnNames, conjuncts, FALSE, hasOuter, literal, retype, substitute, transform } from './bound.js';
import { folded } from './function-call.js';
import type { NamedBound, ProjectedColumn, Relation } from './relation.js';
import { expressionsOf } from './rules/verify-relation.js';
import type { Session } from './session.js';
import type { CompareOperator, SqlQuery } from './syntax.js';

/** A comparison of a subquery's column with a value of the query around it, in the type both are compared in. */
export interface Correlation {
  readonly operator: CompareOperator;
  readonly domain: SqlType;
  /** Over the columns of the subquery. */
  readonly inner: Bound;
  /** Over the columns of the query around. */
  readonly outer: Bound;
}

export interface PulledUp {
  readonly relation: Relation;
  readonly correlations: readonly Correlation[];
  /**
   * An aggregation without keys gives a row even over no rows; once it is grouped by the correlated columns that row is
   * missing: these would be its values. null: no row over no rows.
   */
  readonly emptyRow: ReadonlyMap<string, Bound> | null;
}

/**
 * Takes the conditions that compare with the query around out of a subquery, so that they can become those of a join.
 * @throws ServiceError `unsupported` for correlations that are no such comparisons, or stand where they cannot leave from
 */
export function pullUp(session: Session, query: SqlQuery, relation: Relation): PulledUp {
  const refuse = (where: string): Error =>
    session.source.unsupported(query.at, `a subquery that uses columns of the query around it ${where}`);
  const unchanged = (whole: Relation): PulledUp => ({ relation: whole, correlations: [], emptyRow: null });
  const visit = (node: Relation): PulledUp => {
    if (!isCorrelated(node)) return unchanged(node);
    switch (node.kind) {
      case 'filter': {
        const below = visit(node.input);
        const own = conjuncts(node.condition).filter((part) => !hasOuter(part));
        const correlations = conjuncts(node.condition)
          .filter(hasOuter)
          .map((part) => correlation(part) ?? refuseWith(refuse('in anything but comparisons with its own')));
        const kept = own.length === 0 ? below.relation : filterOf(below.relation, own);
        if (below.emptyRow === null) return { relation: kept, correlations: [...below.correlations, ...correlations], emptyRow: null };
        if (correlations.length > 0) throw refuse('in HAVING');
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
        return { relation: kept, correlations: below.correlations, emptyRow: passes ? emptyRow : null };
      }
      case 'project': {
        if (node.columns.some(({ bound }) => hasOuter(bound))) throw refuse('in its SELECT');
        const { relation: input, correlations, emptyRow } = visit(node.input);
        const added = new Added(node.columns);
        const kept = correlations.map((each) => ({ ...each, inner: added.column(each.inner) }));
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
        return { relation: { ...node, input, columns: added.projected() }, correlations: kept, emptyRow: emptied };
      }
      case 'aggregate': {
        const parts = [...node.keys.map(({ bound }) => bound), ...node.aggregates.flatMap(({ operands, filter }) => [...operands, filter])];
        if (parts.some((part) => part !== null && hasOuter(part))) throw refuse('in its aggregates');
        const { relation: input, correlations, emptyRow } = visit(node.input);
        if (emptyRow !== null || correlations.some(({ operator }) => operator !== '=')) throw refuse('by anything but equality');
        const added = new Added(node.keys);
        const kept = correlations.map((each) => ({ ...each, inner: added.column(each.inner) }));
        const empty = new Map(
          node.aggregates.map(({ name, kind, type, fold }) => [
            name,
            kind === 'count' || (kind === 'distinct' && fold === undefined) ? literal(type, 0n) : literal(type, null),
          ]),
        );
        return {
          relation: { ...node, input, keys: added.columns },
          correlations: kept,
          emptyRow: node.keys.length === 0 ? empty : null,
        };
      }
      case 'sort':
        // Without a limit around it the order of a subquery means nothing.
        return visit(node.input);
      case 'limit':
        throw refuse('under a LIMIT');
      case 'join': {
        if (node.condition !== null && hasOuter(node.condition) && node.type !== 'inner') throw refuse('in the ON of an outer join');
        if (isCorrelated(node.right) && node.type !== 'inner') throw refuse('on a side of an outer join');
        if (isCorrelated(node.left) && (node.type === 'right' || node.type === 'full')) throw refuse('on a side of an outer join');
        const left = visit(node.left);
        const right = visit(node.right);
        if (left.emptyRow !== null || right.emptyRow !== null) throw refuse('below a join of aggregates');
        const own = conjuncts(node.condition).filter((part) => !hasOuter(part));
        const others = conjuncts(node.condition)
          .filter(hasOuter)
          .map((part) => correlation(part) ?? refuseWith(refuse('in anything but comparisons with its own')));
        const prefixed = right.correlations.map((each) => ({
          ...each,
          inner: transform(each.inner, (part) => (part.kind === 'column' ? column(part.type, node.prefix + part.name) : undefined)),
        }));
        const joined: Relation = { ...node, left: left.relation, right: right.relation, condition: conjunction(own) };
        return { relation: joined, correlations: [...left.correlations, ...prefixed, ...others], emptyRow: null };
      }
      case 'unnest': {
        if (hasOuter(node.array)) throw refuse('in UNNEST');
        const { relation: input, correlations, emptyRow } = visit(node.input);
        if (emptyRow !== null) throw refuse('below UNNEST');
        return { relation: { ...node, input }, correlations, emptyRow: null };
      }
      case 'window':
        throw refuse('below a window function');
      case 'union':
        throw refuse('inside of a set operation');
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

function refuseWith(error: Error): never {
  throw error;
}

function isTrue(bound: Bound): boolean {
  return bound.kind === 'literal' && bound.value !== null && bound.value !== FALSE.value;
}

/** A comparison of the subquery's own columns with columns of the query around; `undefined` for any other condition. */
function correlation(part: Bound): Correlation | undefined {
  if (part.kind !== 'compare') return undefined;
  const { operator, domain, left, right } = part;
  const isOwn = (side: Bound): boolean => !hasOuter(side);
  const isOuter = (side: Bound): boolean => hasOuter(side) && columnNames(side).size === 0;
  if (isOwn(left) && isOuter(right)) return { operator, domain, inner: left, outer: inner(right) };
  if (isOwn(right) && isOuter(left)) return { operator: MIRRORED[operator], domain, inner: right, outer: inner(left) };
  return undefined;
}

const MIRRORED: Readonly<Record<CompareOperator, CompareOperator>> = { '=': '=', '<>': '<>', '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

/** As the query around sees the expression: its own columns are plain there. */
function inner(bound: Bound): Bound {
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
