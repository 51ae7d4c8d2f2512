import type { Place } from './bind-expression.js';
import type { Binding } from './bind-from.js';
import { bindQuery } from './bind-query.js';
import { and, type Bound, call, column, integer, isNull, literal, NULL, not, or, outer, retype, TRUE, transform } from './bound.js';
import { compare } from './comparison.js';
import { type Correlation, isCorrelated, pullUp } from './decorrelate.js';
import { describe } from './function-call.js';
import type { NamedAggregate, NamedBound, ProjectRelation, Relation } from './relation.js';
import { isInstant, isNumeric } from './sql-type.js';
import type { CompareOperator, SqlExpression, SqlQuery } from './syntax.js';

/** A subquery as rows to be joined to those of the query around it, of which each finds at most one. */
interface Attachment {
  readonly prefix: string;
  readonly right: Relation;
  readonly correlations: readonly Correlation[];
}

/** What expressions with subqueries ask for; the subqueries of one clause are joined to its rows before it is computed. */
export class Subqueries {
  private readonly binding: Binding;
  private readonly attachments: Attachment[] = [];

  constructor(binding: Binding) {
    this.binding = binding;
  }

  /** Columns of attached subqueries are there whatever the query is grouped by. */
  provides(name: string): boolean {
    return this.attachments.some(({ prefix }) => name.startsWith(prefix));
  }

  /** `rename`: what expressions over the original rows are over these rows. */
  attach(relation: Relation, rename: (bound: Bound) => Bound): Relation {
    return this.attachments.reduce<Relation>((left, { prefix, right, correlations }) => {
      const conditions = correlations.map(
        ({ operator, domain, inner, outer: value }): Bound => ({
          kind: 'compare',
          type: 'BOOLEAN',
          operator,
          domain,
          left: rename(value),
          right: prefixedColumn(inner, prefix),
        }),
      );
      return { kind: 'join', left, right, prefix, type: 'left', condition: conditions.length === 0 ? null : and(conditions) };
    }, relation);
  }

  /** A query of one column that is known to give at most one row, as a value: null when it gives none. */
  scalar(place: Place, query: SqlQuery): Bound {
    const { source } = place.session;
    const relation = this.bind(place, query);
    const [only, second] = relation.columns;
    if (only === undefined || second !== undefined)
      throw source.error('sql_plan_invalid', query.at, `a subquery as a value has one column, found ${relation.columns.length}`);
    if (!givesOneRow(relation))
      throw source.unsupported(query.at, 'a subquery as a value that may give several rows; aggregate it, or give it LIMIT 1');
    const { relation: right, correlations, emptyRow } = pullUp(place.session, query, relation);
    if (correlations.some(({ operator }) => operator !== '='))
      throw source.unsupported(query.at, 'a subquery as a value that compares with the query around it by anything but equality');
    const prefix = this.add(right, correlations);
    const value = column(only.type, prefix + only.name);
    const empty = emptyRow?.get(only.name);
    const [first] = correlations;
    if (empty === undefined || first === undefined || (empty.kind === 'literal' && empty.value === null)) return value;
    return call(only.type, 'case_searched', isNull(prefixedColumn(first.inner, prefix)), empty, value);
  }

  exists(place: Place, query: SqlQuery): Bound {
    const relation = this.bind(place, query);
    const body: Relation = isCorrelated(relation) ? withoutEnd(relation) : relation;
    const { relation: right, correlations, emptyRow } = pullUp(place.session, query, body);
    if (emptyRow !== null)
      throw place.session.source.unsupported(query.at, 'EXISTS of a correlated aggregate without GROUP BY, which always gives a row');
    return this.matched(place, query, right, correlations);
  }

  /** `positive`: false and unknown are the same where it stands. */
  in(place: Place, expression: Extract<SqlExpression, { kind: 'inQuery' }>, operands: readonly Bound[], positive: boolean): Bound {
    const { session } = place;
    const { query } = expression;
    const relation = this.bind(place, query);
    if (relation.columns.length !== operands.length)
      throw session.source.error(
        'sql_plan_invalid',
        query.at,
        `IN compares ${operands.length} values with the ${relation.columns.length} columns of the subquery`,
      );
    const { relation: right, correlations, emptyRow } = pullUp(session, query, relation);
    if (emptyRow !== null) throw session.source.unsupported(query.at, 'IN of a correlated aggregate without GROUP BY');
    const equalities = operands.map((operand, index): Correlation => {
      const own = relation.columns[index];
      if (own === undefined) throw session.source.error('internal', query.at, 'a column of IN was lost');
      const equal = compare(session, expression.at, '=', outer(operand, 1), column(own.type, own.name));
      if (equal.kind !== 'compare') throw session.source.error('internal', query.at, 'a comparison became something else');
      return { operator: '=', domain: equal.domain, inner: equal.right, outer: stripped(equal.left) };
    });
    const found = this.matched(place, query, right, [...equalities, ...correlations]);
    if (positive) return found;
    return this.threeValued(place, query, { found, right, equalities, correlations });
  }

  /**
   * IN is unknown, not false, when the value is null, or nothing equals it but there is a null among the rows; unless there
   * are no rows at all. So these are counted.
   */
  private threeValued(
    place: Place,
    query: SqlQuery,
    {
      found,
      right,
      equalities,
      correlations,
    }: {
      readonly found: Bound;
      readonly right: Relation;
      readonly equalities: readonly Correlation[];
      readonly correlations: readonly Correlation[];
    },
  ): Bound {
    const { source } = place.session;
    if (correlations.some(({ operator }) => operator !== '='))
      throw source.unsupported(query.at, 'NOT IN of a subquery that compares with the query around it by anything but equality');
    if (equalities.length > 1) throw source.unsupported(query.at, 'NOT IN, or IN as a value, of rows of several columns');
    const [equality] = equalities;
    if (equality === undefined) throw source.error('internal', query.at, 'IN without a value');
    const keys = correlations.map(({ inner }, index): NamedBound => ({ name: `k${index}`, bound: inner }));
    const count = (name: string, filter: Bound | null): NamedAggregate => ({ kind: 'count', name, operands: [], filter, type: 'BIGINT' });
    const counted: Relation = {
      kind: 'aggregate',
      input: right,
      keys,
      aggregates: [count('rows', null), count('values', not(isNull(equality.inner)))],
    };
    const prefix = this.add(
      counted,
      correlations.map((each, index) => ({ ...each, inner: column(each.inner.type, `k${index}`) })),
    );
    const [rows, values] = [column('BIGINT', `${prefix}rows`), column('BIGINT', `${prefix}values`)];
    const none = or([isNull(rows), comparison('=', rows, integer(0))]);
    const unknown = or([isNull(equality.outer), comparison('<', values, rows)]);
    const FALSE = literal('BOOLEAN', 0n);
    return call('BOOLEAN', 'case_searched', found, TRUE, none, FALSE, unknown, NULL, FALSE);
  }

  /** Whether a row of `right` meets all of the correlations. */
  private matched(place: Place, query: SqlQuery, right: Relation, correlations: readonly Correlation[]): Bound {
    if (correlations.length === 0) {
      const one: NamedAggregate = { kind: 'count', name: 'rows', operands: [], filter: null, type: 'BIGINT' };
      const limited: Relation = { kind: 'limit', input: right, offset: 0, limit: 1 };
      const prefix = this.add({ kind: 'aggregate', input: limited, keys: [], aggregates: [one] }, []);
      return comparison('>', column('BIGINT', `${prefix}rows`), integer(0));
    }
    const equal = correlations.filter(({ operator }) => operator === '=');
    const [other, second] = correlations.filter(({ operator }) => operator !== '=');
    if (second !== undefined)
      throw place.session.source.unsupported(query.at, 'a subquery that compares with the query around it by several inequalities');
    const keys = equal.map(({ inner }, index): NamedBound => ({ name: `k${index}`, bound: inner }));
    const keyed = equal.map((each, index) => ({ ...each, inner: column(each.inner.type, `k${index}`) }));
    if (other === undefined) {
      const prefix = this.add({ kind: 'aggregate', input: right, keys, aggregates: [] }, keyed);
      return not(isNull(column(equal[0]?.inner.type ?? 'VARCHAR', `${prefix}k0`)));
    }
    return this.beyond(place, query, { right, keys, keyed, other });
  }

  /** A row with the same keys and a value below (above, other than) one exists when the smallest (largest, either) is. */
  private beyond(
    place: Place,
    query: SqlQuery,
    {
      right,
      keys,
      keyed,
      other,
    }: {
      readonly right: Relation;
      readonly keys: readonly NamedBound[];
      readonly keyed: readonly Correlation[];
      readonly other: Correlation;
    },
  ): Bound {
    const { inner, domain, outer: value, operator } = other;
    if (inner.type === 'NULL' || (!isNumeric(inner.type) && !isInstant(inner.type)))
      throw place.session.source.unsupported(
        query.at,
        `a subquery that compares its ${describe(inner)} with the query around it by anything but equality`,
      );
    const type = inner.type;
    const extreme = (kind: 'min' | 'max'): NamedAggregate => ({ kind, name: kind, operands: [inner], filter: null, type });
    const prefix = this.add({ kind: 'aggregate', input: right, keys, aggregates: [extreme('min'), extreme('max')] }, keyed);
    const test = (name: 'min' | 'max'): Bound => ({
      kind: 'compare',
      type: 'BOOLEAN',
      operator,
      domain,
      left: column(type, prefix + name),
      right: value,
    });
    const holds = operator === '<>' ? or([test('min'), test('max')]) : test(operator === '<' || operator === '<=' ? 'min' : 'max');
    // Of no rows the extremes are null: that is false, not unknown.
    return call('BOOLEAN', 'istrue', holds);
  }

  private bind(place: Place, query: SqlQuery): ProjectRelation {
    this.binding.session.numbers.next();
    return bindQuery(this.binding, query, place.scope).relation;
  }

  private add(right: Relation, correlations: readonly Correlation[]): string {
    const prefix = `$q${this.binding.session.numbers.next()}.`;
    this.attachments.push({ prefix, right, correlations });
    return prefix;
  }
}

function comparison(operator: CompareOperator, left: Bound, right: Bound): Bound {
  return { kind: 'compare', type: 'BOOLEAN', operator, domain: 'BIGINT', left, right };
}

function prefixedColumn(bound: Bound, prefix: string): Bound {
  return transform(bound, (part) => (part.kind === 'column' ? column(part.type, prefix + part.name) : undefined));
}

/** Marked as a value of the query around only so that it could be told from columns of the same name. */
function stripped(bound: Bound): Bound {
  return transform(bound, (part) =>
    part.kind !== 'outer' ? undefined : part.type === 'NULL' ? part.bound : retype(part.bound, part.type),
  );
}

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
      return givesOneRow(relation.left) && givesOneRow(relation.right);
    default:
      return false;
  }
}
