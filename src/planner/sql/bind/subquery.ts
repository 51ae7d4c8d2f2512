// Binds subqueries in expressions, as joins.

import { isArray, isComplex, nativeType } from '../parse/sql-type.js';
import type { CompareOperator, SqlExpression, SqlQuery } from '../parse/syntax.js';
import {
  and,
  type Bound,
  call,
  column,
  integer,
  isNull,
  literal,
  NULL,
  not,
  or,
  outer,
  settledType,
  TRUE,
  transform,
} from '../relation/bound.js';
import { CorrelatedRows, oneNearer, parametersOf } from '../relation/correlated.js';
import { type Correlation, isCorrelated, pullUp, unwrapped } from '../relation/decorrelate.js';
import type { JoinRelation, NamedAggregate, NamedBound, ProjectRelation, Relation } from '../relation/relation.js';
import type { Binding } from './binding.js';
import { compare } from './comparison.js';
import type { Place } from './expression/place.js';
import { describe } from './function-call.js';

/** Parts of a join with a subquery. Conditions use its columns and, marked as such, values of the outer query. */
interface Joined {
  readonly right: Relation;
  readonly conditions: readonly Bound[];
}

/** A subquery as rows to be joined to those of the outer query, of which each finds at most one, or is marked. */
interface Attachment {
  readonly prefix: string;
  /** null: each row finds at most one, whose columns it gets. */
  readonly mark: string | null;
  /** Joins the subquery to rows of the outer query; `rename` turns its expressions into expressions over these. */
  join(left: Relation, rename: (bound: Bound) => Bound): Joined;
}

/** A subquery whose uses of values of the outer query have left it. */
interface Parted {
  readonly correlations: readonly Correlation[];
  readonly others: readonly Bound[];
  readonly emptyRow: ReadonlyMap<string, Bound> | null;
  /** Joins the rows of the subquery, and further conditions on them. */
  join: Attachment['join'];
  /** The rows, where they are the same whatever is around. */
  readonly right: Relation | null;
}

/** Subqueries of one clause, which are joined to its rows before the clause is computed. */
export class Subqueries {
  readonly #binding: Binding;
  readonly #attachments: Attachment[] = [];

  constructor(binding: Binding) {
    this.#binding = binding;
  }

  /** Columns of attached subqueries are there whatever the query is grouped by. */
  provides(name: string): boolean {
    return this.#attachments.some(({ prefix, mark }) => name === mark || name.startsWith(prefix));
  }

  get isEmpty(): boolean {
    return this.#attachments.length === 0;
  }

  /** `rename`: what expressions over the original rows are over these rows. */
  attach(relation: Relation, rename: (bound: Bound) => Bound): Relation {
    return this.#attachments.reduce<Relation>((left, { prefix, mark, join }) => {
      const { right, conditions } = join(left, rename);
      const parts = conditions.map((part) =>
        transform(part, (each) =>
          each.kind === 'outer' ? rename(unwrapped(each)) : each.kind === 'column' ? column(each.type, prefix + each.name) : undefined,
        ),
      );
      const rest = { kind: 'join', left, right, prefix, condition: parts.length === 0 ? null : and(parts) } as const;
      return mark === null ? { ...rest, type: 'left' } : ({ ...rest, type: 'mark', mark } satisfies JoinRelation);
    }, relation);
  }

  /** A query of one column as a value: null when it gives no row. More than one is an error when the value is computed. */
  scalar(place: Place, query: SqlQuery): Bound {
    const { source } = place.session;
    const bound = this.#bind(place, query);
    const [only, second] = bound.columns;
    if (only === undefined || second !== undefined)
      throw source.error('sql_plan_invalid', query.at, `a subquery as a value has one column, found ${bound.columns.length}`);
    const relation = givesOneRow(bound) ? bound : ofOneRow(bound, only);
    const pulled = this.#part(place, query, relation);
    const isPlain = pulled.others.length === 0 && pulled.correlations.every(({ operator }) => operator === '=');
    const { correlations, emptyRow, join } = isPlain ? pulled : this.#correlated(place, query, relation);
    const prefix = this.#add(null, (left, rename) => withCorrelations(join(left, rename), correlations, []));
    const value = column(only.type, prefix + only.name);
    const empty = emptyRow?.get(only.name);
    const [first] = correlations;
    if (empty === undefined || first === undefined || (empty.kind === 'literal' && empty.value === null)) return value;
    return call(only.type, 'case_searched', isNull(prefixedColumn(first.inner, prefix)), empty, value);
  }

  exists(place: Place, query: SqlQuery): Bound {
    const relation = this.#bind(place, query);
    const body: Relation = isCorrelated(relation) ? withoutEnd(relation) : relation;
    const pulled = this.#part(place, query, body);
    const parted = pulled.emptyRow === null ? pulled : this.#correlated(place, query, body);
    return this.#matched(parted, []);
  }

  /** `operand operator ANY (query)`; `positive`: false and unknown are the same where it stands. */
  in(place: Place, expression: Extract<SqlExpression, { kind: 'inQuery' }>, operands: readonly Bound[], positive: boolean): Bound {
    const { session } = place;
    const { query, operator } = expression;
    const relation = this.#bind(place, query);
    if (relation.columns.length !== operands.length)
      throw session.source.error(
        'sql_plan_invalid',
        query.at,
        `${operator === '=' ? 'IN' : operator} compares ${operands.length} values with the ${relation.columns.length} columns of the subquery`,
      );
    const comparisons = operands.map((operand, index): Bound => {
      const own = relation.columns[index];
      if (own === undefined) throw session.source.error('internal', query.at, 'a column of IN was lost');
      return compare(session, expression.at, operator, outer(operand, 1), column(own.type, own.name));
    });
    const pulled = this.#part(place, query, relation);
    const parted = pulled.emptyRow === null ? pulled : this.#correlated(place, query, relation);
    const byNumbers = operator === '=' ? undefined : this.#counted(parted, comparisons, positive);
    if (byNumbers !== undefined) return byNumbers;
    const found = this.#matched(parted, comparisons);
    if (positive) return found;
    const counted = operator === '=' ? this.#counted(parted, comparisons, positive, found) : undefined;
    return counted ?? this.#threeValued(parted, comparisons, found);
  }

  /** Such a comparison is unknown, not false, when it is true of no row, but of some row it is unknown whether it is. */
  #threeValued(parted: Parted, comparisons: readonly Bound[], found: Bound): Bound {
    const unknown = this.#matched(parted, [isNull(and(comparisons))]);
    return call('BOOLEAN', 'case_searched', found, TRUE, unknown, NULL, FALSE);
  }

  /**
   * The same by numbers of rows and nulls, where it is one value that is compared, within rows that equality finds: that the value is
   * null, or there is a null among the rows, need not be looked up in each. `found`: whether it is true of a row; left out: the
   * smallest and the largest value tell. Undefined for anything else.
   */
  #counted({ right, correlations, others }: Parted, comparisons: readonly Bound[], positive: boolean, found?: Bound): Bound | undefined {
    const [compared, second] = comparisons;
    if (right === null || second !== undefined || compared?.kind !== 'compare') return undefined;
    if (others.length > 0 || correlations.some(({ operator }) => operator !== '=')) return undefined;
    const extremes = found === undefined ? DECISIVE[compared.operator].map((kind) => extreme(kind, compared.right)) : [];
    if (extremes.some((each) => each === undefined)) return undefined;
    const keys = correlations.map(({ inner }, index): NamedBound => ({ name: `k${index}`, bound: inner }));
    const count = (name: string, filter: Bound | null): NamedAggregate => ({ kind: 'count', name, operands: [], filter, type: 'BIGINT' });
    const rowsAndValues = [count('rows', null), count('values', not(isNull(compared.right)))];
    // NaN is above every number, and left out of extremes.
    const againstNaN = isFloating(compared.right) ? AGAINST_NAN[compared.operator] : [];
    const nans = againstNaN.length === 0 ? [] : [count('nans', beside(compared.right, '>'))];
    const aggregates = [...rowsAndValues, ...nans, ...extremes.filter((each) => each !== undefined)];
    const counts: Relation = { kind: 'aggregate', input: right, keys, aggregates };
    const keyed = correlations.map((each, index) => ({ ...each, inner: column(each.inner.type, `k${index}`) }));
    const prefix = this.#add(null, () => withCorrelations({ right: counts, conditions: [] }, keyed, []));
    const [rows, values] = [column('BIGINT', `${prefix}rows`), column('BIGINT', `${prefix}values`)];
    const none = or([isNull(rows), comparison('=', rows, integer(0))]);
    const value = transform(compared.left, (part) => (part.kind === 'outer' ? unwrapped(part) : undefined));
    const unknown = or([isNull(value), comparison('<', values, rows)]);
    const byExtremes = aggregates
      .slice(rowsAndValues.length + nans.length)
      .map(({ type, name }): Bound => ({ ...compared, left: value, right: column(type, prefix + name) }));
    const isAgainstNaN = or(againstNaN.map((operator) => beside(value, operator)));
    const byNaN = nans.map(({ type, name }) => and([comparison('>', column(type, prefix + name), integer(0)), isAgainstNaN]));
    const isTrue = found ?? or([...byExtremes, ...byNaN]);
    return positive ? isTrue : call('BOOLEAN', 'case_searched', isTrue, TRUE, none, FALSE, unknown, NULL, FALSE);
  }

  /** Whether there is a row for which all conditions are true. */
  #matched(parted: Parted, conditions: readonly Bound[]): Bound {
    const { correlations, others, right } = parted;
    if (right !== null && correlations.length + others.length + conditions.length === 0) {
      const one: NamedAggregate = { kind: 'count', name: 'rows', operands: [], filter: null, type: 'BIGINT' };
      const limited: Relation = { kind: 'limit', input: right, offset: 0, limit: 1 };
      const prefix = this.#add(null, () => ({ right: { kind: 'aggregate', input: limited, keys: [], aggregates: [one] }, conditions: [] }));
      return comparison('>', column('BIGINT', `${prefix}rows`), integer(0));
    }
    const mark = `$q${this.#binding.session.numbers.next()}`;
    this.#add(mark, (left, rename) => withCorrelations(parted.join(left, rename), correlations, [...others, ...conditions]));
    return column('BOOLEAN', mark);
  }

  /** Uses of the outer query leave as conditions of the join where they can. */
  #part(place: Place, query: SqlQuery, relation: Relation): Parted {
    // Values of queries further out are a matter of the outer query.
    const pulled = isCorrelated(relation) && parametersOf(relation, '').length === 0 ? undefined : pullUp(place.session, query, relation);
    if (pulled === undefined) return this.#correlated(place, query, relation);
    const { relation: right, correlations, others, emptyRow } = pulled;
    return { correlations, others, emptyRow, right, join: () => ({ right, conditions: [] }) };
  }

  /** Rows for each combination of values of the outer query; of none, the rows as they are. */
  #correlated(place: Place, query: SqlQuery, relation: Relation): Parted {
    const prefix = `$p${this.#binding.session.numbers.next()}.`;
    const parameters = parametersOf(relation, prefix);
    const structured = parameters.find(({ value }) => isArray(value.type) || isComplex(value.type));
    if (structured !== undefined)
      throw place.session.source.unsupported(
        query.at,
        `a subquery that uses a value of the outer query other than in a comparison of its rows, when that is ${describe(structured.value)}`,
      );
    const none = { correlations: [], others: [], emptyRow: null };
    if (parameters.length === 0) {
      const right = oneNearer(relation);
      return { ...none, right, join: () => ({ right, conditions: [] }) };
    }
    const join = (left: Relation, rename: (bound: Bound) => Bound): Joined => {
      const rows = new CorrelatedRows(parameters, prefix, left, rename);
      return { right: rows.of(relation), conditions: rows.matches() };
    };
    return { ...none, right: null, join };
  }

  #bind(place: Place, query: SqlQuery): ProjectRelation {
    this.#binding.session.numbers.next();
    return this.#binding.query(this.#binding, query, place.scope).relation;
  }

  #add(mark: string | null, join: Attachment['join']): string {
    const prefix = `$q${this.#binding.session.numbers.next()}.`;
    this.#attachments.push({ prefix, mark, join });
    return prefix;
  }
}

const FALSE = literal('BOOLEAN', 0n);

/** The extremes of several values that tell whether a comparison is true of any of them. */
const DECISIVE: Readonly<Record<CompareOperator, readonly ('min' | 'max')[]>> = {
  '<': ['max'],
  '<=': ['max'],
  '>': ['min'],
  '>=': ['min'],
  '<>': ['min', 'max'],
  '=': [],
};

/** Comparisons of a value with infinity, of which one is true where that of the value with NaN is; none: it never is, or extremes are not asked. */
const AGAINST_NAN: Readonly<Record<CompareOperator, readonly ('<=' | '>')[]>> = {
  '<': ['<='],
  '<=': ['<=', '>'],
  '>': [],
  '>=': ['>'],
  '<>': ['<='],
  '=': [],
};

/** A number beside infinity: only NaN is above it. */
function beside(left: Bound, operator: '<=' | '>'): Bound {
  return { kind: 'compare', type: 'BOOLEAN', operator, domain: 'DOUBLE', left, right: literal('DOUBLE', Infinity) };
}

function isFloating({ type }: Bound): boolean {
  return ['DOUBLE', 'FLOAT'].includes(nativeType(settledType(type)));
}

/** The smallest or largest value that is not NaN; undefined where values have none. */
function extreme(kind: 'min' | 'max', operand: Bound): NamedAggregate | undefined {
  const type = settledType(operand.type);
  const common = { name: kind, operands: [operand], filter: isFloating(operand) ? beside(operand, '<=') : null, type };
  if (isArray(type) || isComplex(type)) return undefined;
  if (type !== 'VARCHAR') return { ...common, kind };
  return { ...common, kind: 'state', state: { aggregateState: { type: kind, valueType: 'STRING' }, input: 'values', output: 'value' } };
}

function withCorrelations({ right, conditions }: Joined, correlations: readonly Correlation[], others: readonly Bound[]): Joined {
  const compared = correlations.map(
    ({ operator, domain, inner, outer: value }): Bound => ({
      kind: 'compare',
      type: 'BOOLEAN',
      operator,
      domain,
      left: inner,
      right: outer(value, 1),
    }),
  );
  return { right, conditions: [...conditions, ...compared, ...others] };
}

function comparison(operator: CompareOperator, left: Bound, right: Bound): Bound {
  return { kind: 'compare', type: 'BOOLEAN', operator, domain: 'BIGINT', left, right };
}

function prefixedColumn(bound: Bound, prefix: string): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? column(part.type, prefix + part.name) : undefined));
}

/** A query that may give several rows as one that gives one: its value is an error when it stands for several. */
function ofOneRow(relation: Relation, only: ProjectRelation['columns'][number]): ProjectRelation {
  const valueType = nativeType(only.type);
  const aggregateState = { type: 'first', valueType, maxStringBytes: TEXT_BYTES_MAX } as const;
  const operands = [column(only.type, only.name)];
  const value: NamedAggregate = {
    ...{ kind: 'state', name: 'value', operands, filter: null, type: only.type },
    state: { aggregateState, input: 'values', output: 'value' },
  };
  const rows: NamedAggregate = { kind: 'count', name: 'rows', operands: [], filter: null, type: 'BIGINT' };
  const input: Relation = { kind: 'aggregate', input: relation, keys: [], aggregates: [rows, value] };
  const single = call(only.type, 'value_of_one_row', column('BIGINT', 'rows'), column(settledType(only.type), 'value'));
  return { kind: 'project', input, columns: [{ ...only, bound: single }] };
}

/** No text is cut. */
const TEXT_BYTES_MAX = 2 ** 31 - 1;

/** For EXISTS neither the columns nor the order matter, nor a limit above none. */
function withoutEnd(relation: Relation): Relation {
  if (relation.kind === 'project' || relation.kind === 'sort') return withoutEnd(relation.input);
  return relation.kind === 'limit' && relation.offset === 0 && relation.limit !== 0 ? withoutEnd(relation.input) : relation;
}

function givesOneRow(relation: Relation): boolean {
  switch (relation.kind) {
    case 'aggregate':
      return relation.keys.length === 0;
    case 'limit':
      return relation.limit === 1 || relation.limit === 0 || givesOneRow(relation.input);
    case 'project':
    case 'filter':
    case 'sort':
      return givesOneRow(relation.input);
    case 'source':
      return relation.source.kind === 'inline' && relation.source.frame.rowCount <= 1;
    case 'join':
      return (
        givesOneRow(relation.left) &&
        (relation.type === 'left' || relation.type === 'inner' ? givesOneRow(relation.right) : relation.mark !== undefined)
      );
    default:
      return false;
  }
}
