// Binds GROUP BY with its grouping sets.

import { extended } from '../../../base/names.js';
import type { GroupingElement, SqlExpression } from '../parse/syntax.js';
import { type Bound, boundKey, column, integer, literal, settledType, transform } from '../relation/bound.js';
import type { NamedAggregate, NamedBound, ProjectedColumn, Relation } from '../relation/relation.js';
import type { AggregateList } from './aggregate-list.js';
import type { Session } from './session.js';

/** Sets of one GROUP BY; more would be as many scans. */
const SETS_MAX = 256;

/** The lists of expressions that the elements of a GROUP BY together stand for, each a grouping of its own. */
export function groupingSets(session: Session, at: number, elements: readonly GroupingElement[]): readonly (readonly SqlExpression[])[] {
  const sets = elements.reduce<readonly (readonly SqlExpression[])[]>(
    (so, element) => {
      const more = setsOf(element);
      if (so.length * more.length > SETS_MAX)
        throw session.source.error('resource_limit', at, `GROUP BY makes more than ${SETS_MAX} grouping sets`);
      return so.flatMap((left) => more.map((right) => [...left, ...right]));
    },
    [[]],
  );
  return sets;
}

function setsOf(element: GroupingElement): readonly (readonly SqlExpression[])[] {
  switch (element.kind) {
    case 'expressions':
      return [element.expressions];
    case 'rollup':
      return Array.from({ length: element.parts.length + 1 }, (_, dropped) =>
        element.parts.slice(0, element.parts.length - dropped).flat(),
      );
    case 'cube': {
      if (element.parts.length > Math.log2(SETS_MAX)) return Array.from({ length: SETS_MAX + 1 }, () => []);
      const { length } = element.parts;
      return Array.from({ length: 1 << length }, (_, mask) =>
        element.parts.filter((_part, index) => (mask & (1 << (length - 1 - index))) === 0).flat(),
      );
    }
    case 'sets':
      return element.elements.flatMap(setsOf);
  }
}

/**
 * Refusal of expressions of one value, such as `n` and `FLOOR(n)` of integers, that are keys of different grouping sets: which of them a
 * set leaves null could not be told from their values.
 * @throws ServiceError `unsupported`
 */
export function refuseKeysAlike(
  session: Session,
  at: number,
  written: readonly (readonly SqlExpression[])[],
  sets: readonly (readonly Bound[])[],
): void {
  const setsByText = new Map<string, Map<string, number[]>>();
  for (const [index, set] of sets.entries())
    for (const [place, bound] of set.entries()) {
      const texts = setsByText.get(boundKey(bound)) ?? new Map<string, number[]>();
      const text = textOf(written[index]?.[place]);
      const indices = texts.get(text);
      if (indices === undefined) texts.set(text, [index]);
      else indices.push(index);
      setsByText.set(boundKey(bound), texts);
    }
  for (const texts of setsByText.values())
    if (new Set([...texts.values()].map((indices) => [...new Set(indices)].join())).size > 1)
      throw session.source.unsupported(at, 'GROUP BY with two expressions that are always equal in different grouping sets');
}

/** An expression as text, wherever it stands and whichever table its columns are said to be of. */
function textOf(expression: SqlExpression | undefined): string {
  return JSON.stringify(expression, (name, value: unknown) => {
    if (name === 'at' || name === 'end') return undefined;
    if (name === 'path' && Array.isArray(value)) return value.slice(-1);
    return typeof value === 'bigint' ? `${value}n` : value;
  });
}

/** Rows grouped, and what expressions over the rows below are in terms of the groups. */
export interface Aggregation {
  readonly relation: Relation;
  /** @throws ServiceError `sql_plan_invalid` for a column that is not a key; `otherwise`: what to say then */
  rename(bound: Bound, at: number, otherwise?: string): Bound;
}

const ROWS: NamedAggregate = { kind: 'count', name: 'rows of the set', operands: [], filter: null, type: 'BIGINT' };

/** Drops the row of the empty grouping set when there are no rows: it has one only when it is the only set. */
function ofSomeRows(input: Relation): Relation {
  const left = column('BIGINT', ROWS.name);
  return {
    kind: 'filter',
    input,
    condition: { kind: 'compare', type: 'BOOLEAN', operator: '>', domain: 'BIGINT', left, right: integer(0) },
  };
}

/** Groups rows by one set of keys, or by several, one after another. `isFree`: columns that are the same in every row. */
export function aggregation(
  session: Session,
  input: Relation,
  sets: readonly (readonly Bound[])[],
  list: AggregateList,
  isFree: (name: string) => boolean,
): Aggregation {
  const keys = new Map<string, NamedBound>();
  for (const bound of sets.flat()) {
    const key = boundKey(bound);
    if (!keys.has(key)) keys.set(key, { name: `d${keys.size}`, bound });
  }
  const named = list.aggregates.map((aggregate, index) => extended(aggregate, { name: `a${index}` }));
  const aggregates = named.filter((aggregate): aggregate is NamedAggregate => aggregate.kind !== 'grouping');
  const groupings = named.filter((aggregate) => aggregate.kind === 'grouping');
  const isPlain = sets.length === 1 && groupings.length === 0;
  const all = [...keys.values()];
  const branch = (set: readonly Bound[]): Relation => {
    if (isPlain) return { kind: 'aggregate', input, keys: all, aggregates };
    const present = new Set(set.map(boundKey));
    const grouped = all.filter(({ bound }) => present.has(boundKey(bound)));
    const aggregate: Relation = { kind: 'aggregate', input, keys: grouped, aggregates };
    const rows: Relation =
      grouped.length === 0 && sets.length > 1 ? ofSomeRows({ ...aggregate, aggregates: [...aggregates, ROWS] }) : aggregate;
    const columns: ProjectedColumn[] = [
      ...all.map(({ name, bound }): ProjectedColumn => {
        const type = settledType(bound.type);
        return { name, type, bound: grouped.some((key) => key.name === name) ? column(type, name) : literal(type, null) };
      }),
      ...aggregates.map(({ name, type }): ProjectedColumn => ({ name, type, bound: column(type, name) })),
      ...groupings.map(({ name, operands }): ProjectedColumn => {
        const bits = operands.reduce((so, operand) => so * 2n + (present.has(boundKey(operand)) ? 0n : 1n), 0n);
        return { name, type: 'BIGINT', bound: integer(bits) };
      }),
    ];
    return { kind: 'project', input: rows, columns };
  };
  const kinds = new Set(all.map(({ bound }) => bound.kind));
  const [only, second] = sets;
  const relation: Relation = only !== undefined && second === undefined ? branch(only) : { kind: 'union', inputs: sets.map(branch) };
  return {
    relation,
    rename: (bound, at, otherwise) =>
      transform(bound, (part) => {
        if (part.kind === 'aggregate') return column(part.type, named[part.index]?.name ?? '');
        const key = kinds.has(part.kind) ? keys.get(boundKey(part)) : undefined;
        if (key !== undefined) return column(part.type, key.name);
        if (part.kind === 'column' && !isFree(part.name))
          throw session.source.error(
            'sql_plan_invalid',
            at,
            otherwise ?? `column ${part.name} is neither in GROUP BY nor inside an aggregate`,
          );
        return undefined;
      }),
  };
}
