import { assert } from '../../base/errors.js';
import type { Aggregator, VirtualColumn } from '../../model/aggregator.js';
import type { Filter } from '../../model/filter.js';
import { ETERNITY } from '../../model/interval.js';
import type { FinishStep, GroupKey, Plan, SortKey } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { PlannedQuery, PlannedSource } from '../../model/statement.js';
import { extractTimeBounds } from '../rules/time-intervals.js';
import { type Bound, boundKey, settledType, toExpression } from './bound.js';
import { toFilter } from './lower-filter.js';
import type { NamedAggregate, Relation, RelationSortKey } from './relation.js';
import { nativeType } from './sql-type.js';
import { granularityOf } from './time-key.js';

type ProjectRelation = Extract<Relation, { kind: 'project' }>;

/** The bound tree taken apart into the clauses a plan has room for, in the order they apply. */
interface Clauses {
  readonly source: PlannedSource;
  readonly where: Bound | null;
  readonly aggregate: Extract<Relation, { kind: 'aggregate' }> | null;
  readonly having: Bound | null;
  readonly sort: readonly RelationSortKey[];
  readonly offset: number;
  readonly limit: number | null;
  readonly output: ProjectRelation['columns'];
}

/** Bound relational tree → the plan every server runs. */
export function lowerQuery(relation: ProjectRelation): PlannedQuery {
  const clauses = clausesOf(relation);
  const columns = clauses.output.map(({ name, type }) => ({ name, sqlType: type, nativeType: nativeType(type) }));
  const plan = clauses.aggregate === null ? scanPlan(clauses) : groupPlan(clauses, clauses.aggregate);
  return { plan, source: clauses.source, columns };
}

function clausesOf(project: ProjectRelation): Clauses {
  const clauses: { -readonly [Key in keyof Clauses]: Clauses[Key] } = {
    source: { kind: 'table', name: '' },
    where: null,
    aggregate: null,
    having: null,
    sort: [],
    offset: 0,
    limit: null,
    output: project.columns,
  };
  for (let node: Relation = project.input; ; node = node.input) {
    switch (node.kind) {
      case 'source':
        clauses.source = node.source;
        return clauses;
      case 'filter': {
        const below: Bound | null = clauses.where;
        const condition = below === null ? node.condition : ({ kind: 'and', type: 'BOOLEAN', operands: [node.condition, below] } as const);
        clauses.where = condition;
        break;
      }
      case 'aggregate':
        // The filters met so far stand above the grouping.
        clauses.having = clauses.where;
        clauses.where = null;
        clauses.aggregate = node;
        break;
      case 'sort':
        clauses.sort = node.by;
        break;
      case 'limit':
        clauses.offset = node.offset;
        clauses.limit = node.limit;
        break;
      case 'project':
        break;
    }
  }
}

/** Names for columns that a plan computes, none of them a column of the source. */
class ComputedColumns {
  readonly columns: { readonly name: string; readonly bound: Bound }[] = [];
  private readonly names = new Map<string, string>();
  private readonly prefix: string;

  constructor(prefix: string, taken: readonly Bound[]) {
    const clash = (candidate: string): boolean => taken.some((bound) => columnNames(bound).some((name) => name.startsWith(candidate)));
    let free = prefix;
    while (clash(free)) free = `_${free}`;
    this.prefix = free;
  }

  /** The column an expression is: the one it names, or one that is computed, each expression once. */
  nameOf(bound: Bound): string {
    if (bound.kind === 'column') return bound.name;
    const key = boundKey(bound);
    let name = this.names.get(key);
    if (name === undefined) {
      name = `${this.prefix}${this.columns.length}`;
      this.names.set(key, name);
      this.columns.push({ name, bound });
    }
    return name;
  }

  asVirtualColumns(): readonly VirtualColumn[] {
    return this.columns.map(({ name, bound }) => ({
      name,
      expression: toExpression(bound),
      outputType: nativeType(settledType(bound.type)),
    }));
  }
}

function columnNames(bound: Bound): readonly string[] {
  const names: string[] = [];
  const visit = (part: Bound): void => {
    if (part.kind === 'column') names.push(part.name);
    else if (part.kind === 'call') part.arguments.forEach(visit);
    else if (part.kind === 'and' || part.kind === 'or') part.operands.forEach(visit);
    else if (part.kind === 'compare') [part.left, part.right].forEach(visit);
    else if (part.kind === 'not' || part.kind === 'in' || part.kind === 'isNull' || part.kind === 'like') visit(part.operand);
  };
  visit(bound);
  return names;
}

/** Only rows of a datasource are sorted by time and cut by intervals. */
function leaf(clauses: Clauses): Pick<Plan, 'dataSource' | 'intervals' | 'filter'> {
  const filter: Filter | null = clauses.where === null ? null : toFilter(clauses.where);
  if (clauses.source.kind !== 'table') return { dataSource: '', intervals: [ETERNITY], filter };
  const { intervals, rest } = extractTimeBounds(filter);
  return { dataSource: clauses.source.name, intervals, filter: rest };
}

function scanPlan(clauses: Clauses): Plan {
  const { sort, output, offset, limit } = clauses;
  const virtual = new ComputedColumns('v', [...output, ...sort].map(({ bound }) => bound).concat(clauses.where ?? []));
  const wanted = output.map(({ name, bound }) => ({ name, from: virtual.nameOf(bound) }));
  const [first] = sort;
  const byTime =
    clauses.source.kind === 'table' && sort.length === 1 && first?.bound.kind === 'column' && first.bound.name === TIME_COLUMN
      ? first
      : undefined;
  const by = byTime === undefined ? sort.map((key) => sortKey(virtual.nameOf(key.bound), key)) : [];
  const finish: FinishStep[] = by.length === 0 ? [] : [{ step: 'sort', by, offset, limit }];
  const columns = [...new Set([...wanted.map(({ from }) => from), ...by.map(({ column }) => column)])];
  return {
    operator: 'scan',
    ...leaf(clauses),
    virtualColumns: virtual.asVirtualColumns(),
    columns,
    timeOrder: byTime === undefined ? null : byTime.descending ? 'descending' : 'ascending',
    offset: by.length === 0 ? offset : 0,
    limit: by.length === 0 ? limit : null,
    finish: [...finish, ...projection(columns, wanted)],
  };
}

function groupPlan(clauses: Clauses, aggregate: Extract<Relation, { kind: 'aggregate' }>): Plan {
  const { having, sort, offset, limit } = clauses;
  const read = [
    ...aggregate.keys.map(({ bound }) => bound),
    ...aggregate.aggregates.flatMap(({ operand, filter }) => [operand, filter]),
    clauses.where,
  ].filter((bound) => bound !== null);
  const virtual = new ComputedColumns('v', read);
  const keys = aggregate.keys.map(({ name, bound }): GroupKey => {
    const granularity = clauses.source.kind === 'table' ? granularityOf(bound) : undefined;
    return granularity === undefined
      ? { kind: 'column', name, column: virtual.nameOf(bound), type: nativeType(settledType(bound.type)) }
      : { kind: 'time', name, granularity };
  });
  const aggregators = aggregate.aggregates.map((each) => aggregator(each, virtual));

  const computed = new ComputedColumns('p', []);
  const finish: FinishStep[] = [];
  let done = 0;
  const computePending = (): void => {
    for (; done < computed.columns.length; done++) {
      const column = computed.columns[done];
      if (column !== undefined)
        finish.push({
          step: 'compute',
          name: column.name,
          type: nativeType(settledType(column.bound.type)),
          expression: toExpression(column.bound),
        });
    }
  };
  if (having !== null) finish.push({ step: 'filter', filter: toFilter(having) });
  const by = sort.map((key) => sortKey(computed.nameOf(key.bound), key));
  computePending();
  if (by.length > 0) finish.push({ step: 'sort', by, offset, limit });
  else if (offset > 0 || limit !== null) finish.push({ step: 'limit', offset, limit });
  const wanted = clauses.output.map(({ name, bound }) => ({ name, from: computed.nameOf(bound) }));
  computePending();
  const produced = [...keys.map(({ name }) => name), ...aggregators.map(({ name }) => name), ...computed.columns.map(({ name }) => name)];
  return {
    operator: 'group',
    ...leaf(clauses),
    virtualColumns: virtual.asVirtualColumns(),
    keys,
    aggregators,
    emptyGroup: keys.length === 0,
    finish: [...finish, ...projection(produced, wanted)],
  };
}

function aggregator({ name, kind, operand, filter, type, collect }: NamedAggregate, virtual: ComputedColumns): Aggregator {
  const rows = filter === null ? null : toFilter(filter);
  if (kind === 'count' || operand === null) return { kind: 'count', name, filter: rows };
  const column = virtual.nameOf(operand);
  if (kind === 'collect') {
    assert(collect !== undefined, `aggregate ${name} does not say what it keeps`);
    return { kind, name, filter: rows, ...collect, columns: [column], input: 'values', type: nativeType(type) };
  }
  if (kind === 'distinct') return { kind, name, column, filter: rows };
  const native = nativeType(type);
  return { kind, name, column, type: native === 'STRING' ? 'DOUBLE' : native, filter: rows };
}

function sortKey(column: string, { bound, descending, nulls }: RelationSortKey): SortKey {
  return { column, descending, nulls, ordering: nativeType(settledType(bound.type)) === 'STRING' ? 'lexicographic' : 'numeric' };
}

/** Nothing to do when the columns are there already, under their names and in their order. */
function projection(
  produced: readonly string[],
  wanted: readonly { readonly name: string; readonly from: string }[],
): readonly FinishStep[] {
  const same = produced.length === wanted.length && wanted.every(({ name, from }, index) => name === from && name === produced[index]);
  return same ? [] : [{ step: 'project', columns: wanted }];
}
