// Lowers a relational tree to a plan.

import { assert } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import { extended } from '../../../base/names.js';
import type { Aggregator } from '../../../model/aggregator.js';
import type { Filter } from '../../../model/filter.js';
import type { GroupKey, Plan, PostStep, SortKey } from '../../../model/plan.js';
import type { RowSource, RowsPlan } from '../../../model/row-source.js';
import { isNumberType, isTextType, TIME_COLUMN } from '../../../model/schema.js';
import type { PlannedQuery } from '../../../model/statement.js';
import type { FrameBound, WindowFunction } from '../../../model/window.js';
import { carried, merged } from '../../places/recording.js';
import { extractTimeBounds } from '../../rules/time-intervals.js';
import { nativeType } from '../parse/sql-type.js';
import { and, type Bound, column, columnNames, conjuncts, settledType, substitute, toExpression, transform } from '../relation/bound.js';
import {
  type AggregateRelation,
  columnsOf,
  type LimitRelation,
  type NamedAggregate,
  type NamedBound,
  type ProjectRelation,
  type Relation,
  type RelationSortKey,
  type WindowRelation,
} from '../relation/relation.js';
import { isSmall } from '../relation/rules/expression-size.js';
import { mapExpressions } from '../relation/rules/map-expressions.js';
import { expressionsOf } from '../relation/rules/verify-relation.js';
import { ComputedColumns } from './computed-columns.js';
import { keysInUse } from './following-keys.js';
import { toFilter } from './lower-filter.js';
import { type Lowered, lowerLeaf } from './lower-source.js';
import { granularityOf } from './time-key.js';

/** Clauses that fit into one plan, in the order they apply. */
interface Clauses {
  source: RowSource;
  where: Bound | null;
  aggregate: AggregateRelation | null;
  having: Bound | null;
  /** Windows over the columns below, and over those of the windows before. */
  windows: readonly WindowRelation[];
  /** Condition over rows that have the columns of the windows. */
  qualify: Bound | null;
  sort: readonly RelationSortKey[];
  cut: LimitRelation | null;
  /** Output expressions over the columns of the source, or of the aggregate. */
  output: readonly NamedBound[];
}

/** Bound relational tree → the plan every server runs, over the rows it reads. */
export function lowerQuery(relation: ProjectRelation): PlannedQuery {
  const columns = relation.columns.map(({ name, type }) => ({ name, sqlType: type, nativeType: nativeType(type) }));
  const { plan, source } = lowerRelation(relation);
  return { plan, source, columns };
}

/** Lowers a relation to a plan whose columns come in order, under their names. */
function lowerRelation(relation: Relation): Lowered {
  const clauses = clausesOf(relation);
  return { plan: planOf(clauses), source: clauses.source };
}

function planOf(clauses: Clauses): RowsPlan {
  if (clauses.aggregate !== null) return groupPlan(clauses, clauses.aggregate);
  return clauses.windows.length > 0 ? windowedScan(clauses) : scanPlan(clauses);
}

/** The upper part of a relation that fits into one plan; the rest below it is a plan of its own. */
function clausesOf(relation: Relation): Clauses {
  switch (relation.kind) {
    case 'aggregate': {
      const { input } = relation;
      const [rows, where] = input.kind === 'filter' ? [input.input, input.condition] : [input, null];
      return { ...overLeaf(rows), where, aggregate: relation, output: named(relation) };
    }
    case 'filter': {
      const below = clausesBelow(relation);
      if (below.sort.length > 0 || below.cut !== null) return { ...overPlan(relation.input, below), where: relation.condition };
      const condition = readsBelow(below)(relation.condition);
      const filter = below.windows.length > 0 ? 'qualify' : below.aggregate === null ? 'where' : 'having';
      const before = below[filter];
      return { ...below, [filter]: before === null ? condition : and([...conjuncts(before), ...conjuncts(condition)]) };
    }
    case 'project': {
      const below = clausesBelow(relation);
      const changed = readsBelow(below);
      return { ...below, output: relation.columns.map(({ name, bound }) => ({ name, bound: changed(bound) })) };
    }
    case 'window': {
      const below = clausesBelow(relation);
      if (below.sort.length > 0 || below.cut !== null || below.qualify !== null)
        return { ...withWindow(overPlan(relation.input, below), relation) };
      return withWindow(below, relation);
    }
    case 'sort': {
      const below = clausesBelow(relation);
      if (below.cut !== null) return { ...overPlan(relation.input, below), sort: relation.by };
      const changed = readsBelow(below);
      return { ...below, sort: relation.by.map((key) => ({ ...key, bound: changed(key.bound) })) };
    }
    case 'limit': {
      const below = clausesOf(relation.input);
      return { ...(below.cut === null ? below : overPlan(relation.input, below)), cut: relation };
    }
    default:
      return overLeaf(relation);
  }
}

/** The clauses of what a node reads, whose expressions take in those below unless these would be repeated too often. */
function clausesBelow(relation: Extract<Relation, { kind: 'filter' | 'project' | 'window' | 'sort' }>): Clauses {
  const below = clausesOf(relation.input);
  if (below.output.every(({ bound }) => bound.kind === 'column')) return below;
  const given = expressionsOf(relation);
  const replaced = given.map(readsBelow(below));
  return isSmall(replaced, [...given, ...below.output.map(({ bound }) => bound)]) ? below : overPlan(relation.input, below);
}

/** The expressions of a window over what the clauses read. */
function withWindow(below: Clauses, relation: WindowRelation): Clauses {
  const own = mapExpressions(relation, readsBelow(below));
  assert(own.kind === 'window', 'a window became something else');
  const added = relation.functions.map(({ name, type }): NamedBound => ({ name, bound: column(type, name) }));
  return { ...below, windows: [...below.windows, own], output: [...below.output, ...added] };
}

function overLeaf(relation: Relation): Clauses {
  return extended(EMPTY, { source: lowerLeaf(relation, lowerRelation), output: named(relation) });
}

function overPlan(relation: Relation, clauses: Clauses): Clauses {
  const { source } = clauses;
  return extended(EMPTY, { source: { kind: 'query', plan: planOf(clauses), source } as const, output: named(relation) });
}

const EMPTY: Omit<Clauses, 'source' | 'output'> = {
  where: null,
  aggregate: null,
  having: null,
  windows: [],
  qualify: null,
  sort: [],
  cut: null,
};

/** The fields of a cut that leaves all rows. */
const WHOLE: Pick<LimitRelation, 'offset' | 'limit'> = { offset: 0, limit: null };

type Columns = ReturnType<typeof columnsOf>;
type Meanings = ReadonlyMap<string, Bound>;

/** Columns of tables under their own names, by their list, which serves all statements over the table. */
const NAMED = new WeakMap<Columns, readonly NamedBound[]>();
/** Columns by name, of the lists in `NAMED`. */
const MEANINGS = new WeakMap<readonly NamedBound[], Meanings>();

function named(relation: Relation): readonly NamedBound[] {
  const columns = columnsOf(relation);
  const known = relation.kind === 'source' ? NAMED.get(columns) : undefined;
  const list = known ?? columns.map(({ name, type }) => ({ name, bound: column(type, name) }));
  if (relation.kind === 'source' && known === undefined) {
    NAMED.set(columns, list);
    MEANINGS.set(list, meaningsOf(list));
  }
  return list;
}

function meaningsOf(output: readonly NamedBound[]): Meanings {
  const meanings = new Map<string, Bound>();
  for (const { name, bound } of output) meanings.set(name, bound);
  return meanings;
}

/** Changes expressions over the output of clauses to expressions over what these read. Made once for all expressions of a node. */
function readsBelow({ output }: Clauses): (bound: Bound) => Bound {
  const meanings = MEANINGS.get(output) ?? meaningsOf(output);
  const meaning = (part: Bound): Bound | undefined => {
    const below = part.kind === 'column' ? meanings.get(part.name) : undefined;
    // A column that stands for itself stays, and so do the expressions around it.
    return below?.kind === 'column' && part.kind === 'column' && below.name === part.name && below.type === part.type ? undefined : below;
  };
  return (bound) => transform(bound, meaning);
}

/** A plan or step with the fields of a cut, which stay places. */
function cutTo<Node extends object>(node: Node, cut: LimitRelation | null) {
  const { offset } = cut ?? WHOLE;
  return carried(cut ?? WHOLE, 'limit', (limit) => extended(node, { offset, limit }));
}

/** Leaf fields of the plan; only rows of a datasource are sorted by time and cut by intervals. */
function leaf(clauses: Clauses): Pick<Plan, 'dataSource' | 'intervals' | 'filter'> {
  const filter: Filter | null = clauses.where === null ? null : toFilter(clauses.where);
  if (clauses.source.kind !== 'table') return { dataSource: '', intervals: [ETERNITY], filter };
  const bounds = extractTimeBounds(filter);
  const { rest } = bounds;
  const { name } = clauses.source;
  return carried(bounds, 'intervals', (intervals) => ({ dataSource: name, intervals, filter: rest }));
}

function scanPlan(clauses: Clauses): RowsPlan {
  const { sort, output, cut } = clauses;
  const virtual = new ComputedColumns('v', [...output, ...sort].map(({ bound }) => bound).concat(clauses.where ?? []));
  const wanted = output.map(({ name, bound }) => ({ name, from: virtual.nameOf(bound) }));
  const [first] = sort;
  const byTime =
    clauses.source.kind === 'table' && sort.length === 1 && first?.bound.kind === 'column' && first.bound.name === TIME_COLUMN
      ? first
      : undefined;
  const by = byTime === undefined ? sort.map((key) => sortKey(virtual.nameOf(key.bound), key)) : [];
  const post: PostStep[] = by.length === 0 ? [] : [cutTo({ step: 'sort', by } as const, cut)];
  const columns = [...new Set([...wanted.map(({ from }) => from), ...by.map(({ column }) => column)])];
  const timeOrder = byTime === undefined ? null : byTime.descending ? 'descending' : 'ascending';
  const rows = { virtualColumns: virtual.asVirtualColumns(), columns, timeOrder } as const;
  const cutRows = merged(cutTo(rows, by.length === 0 ? cut : null), { post: [...post, ...projection(columns, wanted)] });
  return merged(merged({ operator: 'scan' } as const, leaf(clauses)), cutRows);
}

/** Rows as they are stored, with windows over them: every column that a step reads is read, or computed beside it. */
function windowedScan(clauses: Clauses): RowsPlan {
  const results = new Set(clauses.windows.flatMap(({ functions }) => functions.map(({ name }) => name)));
  const isStored = (bound: Bound): boolean => ![...columnNames(bound)].some((name) => results.has(name));
  const read = [
    ...clauses.windows.flatMap(expressionsOf),
    ...clauses.output.map(({ bound }) => bound),
    ...clauses.sort.map(({ bound }) => bound),
    ...(clauses.qualify === null ? [] : [clauses.qualify]),
  ];
  const virtual = new ComputedColumns('v', clauses.where === null ? read : [...read, clauses.where]);
  const columns = new Set<string>();
  // Expressions without a window's result are computed with the rows; the rest in a later step.
  const leafOf = (bound: Bound): Bound => {
    if (bound.kind !== 'column' && isStored(bound)) {
      const name = virtual.nameOf(bound);
      columns.add(name);
      return column(bound.type, name);
    }
    for (const name of columnNames(bound)) if (!results.has(name)) columns.add(name);
    return bound;
  };
  const steps = new Steps([...columns].map((name) => column('VARCHAR', name)).concat(read));
  const wanted = steps.end({
    ...clauses,
    windows: clauses.windows.map((window) => {
      const own = mapExpressions(window, leafOf);
      assert(own.kind === 'window', 'a window became something else');
      return own;
    }),
    output: clauses.output.map(({ name, bound }) => ({ name, bound: leafOf(bound) })),
    sort: clauses.sort.map((key) => ({ ...key, bound: leafOf(key.bound) })),
    qualify: clauses.qualify === null ? null : leafOf(clauses.qualify),
  });
  return merged(merged({ operator: 'scan' } as const, leaf(clauses)), {
    virtualColumns: virtual.asVirtualColumns(),
    columns: [...columns],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [...steps.list, ...projection([...columns, ...steps.names], wanted)],
  });
}

/** Post-processing steps, with a step that computes a column before the step that reads it. */
class Steps {
  readonly list: PostStep[] = [];
  /** Names of the columns that steps have added. */
  readonly names: string[] = [];
  readonly #computed: ComputedColumns;
  #done = 0;

  /** `taken`: names that the rows have before. */
  constructor(taken: readonly Bound[]) {
    this.#computed = new ComputedColumns('p', taken);
  }

  /** Windows, their condition, order and limit; gives the columns that are wanted in the end. */
  end({ windows, qualify, sort, cut, output }: Clauses): readonly { readonly name: string; readonly from: string }[] {
    for (const window of windows) this.#window(window);
    if (qualify !== null) this.list.push({ step: 'filter', filter: toFilter(qualify) });
    const by = sort.map((key) => sortKey(this.#computed.nameOf(key.bound), key));
    this.#computePending();
    if (by.length > 0) this.list.push(cutTo({ step: 'sort', by } as const, cut));
    else if (cut !== null) this.list.push(cutTo({ step: 'limit' } as const, cut));
    const wanted = output.map(({ name, bound }) => ({ name, from: this.#computed.nameOf(bound) }));
    this.#computePending();
    return wanted;
  }

  #window({ partition, order, functions }: WindowRelation): void {
    const reached = (bound: FrameBound<Bound>): FrameBound =>
      typeof bound === 'object' ? { reach: this.#computed.nameOf(bound.reach) } : bound;
    const step: PostStep = {
      step: 'window',
      partition: partition.filter(({ kind }) => kind !== 'literal').map((bound) => this.#computed.nameOf(bound)),
      order: order.map((key) => sortKey(this.#computed.nameOf(key.bound), key)),
      functions: functions.map(
        ({ name, type, call, operands, filter, frame }): WindowFunction => ({
          name,
          type: nativeType(type),
          call,
          columns: operands.map((operand) => this.#computed.nameOf(operand)),
          filter: filter === null ? null : this.#computed.nameOf(filter),
          frame: { ...frame, start: reached(frame.start), end: reached(frame.end) },
        }),
      ),
    };
    this.#computePending();
    this.list.push(step);
    for (const { name } of functions) this.names.push(name);
  }

  #computePending(): void {
    for (; this.#done < this.#computed.columns.length; this.#done++) {
      const next = this.#computed.columns[this.#done];
      if (next === undefined) continue;
      const type = nativeType(settledType(next.bound.type));
      this.list.push({ step: 'compute', name: next.name, type, expression: toExpression(next.bound) });
      this.names.push(next.name);
    }
  }
}

function groupPlan(whole: Clauses, aggregate: AggregateRelation): RowsPlan {
  const [grouped, clauses] = withoutFollowingKeys(aggregate, whole);
  const { having } = clauses;
  // Keys that are left out read what the others read.
  const read = expressionsOf(aggregate);
  const virtual = new ComputedColumns('v', clauses.where === null ? read : [...read, clauses.where]);
  const keys = grouped.map(({ name, bound }): GroupKey => {
    const granularity = clauses.source.kind === 'table' ? granularityOf(bound) : undefined;
    return granularity === undefined
      ? { kind: 'column', name, column: virtual.nameOf(bound), type: nativeType(settledType(bound.type)) }
      : { kind: 'time', name, granularity };
  });
  const aggregators = aggregate.aggregates.map((each) => aggregator(each, virtual));

  const steps = new Steps(named(aggregate).map(({ bound }) => bound));
  if (having !== null) steps.list.push({ step: 'filter', filter: toFilter(having) });
  const wanted = steps.end(clauses);
  const produced = [...keys.map(({ name }) => name), ...aggregators.map(({ name }) => name), ...steps.names];
  return merged(merged({ operator: 'group' } as const, leaf(clauses)), {
    virtualColumns: virtual.asVirtualColumns(),
    keys,
    aggregators,
    emptyGroup: keys.length === 0,
    post: [...steps.list, ...projection(produced, wanted)],
  });
}

/** Groups of which the first are wanted are made without keys that follow from others. */
function withoutFollowingKeys(aggregate: AggregateRelation, clauses: Clauses): readonly [keys: readonly NamedBound[], clauses: Clauses] {
  const { having, qualify, windows, cut } = clauses;
  if (cut === null || windows.length > 0 || aggregate.keys.length < 2) return [aggregate.keys, clauses];
  const conditions = [having, qualify].filter((bound) => bound !== null);
  const { keys, following, sort } = keysInUse(aggregate, { conditions, sort: clauses.sort });
  if (following.size === 0) return [keys, clauses];
  const output = clauses.output.map(({ name, bound }) => ({ name, bound: substitute(bound, (each) => following.get(each)) }));
  return [keys, { ...clauses, sort, output }];
}

function aggregator({ name, kind, operands, filter, type, state, fold }: NamedAggregate, virtual: ComputedColumns): Aggregator {
  const rows = filter === null ? null : toFilter(filter);
  const columns = operands.map((operand) => virtual.nameOf(operand));
  const [column] = columns;
  if (kind === 'count' || column === undefined) {
    const present = columns.map((column): Filter => ({ kind: 'not', filter: { kind: 'null', column } }));
    const filters = rows === null ? present : [rows, ...present];
    return { kind: 'count', name, filter: filters.length > 1 ? { kind: 'and', filters } : (filters[0] ?? null) };
  }
  if (kind === 'state') {
    assert(state !== undefined, `aggregate ${name} does not say what it keeps`);
    return { kind, name, filter: rows, ...state, columns, type: nativeType(type) };
  }
  if (kind === 'distinct') return { kind, name, column, filter: rows, ...(fold === undefined ? {} : { fold }) };
  const native = nativeType(type);
  assert(kind !== 'grouping' && isNumberType(native), `aggregate ${name} is no number`);
  return { kind, name, column, type: native, filter: rows };
}

function sortKey(column: string, { bound, descending, nulls }: RelationSortKey): SortKey {
  return { column, descending, nulls, ordering: isTextType(nativeType(settledType(bound.type))) ? 'lexicographic' : 'numeric' };
}

/** Projection to the wanted columns; no step when they are there already, under their names and in their order. */
function projection(produced: readonly string[], wanted: readonly { readonly name: string; readonly from: string }[]): readonly PostStep[] {
  const same = produced.length === wanted.length && wanted.every(({ name, from }, index) => name === from && name === produced[index]);
  return same ? [] : [{ step: 'project', columns: wanted }];
}
