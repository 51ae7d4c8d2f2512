import { evaluate } from '../../src/expression/evaluate.js';
import { convert, type Value } from '../../src/expression/value.js';
import type { Aggregator } from '../../src/model/aggregator.js';
import type { Expression } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import { floorInstant } from '../../src/model/granularity.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import { hasNull, valuesOf as listed } from '../../src/model/value-list.js';

/** The meaning of plans, written down row by row with no regard for speed: what the engine's answers are held against. */
export type Cell = Value | readonly Value[];
export type Row = Readonly<Record<string, Cell>>;

type Truth = boolean | null;
type LeafPlan = Pick<GroupPlan | ScanPlan, 'virtualColumns' | 'filter' | 'intervals'>;

export function cell(row: Row, name: string, plan: Pick<LeafPlan, 'virtualColumns'>): Cell {
  const virtual = plan.virtualColumns.find((each) => each.name === name);
  if (virtual === undefined) return row[name] ?? null;
  const value = valueOf(row, virtual.expression, plan);
  return virtual.outputType === null ? value : convert(value, virtual.outputType);
}

function valueOf(row: Row, expression: Expression, plan: Pick<LeafPlan, 'virtualColumns'>): Value {
  return evaluate(expression, (name) => {
    const value = cell(row, name, plan);
    if (Array.isArray(value)) throw new Error('the oracle computes with single values only');
    return value as Value;
  });
}

/** Every value of a cell; null for none. */
function valuesOf(found: Cell): readonly Value[] {
  return Array.isArray(found) ? (found.length === 0 ? [null] : found) : [found as Value];
}

function truth(row: Row, filter: Filter, plan: Pick<LeafPlan, 'virtualColumns'>): Truth {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return filter.kind === 'true';
    case 'not': {
      const inner = truth(row, filter.filter, plan);
      return inner === null ? null : !inner;
    }
    case 'isTrue':
      return truth(row, filter.filter, plan) === true;
    case 'and':
    case 'or': {
      const decisive = filter.kind === 'or';
      const parts = filter.filters.map((part) => truth(row, part, plan));
      return parts.includes(decisive) ? decisive : parts.includes(null) ? null : !decisive;
    }
    case 'expression': {
      const value = valueOf(row, filter.expression, plan);
      return value === null ? null : typeof value === 'string' ? value.toLowerCase() === 'true' : Number(value) > 0;
    }
    default: {
      const verdicts = valuesOf(cell(row, filter.column, plan)).map((value) => compare(value, filter));
      return verdicts.includes(true) ? true : verdicts.includes(null) ? null : false;
    }
  }
}

/** The number that a string is, for comparisons with numbers. A cast reads truth values as 1 and 0 as well; comparisons do not. */
function numberOf(text: string): number | null {
  return /^(true|false)$/i.test(text) ? null : (convert(text, 'DOUBLE') as number | null);
}

function compare(value: Value, filter: Extract<Filter, { column: string }>): Truth {
  if (filter.kind === 'null') return value === null;
  if (value === null) return filter.kind === 'in' && hasNull(filter.values) ? true : null;
  switch (filter.kind) {
    case 'equals':
      return same(value, filter.value, filter.type);
    case 'in':
      return listed(filter.values).some((each) => each !== null && same(value, each, filter.type) === true);
    case 'range': {
      const asText = filter.type === 'STRING' && filter.ordering !== 'numeric';
      const subject = asText ? String(convert(value, 'STRING')) : typeof value === 'string' ? numberOf(value) : value;
      if (subject === null) return false;
      const bound = (each: Value) => (each === null ? null : asText ? String(each) : typeof each === 'string' ? numberOf(each) : each);
      const lower = bound(filter.lower);
      const upper = bound(filter.upper);
      return (
        (lower === null || (filter.lowerStrict ? subject > lower : subject >= lower)) &&
        (upper === null || (filter.upperStrict ? subject < upper : subject <= upper))
      );
    }
    case 'like': {
      const pattern = filter.pattern
        .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
        .replace(/%/g, '[^]*')
        .replace(/_/g, '[^]');
      return new RegExp(`^${pattern}$`, 'u').test(String(convert(value, 'STRING')));
    }
  }
}

function same(value: Exclude<Value, null>, wanted: Value, type: ColumnType): Truth {
  if (wanted === null) return null;
  if (typeof value === 'string' && type === 'STRING') return value === String(wanted);
  const number = typeof value === 'string' ? numberOf(value) : value;
  const other = typeof wanted === 'string' ? numberOf(wanted) : wanted;
  // A bigint and a number are the same when neither is larger.
  return number !== null && other !== null && number >= other && number <= other;
}

export function keptRows(rows: readonly Row[], plan: LeafPlan): Row[] {
  return rows.filter((row) => {
    const time = Number(row['__time']);
    return (
      plan.intervals.some(({ start, end }) => time >= start && time < end) &&
      (plan.filter === null || truth(row, plan.filter, plan) === true)
    );
  });
}

/** Groups as printed keys → aggregates in order. */
export function groupRows(rows: readonly Row[], plan: GroupPlan): Map<string, Value[]> {
  const groups = new Map<string, { keys: Value[]; rows: Row[] }>();
  for (const row of keptRows(rows, plan)) {
    let combinations: Value[][] = [[]];
    for (const key of plan.keys) {
      const values =
        key.kind === 'time'
          ? [
              BigInt(
                key.granularity.kind === 'all' ? (plan.intervals[0]?.start ?? 0) : floorInstant(key.granularity, Number(row['__time'])),
              ),
            ]
          : valuesOf(cell(row, key.column, plan)).map((value) => (key.type === null || value === null ? value : convert(value, key.type)));
      combinations = combinations.flatMap((combination) => values.map((value) => [...combination, value]));
    }
    for (const keys of combinations) {
      const name = printKeys(keys);
      const group = groups.get(name) ?? { keys, rows: [] };
      group.rows.push(row);
      groups.set(name, group);
    }
  }
  if (groups.size === 0 && plan.emptyGroup && plan.keys.every((key) => key.kind === 'time' && key.granularity.kind === 'all')) {
    const keys = plan.keys.map(() => (plan.intervals[0] === undefined ? null : BigInt(plan.intervals[0].start)));
    groups.set(printKeys(keys), { keys, rows: [] });
  }
  return new Map([...groups].map(([name, group]) => [name, plan.aggregators.map((aggregator) => aggregate(group.rows, aggregator, plan))]));
}

export function printKeys(keys: readonly Value[]): string {
  return JSON.stringify(keys.map((key) => (typeof key === 'bigint' ? `${key}n` : key)));
}

function aggregate(rows: readonly Row[], aggregator: Aggregator, plan: GroupPlan): Value {
  const taken = rows.filter((row) => aggregator.filter === null || truth(row, aggregator.filter, plan) === true);
  if (aggregator.kind === 'count') return BigInt(taken.length);
  if (aggregator.kind === 'state') return collect(taken, aggregator, plan);
  const cells = taken.flatMap((row) => valuesOf(cell(row, aggregator.column, plan))).filter((value) => value !== null);
  if (aggregator.kind === 'distinct') return BigInt(new Set(cells).size);
  const numbers = cells.map((value) => convert(value, aggregator.type === 'LONG' ? 'LONG' : 'DOUBLE')).filter((value) => value !== null);
  if (numbers.length === 0) return null;
  if (aggregator.type === 'LONG') {
    const longs = numbers as bigint[];
    if (aggregator.kind === 'sum')
      return BigInt.asIntN(
        64,
        longs.reduce((sum, value) => sum + value, 0n),
      );
    return longs.reduce((best, value) => ((aggregator.kind === 'min' ? value < best : value > best) ? value : best));
  }
  const doubles = numbers as number[];
  const result =
    aggregator.kind === 'sum'
      ? doubles.reduce((sum, value) => sum + value, 0)
      : aggregator.kind === 'min'
        ? doubles.reduce((best, value) => Math.min(best, value))
        : doubles.reduce((best, value) => Math.max(best, value));
  return aggregator.type === 'FLOAT' ? Math.fround(result) : result;
}

/** First and last: by time, then the value that is not null, then the smallest or largest value. */
function collect(rows: readonly Row[], { aggregateState, columns }: Extract<Aggregator, { kind: 'state' }>, plan: GroupPlan): Value {
  if (aggregateState.type !== 'first' && aggregateState.type !== 'last') throw new Error('the oracle knows first and last only');
  const [column = '', timeColumn] = columns;
  const sign = aggregateState.type === 'last' ? -1 : 1;
  const timed = rows
    .map((row) => ({
      time: timeColumn === undefined ? 0 : convert(cell(row, timeColumn, plan) as Value, 'LONG'),
      value: convert(cell(row, column, plan) as Value, aggregateState.valueType),
    }))
    .filter(({ time }) => time !== null);
  timed.sort((a, b) => sign * (Number(a.time) - Number(b.time)) || compareNullsLast(a.value, b.value, sign));
  return timed[0]?.value ?? null;
}

function compareNullsLast(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}
