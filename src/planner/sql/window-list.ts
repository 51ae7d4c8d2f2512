import type { WindowFrame } from '../../model/window.js';
import { AggregateList, type BoundAggregate } from './aggregate-list.js';
import { SQL_AGGREGATES } from './aggregates.js';
import { bindExpression, condition, type Place } from './bind-expression.js';
import { type Bound, boundKey, column, literal, settledType, transform } from './bound.js';
import { FunctionCall } from './function-call.js';
import { type BoundWindowCall, type NamedWindowFunction, type Relation, type RelationSortKey, valueOrder } from './relation.js';
import { suggestion } from './scope.js';
import type { Session } from './session.js';
import type { SqlCall, SqlExpression, SqlWindow } from './syntax.js';

interface BoundWindow {
  readonly partition: readonly Bound[];
  readonly order: readonly RelationSortKey[];
}

type Entry = NamedWindowFunction & { readonly window: BoundWindow; readonly at: number };

const WHOLE: WindowFrame = { unit: 'rows', start: 'unbounded', end: 'unbounded' };
const SO_FAR: WindowFrame = { unit: 'range', start: 'unbounded', end: 0 };

/** Functions that only make sense over a window. */
const WINDOW_FUNCTIONS: readonly string[] = [
  'ROW_NUMBER',
  'RANK',
  'DENSE_RANK',
  'PERCENT_RANK',
  'CUME_DIST',
  'NTILE',
  'LAG',
  'LEAD',
  'FIRST_VALUE',
  'LAST_VALUE',
];

/** Collects the window functions of a query. They are computed over its groups, or over its rows when it has none. */
export class WindowList {
  private readonly session: Session;
  private readonly named: ReadonlyMap<string, SqlWindow>;
  private readonly entries: Entry[] = [];
  private readonly indexes = new Map<string, number>();

  constructor(session: Session, named: ReadonlyMap<string, SqlWindow>) {
    this.session = session;
    this.named = named;
  }

  /** `place`: where arguments and windows are bound, in which there is no other window function. */
  add(place: Place, expression: Extract<SqlExpression, { kind: 'call' }>): Bound {
    const { name, at } = expression;
    const { source } = this.session;
    const over = this.windowOf(expression.over, at);
    const window: BoundWindow = {
      partition: over.partitionBy.map((each) => bindExpression(place, each)),
      order: valueOrder(over.orderBy.map((item) => ({ ...item, bound: bindExpression(place, item.expression) }))),
    };
    const isStar = name === 'COUNT' && expression.arguments.length === 1 && expression.arguments[0]?.kind === 'star';
    const written = isStar ? [] : expression.arguments;
    const args = written.map((argument) => bindExpression(place, argument));
    const call = new FunctionCall(
      expression,
      args,
      written.map((argument) => argument.at),
      this.session,
    );
    const filter = expression.filter === null ? null : condition(place, expression.filter);
    // Without an order no row is before another: the frame is the partition, whatever it is said to be.
    const frame = over.orderBy.length === 0 ? WHOLE : (over.frame ?? SO_FAR);
    if (expression.orderBy.length > 0) throw source.unsupported(expression.orderBy[0]?.expression.at ?? at, `ORDER BY in ${name}`);
    if (WINDOW_FUNCTIONS.includes(name)) {
      if (filter !== null || expression.distinct) throw source.error('sql_plan_invalid', at, `${name} takes no DISTINCT and no FILTER`);
      const { operand, ...own } = ownFunction(call);
      return this.push({ ...own, operand, filter, frame: own.frame ?? frame, window, at });
    }
    const aggregate = Object.hasOwn(SQL_AGGREGATES, name) ? SQL_AGGREGATES[name] : undefined;
    if (aggregate === undefined) {
      const known = [...WINDOW_FUNCTIONS, ...Object.keys(SQL_AGGREGATES)];
      throw source.error('sql_plan_invalid', at, `${name} is no window function and no aggregate${suggestion(name, known)}`);
    }
    if (written.length === 0 && !isStar) throw source.error('sql_plan_invalid', at, `${name} needs an argument`);
    const list = new AggregateList();
    const time = (): Bound => {
      throw source.unsupported(at, `${name} OVER`);
    };
    const result = aggregate({ call, distinct: expression.distinct, filter, order: [], list, time });
    const results = list.aggregates.map((each) => this.push({ ...this.overFrame(each, call), frame, window, at }));
    return transform(result, (part) => (part.kind === 'aggregate' ? results[part.index] : undefined));
  }

  /** The rows with a column for each function. `rename`: what expressions over the original rows are over these. */
  attach(relation: Relation, rename: (bound: Bound, at: number) => Bound): Relation {
    const windows = new Map<string, { readonly window: BoundWindow; readonly functions: NamedWindowFunction[] }>();
    for (const { window, at, ...entry } of this.entries) {
      const own: BoundWindow = {
        partition: window.partition.map((bound) => rename(bound, at)),
        order: window.order.map((key) => ({ ...key, bound: rename(key.bound, at) })),
      };
      const key = [
        ...own.partition.map(boundKey),
        '|',
        ...own.order.map((each) => `${boundKey(each.bound)} ${each.descending} ${each.nulls}`),
      ].join('\n');
      const same = windows.get(key) ?? { window: own, functions: [] };
      windows.set(key, same);
      const operand = entry.operand === null ? null : rename(entry.operand, at);
      const filter = entry.filter === null ? null : rename(entry.filter, at);
      same.functions.push({ ...entry, operand, filter });
    }
    return [...windows.values()].reduce<Relation>(
      (input, { window, functions }) => ({ kind: 'window', input, ...window, functions }),
      relation,
    );
  }

  /** Results of window functions as the columns they have become. */
  resolved(bound: Bound): Bound {
    return transform(bound, (part) => (part.kind === 'window' ? column(part.type, this.entries[part.index]?.name ?? '') : undefined));
  }

  private push(entry: Omit<Entry, 'name'>): Bound {
    const { at: _, ...what } = entry;
    const key = JSON.stringify(what, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
    let index = this.indexes.get(key);
    if (index === undefined) {
      index = this.entries.push({ ...entry, name: `$w${this.session.numbers.next()}` }) - 1;
      this.indexes.set(key, index);
    }
    return { kind: 'window', type: entry.type, index };
  }

  private windowOf(over: SqlCall['over'], at: number): SqlWindow {
    const { source } = this.session;
    const find = (name: string): SqlWindow => {
      const found = this.named.get(name);
      if (found === undefined)
        throw source.error('sql_plan_invalid', at, `unknown window ${name}${suggestion(name, [...this.named.keys()])}`);
      return found.base === null ? found : merged(found);
    };
    const merged = (window: SqlWindow): SqlWindow => {
      if (window.base === null) return window;
      const base = find(window.base);
      return {
        ...window,
        base: null,
        partitionBy: window.partitionBy.length > 0 ? window.partitionBy : base.partitionBy,
        orderBy: window.orderBy.length > 0 ? window.orderBy : base.orderBy,
        frame: window.frame ?? base.frame,
      };
    };
    if (over === null) throw source.error('internal', at, 'a window function without a window');
    return typeof over === 'string' ? find(over) : merged(over);
  }

  /** An aggregate as a function of frames. */
  private overFrame(
    aggregate: BoundAggregate,
    { name, at }: FunctionCall,
  ): Pick<NamedWindowFunction, 'call' | 'operand' | 'filter' | 'type'> {
    const { kind, operands, filter, type, collect, fold } = aggregate;
    const [operand = null] = operands;
    if (kind === 'count') return { call: { kind }, operand: null, filter, type };
    if (kind === 'collect' && collect?.collector.type === 'expression')
      return { call: { kind: 'fold', collector: collect.collector }, operand, filter, type };
    if (kind === 'collect' && (collect?.collector.type === 'min' || collect?.collector.type === 'max'))
      return { call: { kind: collect.collector.type }, operand, filter, type };
    if (kind === 'distinct' && fold === undefined) return { call: { kind }, operand, filter, type };
    if (kind === 'sum' || kind === 'min' || kind === 'max') return { call: { kind }, operand, filter, type };
    throw this.session.source.unsupported(at, `${name} OVER`);
  }
}

interface OwnFunction {
  readonly call: BoundWindowCall;
  readonly operand: Bound | null;
  readonly type: NamedWindowFunction['type'];
  /** Whatever frame is given. */
  readonly frame?: WindowFrame;
}

function ownFunction(call: FunctionCall): OwnFunction {
  const { name } = call;
  const take = (min: number, max: number): void => {
    if (call.count < min || call.count > max)
      throw call.error(call.at, `${name} takes ${min === max ? min : `${min} to ${max}`} arguments, found ${call.count}`);
  };
  const value = (): Pick<OwnFunction, 'operand' | 'type'> => {
    const given = call.any(0);
    const type = settledType(given.type);
    return { operand: given.type === 'NULL' ? literal(type, null) : given, type };
  };
  switch (name) {
    case 'ROW_NUMBER':
      take(0, 0);
      return { call: { kind: 'rowNumber' }, operand: null, type: 'BIGINT' };
    case 'RANK':
      take(0, 0);
      return { call: { kind: 'rank' }, operand: null, type: 'BIGINT' };
    case 'DENSE_RANK':
      take(0, 0);
      return { call: { kind: 'denseRank' }, operand: null, type: 'BIGINT' };
    case 'PERCENT_RANK':
      take(0, 0);
      return { call: { kind: 'percentRank' }, operand: null, type: 'DOUBLE' };
    case 'CUME_DIST':
      take(0, 0);
      return { call: { kind: 'cumulativeDistribution' }, operand: null, type: 'DOUBLE' };
    case 'NTILE': {
      take(1, 1);
      const tiles = call.constantInteger(0, 1);
      if (tiles < 1) throw call.mismatch(0, 'a literal integer from 1 on');
      return { call: { kind: 'tile', tiles }, operand: null, type: 'BIGINT' };
    }
    case 'LAG':
    case 'LEAD': {
      take(1, 2);
      const rows = call.constantInteger(1, 1);
      return { call: { kind: 'shift', rows: name === 'LAG' ? -rows : rows }, ...value() };
    }
    default:
      take(1, 1);
      return { call: { kind: name === 'FIRST_VALUE' ? 'first' : 'last' }, ...value() };
  }
}
