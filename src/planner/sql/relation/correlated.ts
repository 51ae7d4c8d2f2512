// Correlated subqueries: the values of the outer query that they use.

import { valueOfNoRows } from './aggregate.js';
import { and, type Bound, boundKey, call, column, conjuncts, integer, isNull, literal, retype, settledType, transform } from './bound.js';
import { isCorrelated, unwrapped } from './decorrelate.js';
import {
  type AggregateRelation,
  columnsOf,
  identity,
  type JoinRelation,
  mapInputs,
  type NamedBound,
  type ProjectedColumn,
  putsOutRight,
  type Relation,
  type RelationSortKey,
} from './relation.js';
import { mapExpressions } from './rules/map-expressions.js';
import { expressionsOf } from './rules/verify-relation.js';

/*
 * A subquery for all rows of the outer query at once: for each different combination of the values that it uses, its
 * *parameters*, the rows it gives for them, which have the parameters as further columns. The rows of the outer query then
 * find theirs by equality, in which null equals null.
 */

/** A value of the outer query, and what it is called in the rows of the subquery. */
export interface Parameter {
  readonly name: string;
  /** The value as the outer query names it. */
  readonly value: Bound;
}

/** The values of the outer query that a relation uses; `prefix`: before their names. */
export function parametersOf(relation: Relation, prefix: string): readonly Parameter[] {
  const found = new Map<string, Bound>();
  const look = (bound: Bound): void => {
    transform(bound, (part) => {
      if (part.kind === 'outer' && part.depth === 1) found.set(boundKey(part), part);
      return undefined;
    });
  };
  const visit = (node: Relation): void => {
    expressionsOf(node).forEach(look);
    mapInputs(node, (input) => {
      visit(input);
      return input;
    });
  };
  visit(relation);
  return [...found.values()].map((part, index) => ({ name: `${prefix}${index}`, value: unwrapped(part) }));
}

/** A relation that uses no value of the outer query, as a part of that query: values of others are one query nearer. */
export function oneNearer(relation: Relation): Relation {
  return mapExpressions(mapInputs(relation, oneNearer), (bound) =>
    transform(bound, (part) => (part.kind === 'outer' ? unwrapped(part) : undefined)),
  );
}

/** Rows of a subquery for every combination of its parameters. */
export class CorrelatedRows {
  readonly #parameters: readonly Parameter[];
  readonly #prefix: string;
  readonly #domain: Relation;
  readonly #meanings: ReadonlyMap<string, Bound>;

  /**
   * @param prefix   that of the parameters' names
   * @param around   rows of the outer query
   * @param rename   what an expression of the outer query is over these
   */
  constructor(parameters: readonly Parameter[], prefix: string, around: Relation, rename: (bound: Bound) => Bound) {
    this.#parameters = parameters;
    this.#prefix = prefix;
    const keys = parameters.map(({ name, value }): NamedBound => ({ name: name.slice(prefix.length), bound: rename(value) }));
    this.#domain = { kind: 'aggregate', input: around, keys, aggregates: [] };
    this.#meanings = new Map(parameters.map(({ name, value }) => [boundKey(value), column(settledType(value.type), name)]));
  }

  /** The relation's columns, and the parameters, in any order. */
  of(relation: Relation): Relation {
    if (!isCorrelated(relation)) return this.#beside(relation);
    switch (relation.kind) {
      case 'source':
        return this.#beside(relation);
      case 'filter':
      case 'unnest':
        return this.#resolved({ ...relation, input: this.of(relation.input) });
      case 'project':
        return this.#resolved({ ...relation, input: this.of(relation.input), columns: [...relation.columns, ...this.#columns()] });
      case 'sort':
        // Without a limit around it the order of a subquery means nothing.
        return this.of(relation.input);
      case 'limit':
        return this.#limited(relation.input, relation.offset, relation.limit);
      case 'window': {
        const partition = [...relation.partition, ...this.#columns().map(({ bound }) => bound)];
        return this.#resolved({ ...relation, input: this.of(relation.input), partition });
      }
      case 'union': {
        const columns = columnsOf(relation);
        const inputs = relation.inputs.map(
          (input): Relation => ({ kind: 'project', input: this.of(input), columns: [...identity(columns), ...this.#columns()] }),
        );
        return { ...relation, inputs };
      }
      case 'aggregate':
        return relation.keys.length === 0 ? this.#always(relation) : this.#grouped(relation);
      case 'join':
        return this.#joined(relation);
    }
  }

  /** Conditions that rows of the outer query and of the subquery have the same parameters. */
  matches(): readonly Bound[] {
    return this.#parameters.flatMap(({ name, value }) => same(outerOf(value), column(settledType(value.type), name)));
  }

  #columns(): readonly ProjectedColumn[] {
    return this.#parameters.map(({ name, value }) => {
      const type = settledType(value.type);
      return { name, type, bound: column(type, name) };
    });
  }

  /** Every row for every combination. */
  #beside(relation: Relation): Relation {
    return { kind: 'join', type: 'inner', left: relation, right: this.#domain, prefix: this.#prefix, condition: null };
  }

  /** The node with parameters in place of values of the outer query. */
  #resolved(node: Relation): Relation {
    return mapExpressions(node, (bound) => this.#resolve(bound));
  }

  #resolve(bound: Bound): Bound {
    return transform(bound, (part) =>
      part.kind !== 'outer' ? undefined : part.depth === 1 ? this.#meanings.get(boundKey(unwrapped(part))) : unwrapped(part),
    );
  }

  #grouped(relation: AggregateRelation): Relation {
    const keys = [...relation.keys, ...this.#columns().map(({ name, bound }) => ({ name, bound }))];
    return this.#resolved({ ...relation, input: this.of(relation.input), keys });
  }

  /** An aggregation without keys has a row for every combination, also where it has no rows. */
  #always(relation: AggregateRelation): Relation {
    const right = this.#grouped({ ...relation, aggregates: [...relation.aggregates, ROWS] });
    const prefix = `${this.#prefix}g.`;
    const left: Relation = {
      kind: 'project',
      input: this.#domain,
      columns: this.#columns().map((each) => ({ ...each, bound: column(each.type, each.name.slice(this.#prefix.length)) })),
    };
    const condition = and(this.#columns().flatMap(({ bound, name, type }) => same(bound, column(type, prefix + name))));
    const isEmpty = isNull(column('BIGINT', prefix + ROWS.name));
    const columns = relation.aggregates.map((aggregate): ProjectedColumn => {
      const { name, type } = aggregate;
      const [value, none] = [column(type, prefix + name), valueOfNoRows(aggregate)];
      return { name, type, bound: none.value === null ? value : call(type, 'case_searched', isEmpty, none, value) };
    });
    return {
      kind: 'project',
      input: { kind: 'join', type: 'left', left, right, prefix, condition },
      columns: [...columns, ...this.#columns()],
    };
  }

  /** Limits the rows of each combination to `limit`, the first ones in the order if there is one. */
  #limited(input: Relation, offset: number, limit: number | null): Relation {
    const [rows, by]: readonly [Relation, readonly RelationSortKey[]] = input.kind === 'sort' ? [input.input, input.by] : [input, []];
    const place = `${this.#prefix}place`;
    const numbered: Relation = {
      kind: 'window',
      input: this.of(rows),
      partition: this.#columns().map(({ bound }) => bound),
      order: by.map((key) => ({ ...key, bound: this.#resolve(key.bound) })),
      functions: [{ name: place, type: 'BIGINT', call: { kind: 'rowNumber' }, operands: [], filter: null, frame: WHOLE }],
    };
    const compared = (operator: '>' | '<=', right: number): Bound => ({
      kind: 'compare',
      type: 'BOOLEAN',
      operator,
      domain: 'BIGINT',
      left: column('BIGINT', place),
      right: integer(right),
    });
    const conditions = [...(offset > 0 ? [compared('>', offset)] : []), ...(limit === null ? [] : [compared('<=', offset + limit)])];
    const kept: Relation = conditions.length === 0 ? numbered : { kind: 'filter', input: numbered, condition: and(conditions) };
    return { kind: 'project', input: kept, columns: [...identity(columnsOf(rows)), ...this.#columns()] };
  }

  /** A side has parameters where it, or what it must keep rows for, uses them; where both have, they are the same. */
  #joined(join: JoinRelation): Relation {
    const { type, prefix } = join;
    const ofRight = isCorrelated(join.right);
    const ofLeft = isCorrelated(join.left) || type !== 'inner' || !ofRight;
    const needsRight = ofRight || type === 'right' || type === 'full';
    const [left, right] = [ofLeft ? this.of(join.left) : join.left, needsRight ? this.of(join.right) : join.right];
    const own = this.#columns();
    const equal = ofLeft && needsRight ? own.flatMap(({ bound, name, type: each }) => same(bound, column(each, prefix + name))) : [];
    const parts = [...conjuncts(join.condition === null ? null : this.#resolve(join.condition)), ...equal];
    const condition = parts.length === 0 ? null : and(parts);
    const inRight = (bound: Bound): Bound => (!ofLeft && ofRight ? this.#inRight(bound, prefix) : bound);
    const node: JoinRelation = { ...join, left, right, condition: condition === null ? null : inRight(condition) };
    if (!needsRight || !putsOutRight(join)) return node;
    const parameters = own.map((each): ProjectedColumn => {
      const ofTheRight = column(each.type, prefix + each.name);
      if (!ofLeft || type === 'right') return { ...each, bound: ofTheRight };
      return type === 'full' ? { ...each, bound: call(each.type, 'nvl', each.bound, ofTheRight) } : each;
    });
    return { kind: 'project', input: node, columns: [...identity(columnsOf(join)), ...parameters] };
  }

  /** Parameters are the right side's. */
  #inRight(bound: Bound, prefix: string): Bound {
    const names = new Set(this.#parameters.map(({ name }) => name));
    return transform(bound, (part) => (part.kind === 'column' && names.has(part.name) ? column(part.type, prefix + part.name) : undefined));
  }
}

const WHOLE = { unit: 'rows', start: 'unbounded', end: 'unbounded', exclude: null } as const;

const ROWS = { kind: 'count', name: 'rows of the parameters', operands: [], filter: null, type: 'BIGINT' } as const;

function outerOf(value: Bound): Bound {
  return { kind: 'outer', type: value.type, bound: value, depth: 1 };
}

/** Equality in which null equals null, as keys of a join. */
function same(left: Bound, right: Bound): readonly Bound[] {
  const type = settledType(right.type);
  const domain = type === 'BOOLEAN' || type === 'INTEGER' ? 'BIGINT' : type;
  const some = literal(type, type === 'VARCHAR' ? '' : type === 'DOUBLE' || type === 'FLOAT' || type === 'DECIMAL' ? 0 : 0n);
  const value = (bound: Bound): Bound => call(type, 'nvl', bound, some);
  const missing = (bound: Bound): Bound => retype(isNull(bound), 'BIGINT');
  const equal = (one: Bound, other: Bound, as: typeof domain): Bound => ({
    kind: 'compare',
    type: 'BOOLEAN',
    operator: '=',
    domain: as,
    left: one,
    right: other,
  });
  return [equal(value(left), value(right), domain), equal(missing(left), missing(right), 'BIGINT')];
}
