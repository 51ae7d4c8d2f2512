import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { type ResultColumn, type ResultTable, textColumn, valueAt } from '../../src/execution/block/result-table.js';
import { NO_EMPTY_VALUES } from '../../src/execution/post/leaf-result.js';
import { windowColumns } from '../../src/execution/post/window/window.js';
import type { Value } from '../../src/expression/value.js';
import type { SortKey } from '../../src/model/plan.js';
import type { ColumnType } from '../../src/model/schema.js';
import type { FrameBound, WindowCall, WindowFrame, WindowFunction } from '../../src/model/window.js';
import { caseCount } from '../case-count.js';

/*
 * Window functions over drawn rows, against their definition: for each row the rows of its partition are filtered and put in
 * order, those of its frame are listed, and the function is computed of the list.
 */

const windows = suite('window functions');
const LEAF = { intervals: [], emptyValues: NO_EMPTY_VALUES, check: () => undefined };

type Row = Readonly<Record<'part' | 'order' | 'below' | 'above' | 'long' | 'double' | 'string' | 'otherString', Value>> & {
  readonly id: number;
  readonly isTaken: boolean;
};

const TYPES = {
  part: 'STRING',
  order: 'LONG',
  below: 'LONG',
  above: 'LONG',
  long: 'LONG',
  double: 'DOUBLE',
  string: 'STRING',
  otherString: 'STRING',
} as const;
type Name = keyof typeof TYPES;

function drawnRows(random: () => number): Row[] {
  const below = (count: number): number => Math.floor(random() * count);
  const orNull = (value: Value): Value => (random() < 0.2 ? null : value);
  // Values of the second order are rare, so that frames are long and peers few.
  const [count, orders] = random() < 0.8 ? [below(80), 9] : [below(140), 1000];
  return Array.from({ length: count }, (_, id) => {
    const order = orNull(BigInt(below(orders)) - 4n) as bigint | null;
    return {
      id,
      part: orNull(`p${below(4)}`),
      order,
      below: order === null ? null : order - 2n,
      above: order === null ? null : order + 3n,
      long: orNull([2n ** 62n, -(2n ** 63n), 2n ** 63n - 1n, 7n, -1n, 0n][below(6)] ?? 0n),
      double: orNull([0, -0, 1.5, -2.25, 8, 1024][below(6)] ?? 0),
      string: orNull(['', 'a', 'b', 'ß', 'z'][below(5)] ?? ''),
      otherString: orNull(`o${below(3)}`),
      isTaken: random() < 0.7,
    };
  });
}

function columnOfRows(name: string, type: ColumnType, values: readonly Value[]): ResultColumn {
  const nulls = values.includes(null) ? Uint8Array.from(values, (value) => Number(value === null)) : null;
  if (type === 'LONG') return { kind: 'long', name, values: BigInt64Array.from(values, (value) => (value as bigint | null) ?? 0n), nulls };
  if (type === 'DOUBLE')
    return { kind: 'double', name, type, values: Float64Array.from(values, (value) => (value as number | null) ?? 0), nulls };
  return textColumn(name, 'STRING', values as (string | null)[]);
}

function tableOfRows(rows: readonly Row[]): ResultTable {
  const columns = Object.entries(TYPES).map(([name, type]) =>
    columnOfRows(
      name,
      type,
      rows.map((row) => row[name as Name]),
    ),
  );
  columns.push(
    columnOfRows(
      'id',
      'LONG',
      rows.map(({ id }) => BigInt(id)),
    ),
    columnOfRows(
      'isTaken',
      'LONG',
      rows.map(({ isTaken }) => (isTaken ? 1n : 0n)),
    ),
  );
  return { rowCount: rows.length, keys: [], columns };
}

/** Nulls first, whichever way numbers go. */
function byOrder(descending: boolean): (a: Row, b: Row) => number {
  return (a, b) => {
    const [left, right] = [a.order, b.order];
    if (left === null || right === null) return Number(left !== null) - Number(right !== null);
    return (descending ? -1 : 1) * Number((left as bigint) - (right as bigint));
  };
}

/** The rows of a frame by the definition of its bounds: `partition` is in order. */
function frameOf(
  partition: readonly Row[],
  at: number,
  frame: WindowFrame,
  isPeer: (a: Row, b: Row) => boolean,
  descending: boolean,
): Row[] {
  const own = partition[at] as Row;
  const groupOf = (place: number): number => {
    let group = 0;
    for (let row = 1; row <= place; row++) if (!isPeer(partition[row - 1] as Row, partition[row] as Row)) group++;
    return group;
  };
  const distance = (place: number): number => {
    if (frame.unit === 'rows') return place - at;
    return groupOf(place) - groupOf(at);
  };
  /** Distance of a row from the value that a bound reaches to, in the direction of the order. */
  const behind = (place: number, reach: string): number => {
    const [key, value] = [(partition[place] as Row).order, own[reach as Name]] as (bigint | null)[];
    if (value == null) return groupOf(place) - groupOf(at);
    if (key == null) return place < at ? -Infinity : Infinity;
    return Number(key - value) * (descending ? -1 : 1);
  };
  const past = (place: number, bound: FrameBound): number =>
    typeof bound === 'object' ? behind(place, bound.reach) : distance(place) - (bound as number);
  const isFrom = (place: number): boolean => frame.start === 'unbounded' || past(place, frame.start) >= 0;
  const isUpTo = (place: number): boolean => frame.end === 'unbounded' || past(place, frame.end) <= 0;
  return partition.filter((row, place) => {
    if (!isFrom(place) || !isUpTo(place)) return false;
    if (frame.exclude === 'row') return place !== at;
    if (frame.exclude === 'peers') return !isPeer(row, own);
    return frame.exclude === 'ties' ? place === at || !isPeer(row, own) : true;
  });
}

const wrapped = (value: bigint): bigint => BigInt.asIntN(64, value);

function compared(a: Value, b: Value): number {
  return a === b ? 0 : (a as string) < (b as string) ? -1 : 1;
}

/** The value of a function, from its partition in order and the rows of its frame. */
function expectedValue(
  each: WindowFunction,
  partition: readonly Row[],
  at: number,
  frame: readonly Row[],
  isPeer: (a: Row, b: Row) => boolean,
): Value {
  const { call } = each;
  const [name, otherwise] = each.columns as Name[];
  const own = partition[at] as Row;
  const before = partition.filter((row, place) => place < at && !isPeer(row, own)).length;
  const taken = each.filter === null ? frame : frame.filter(({ isTaken }) => isTaken);
  const values = name === undefined ? [] : taken.map((row) => row[name]).filter((value) => value !== null);
  switch (call.kind) {
    case 'rowNumber':
      return BigInt(at + 1);
    case 'rank':
      return BigInt(before + 1);
    case 'denseRank':
      return BigInt(partition.filter((row, place) => place > 0 && place <= at && !isPeer(row, partition[place - 1] as Row)).length + 1);
    case 'percentRank':
      return partition.length === 1 ? 0 : before / (partition.length - 1);
    case 'cumulativeDistribution':
      return partition.filter((row, place) => place <= at || isPeer(row, own)).length / partition.length;
    case 'tile': {
      const sizes = Array.from(
        { length: call.tiles },
        (_, tile) => Math.floor(partition.length / call.tiles) + Number(tile < partition.length % call.tiles),
      );
      let end = 0;
      return BigInt(sizes.findIndex((size) => at < (end += size)) + 1);
    }
    case 'shift': {
      const candidates =
        call.ignoresNulls && name !== undefined ? partition.filter((row, place) => place === at || row[name] !== null) : partition;
      const other = candidates[candidates.indexOf(own) + call.rows];
      if (other !== undefined && name !== undefined) return other[name];
      return otherwise === undefined ? null : own[otherwise];
    }
    case 'count':
      return BigInt(taken.length);
    case 'sum':
      if (values.length === 0) return null;
      return each.type === 'LONG'
        ? wrapped((values as bigint[]).reduce((sum, value) => sum + value, 0n))
        : (values as number[]).reduce((sum, value) => sum + value, -0);
    case 'min':
    case 'max':
      return values.reduce<Value>(
        (best, value) => (best === null || compared(value, best) * (call.kind === 'min' ? 1 : -1) < 0 ? value : best),
        null,
      );
    case 'first':
    case 'last': {
      const list = call.ignoresNulls ? values : frame.map((row) => row[name as Name]);
      return (call.kind === 'first' ? list[0] : list.at(-1)) ?? null;
    }
    default:
      throw new Error(`no definition of ${call.kind}`);
  }
}

const FRAMELESS: WindowFrame = { unit: 'range', start: 'unbounded', end: 0, exclude: null };

/** Bounds that reach to values, some of which hold no row. */
function reachOf(random: () => number): FrameBound {
  return random() < 0.25 ? 'unbounded' : random() < 0.2 ? 0 : { reach: random() < 0.5 ? 'below' : 'above' };
}

function drawnFunction(random: () => number, isOrdered: boolean): WindowFunction {
  const below = (count: number): number => Math.floor(random() * count);
  const bound = (unit: WindowFrame['unit']): FrameBound =>
    random() < 0.25 ? 'unbounded' : unit === 'range' ? 0 : below(random() < 0.2 ? 90 : 9) - 4;
  const unit = (['rows', 'range', 'groups'] as const)[below(3)] ?? 'rows';
  const reaches = unit === 'range' && isOrdered && random() < 0.6;
  const frame: WindowFrame = {
    unit,
    start: reaches ? reachOf(random) : bound(unit),
    end: reaches ? reachOf(random) : bound(unit),
    exclude: random() < 0.6 ? null : ((['row', 'peers', 'ties'] as const)[below(3)] ?? null),
  };
  const value = (['long', 'double', 'string'] as const)[below(3)] ?? 'long';
  const number = random() < 0.5 ? 'long' : 'double';
  const of = (call: WindowCall, type: ColumnType, columns: readonly Name[], more: Partial<WindowFunction> = {}): WindowFunction => ({
    name: 'result',
    type,
    call,
    columns,
    filter: null,
    frame: FRAMELESS,
    ...more,
  });
  const filter = random() < 0.3 ? 'isTaken' : null;
  const kinds: readonly (() => WindowFunction)[] = [
    () => of({ kind: (['rowNumber', 'rank', 'denseRank'] as const)[below(3)] ?? 'rank' }, 'LONG', []),
    () => of({ kind: (['percentRank', 'cumulativeDistribution'] as const)[below(2)] ?? 'percentRank' }, 'DOUBLE', []),
    () => of({ kind: 'tile', tiles: 1 + below(7) }, 'LONG', []),
    () => of({ kind: 'shift', rows: below(7) - 3, ignoresNulls: random() < 0.3 }, TYPES[value], [value]),
    () => of({ kind: 'shift', rows: below(7) - 3, ignoresNulls: false }, 'STRING', ['string', 'otherString']),
    () => of({ kind: 'shift', rows: below(7) - 3, ignoresNulls: false }, 'LONG', ['long', 'order']),
    () => of({ kind: 'count' }, 'LONG', [], { frame, filter }),
    () => of({ kind: 'sum' }, TYPES[number], [number], { frame, filter }),
    () => of({ kind: (['min', 'max'] as const)[below(2)] ?? 'min' }, TYPES[value], [value], { frame, filter }),
    () => of({ kind: (['first', 'last'] as const)[below(2)] ?? 'first', ignoresNulls: random() < 0.4 }, TYPES[value], [value], { frame }),
  ];
  return (kinds[below(kinds.length)] as () => WindowFunction)();
}

/** An aggregate over the whole partition, where there is no order. */
function drawnAggregate(random: () => number): WindowFunction {
  for (;;) {
    const each = drawnFunction(random, false);
    if (['count', 'sum', 'min', 'max'].includes(each.call.kind)) return { ...each, frame: random() < 0.5 ? FRAMELESS : WHOLE };
  }
}

const WHOLE: WindowFrame = { unit: 'rows', start: 'unbounded', end: 'unbounded', exclude: null };

for (let seed = 1; seed <= caseCount(200); seed++)
  windows(`drawn rows and functions, seed ${seed}`, () => {
    const random = randomSource(seed);
    const rows = drawnRows(random);
    const [isParted, isOrdered, descending] = [random() < 0.8, random() < 0.6, random() < 0.5];
    const isSeen = random() < 0.5;
    // Aggregates over whole partitions, alone, need no order.
    const areWhole = !isSeen && random() < 0.5;
    const drawnOne = (): WindowFunction => (areWhole ? drawnAggregate(random) : drawnFunction(random, isOrdered));
    const functions = Array.from({ length: 3 }, (_, index) => ({ ...drawnOne(), name: `f${index}` }));
    const order: readonly SortKey[] = isOrdered ? [{ column: 'order', descending, nulls: 'first', ordering: 'lexicographic' }] : [];
    const step = { step: 'window', partition: isParted ? ['part'] : [], order, functions } as const;
    const found = windowColumns(tableOfRows(rows), isSeen ? step : { ...step, inAnyOrder: true }, LEAF);
    const valueOf = (name: string, row: number): Value =>
      valueAt(found.columns.find((column) => column.name === name) as ResultColumn, row);
    const compare = isOrdered ? byOrder(descending) : () => 0;
    assert.is(found.rowCount, rows.length);
    for (let row = 0; row < found.rowCount; row++) {
      const own = rows[Number(valueOf('id', row))] as Row;
      // Equal rows stay in their order.
      const partition = rows.filter(({ part }) => !isParted || part === own.part).sort((a, b) => compare(a, b) || a.id - b.id);
      const at = partition.indexOf(own);
      const isPeer = (a: Row, b: Row): boolean => compare(a, b) === 0;
      for (const each of functions) {
        const expected = expectedValue(each, partition, at, frameOf(partition, at, each.frame, isPeer, descending), isPeer);
        const value = valueOf(each.name, row);
        if (typeof expected === 'number')
          assert.ok(value === expected, `${JSON.stringify(each)} of row ${own.id} is ${String(value)}, not ${expected}`);
        else assert.is(value, expected, `${JSON.stringify(each)} of row ${own.id}`);
      }
    }
  });

windows.run();
