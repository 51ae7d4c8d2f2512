// Collects the window functions of a query.

import { extended, own } from '../../../base/names.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import type { SqlExpression, SqlWindow } from '../parse/syntax.js';
import { type Bound, boundKey, column, transform } from '../relation/bound.js';
import { mapWindowFunction, type NamedWindowFunction, type Relation, type RelationSortKey, valueOrder } from '../relation/relation.js';
import { AggregateList } from './aggregate-list.js';
import { ORDERED_AGGREGATES } from './aggregates/collected.js';
import { SQL_AGGREGATES } from './aggregates.js';
import { bindExpression, condition } from './bind-expression.js';
import type { Place } from './expression/place.js';
import { FunctionCall } from './function-call.js';
import { suggestion } from './scope.js';
import type { Session } from './session.js';
import { bindFrame, namedWindow } from './window-frame.js';
import { aggregateOverFrame, WINDOW_FUNCTIONS, windowFunction } from './window-functions.js';

interface BoundWindow {
  readonly partition: readonly Bound[];
  readonly order: readonly RelationSortKey[];
}

type Entry = NamedWindowFunction & { readonly window: BoundWindow; readonly at: number };

/** Collects the window functions of a query. They are computed over its groups, or over its rows when it has none. */
export class WindowList {
  readonly #session: Session;
  readonly #named: ReadonlyMap<string, SqlWindow>;
  readonly #entries: Entry[] = [];
  readonly #indexes = new Map<string, number>();

  constructor(session: Session, named: ReadonlyMap<string, SqlWindow>) {
    this.#session = session;
    this.#named = named;
  }

  /** `place`: where arguments and windows are bound, in which there is no other window function. */
  add(place: Place, expression: Extract<SqlExpression, { kind: 'call' }>): Bound {
    const { name, at } = expression;
    const { source } = this.#session;
    const over = namedWindow(this.#session, this.#named, expression.over, at);
    const window: BoundWindow = {
      partition: over.partitionBy.map((each) => bindExpression(place, each)),
      order: valueOrder(over.orderBy.map((item) => extended(item, { bound: bindExpression(place, item.expression) }))),
    };
    const isStar = name === 'COUNT' && expression.arguments.length === 1 && expression.arguments[0]?.kind === 'star';
    const written = isStar ? [] : expression.arguments;
    const args = written.map((argument) => bindExpression(place, argument));
    const call = new FunctionCall(
      expression,
      args,
      written.map((argument) => argument.at),
      this.#session,
    );
    const filter = expression.filter === null ? null : condition(place, expression.filter);
    const frame = bindFrame(place, over, window.order);
    if (expression.orderBy.length > 0 && !ORDERED_AGGREGATES.includes(name))
      throw source.unsupported(expression.orderBy[0]?.expression.at ?? at, `ORDER BY in ${name}`);
    const order = valueOrder(expression.orderBy.map((item) => extended(item, { bound: bindExpression(place, item.expression) })));
    if (WINDOW_FUNCTIONS.includes(name)) return this.#push(extended(windowFunction(call, expression), { filter, frame, window, at }));
    if (expression.nulls !== undefined) throw call.error(at, `${name} takes no ${expression.nulls.toUpperCase()} NULLS`);
    const aggregate = Object.hasOwn(SQL_AGGREGATES, name) ? own(SQL_AGGREGATES, name) : undefined;
    if (aggregate === undefined) {
      const known = [...WINDOW_FUNCTIONS, ...Object.keys(SQL_AGGREGATES)];
      throw source.error('sql_plan_invalid', at, `${name} is no window function and no aggregate${suggestion(name, known)}`);
    }
    if (written.length === 0 && !isStar) throw source.error('sql_plan_invalid', at, `${name} needs an argument`);
    const list = new AggregateList();
    const time = (): Bound => place.scope.resolve(source, at, [TIME_COLUMN]);
    const result = aggregate({ call, isRow: false, distinct: expression.distinct, filter, order, list, time });
    const results = list.aggregates.map((each) => this.#push(extended(aggregateOverFrame(each, call), { frame, window, at })));
    return transform(result, (part) => (part.kind === 'aggregate' ? results[part.index] : undefined));
  }

  /** The rows with a column for each function. `rename`: what expressions over the original rows are over these. */
  attach(relation: Relation, rename: (bound: Bound, at: number) => Bound): Relation {
    const windows = new Map<string, { readonly window: BoundWindow; readonly functions: NamedWindowFunction[] }>();
    for (const { window, at, ...entry } of this.#entries) {
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
      same.functions.push(mapWindowFunction(entry, (bound) => rename(bound, at)));
    }
    return [...windows.values()].reduce<Relation>(
      (input, { window, functions }) => ({ kind: 'window', input, ...window, functions }),
      relation,
    );
  }

  /** Results of window functions as the columns they have become. */
  resolved(bound: Bound): Bound {
    return transform(bound, (part) => (part.kind === 'window' ? column(part.type, this.#entries[part.index]?.name ?? '') : undefined));
  }

  #push(entry: Omit<Entry, 'name'>): Bound {
    const { at: _, ...what } = entry;
    const key = JSON.stringify(what, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
    let index = this.#indexes.get(key);
    if (index === undefined) {
      index = this.#entries.push(extended(entry, { name: `$w${this.#session.numbers.next()}` })) - 1;
      this.#indexes.set(key, index);
    }
    return { kind: 'window', type: entry.type, index };
  }
}
