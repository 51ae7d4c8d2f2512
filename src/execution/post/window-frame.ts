// Frames of window functions: which rows belong to each.

import { assert } from '../../base/errors.js';
import { compareValues, type Value } from '../../expression/value.js';
import type { SortKey } from '../../model/plan.js';
import type { FrameBound, WindowFrame } from '../../model/window.js';
import { columnNamed, type ResultColumn, type ResultTable, valueAt } from '../block/result-table.js';

/** Rows [start, end). */
export interface Partition {
  readonly start: number;
  readonly end: number;
}

/** For each row, the first row of those around it that are alike in some columns, and the row after the last of them. */
export interface Runs {
  readonly starts: Uint32Array;
  readonly ends: Uint32Array;
}

/** Sorted rows with their partitions, and with their peers in these. */
export interface WindowRows {
  readonly table: ResultTable;
  readonly order: readonly SortKey[];
  readonly partitions: Runs;
  readonly peers: Runs;
}

/** The rows of frames: at most three stretches `[bounds[0], bounds[1])`, `[bounds[2], bounds[3])`, ... none of which is empty. */
export class FrameSpans {
  readonly bounds = new Uint32Array(6);
  count = 0;
  readonly #rows: WindowRows;
  readonly #frame: WindowFrame;
  readonly #lowest: (row: number, partition: Partition) => number;
  readonly #end: (row: number, partition: Partition) => number;

  constructor(rows: WindowRows, frame: WindowFrame) {
    this.#rows = rows;
    this.#frame = frame;
    this.#lowest = startOf(rows, frame);
    this.#end = endOf(rows, frame);
  }

  /** Finds the frame of a row. */
  find(row: number, partition: Partition): void {
    const { exclude } = this.#frame;
    const low = this.#lowest(row, partition);
    const high = this.#end(row, partition);
    this.count = 0;
    if (exclude === null) {
      this.#add(low, high);
      return;
    }
    const { starts, ends } = this.#rows.peers;
    const [from, to] = exclude === 'row' ? [row, row + 1] : [starts[row] ?? row, ends[row] ?? row + 1];
    this.#add(low, Math.min(high, from));
    if (exclude === 'ties') this.#add(Math.max(low, row), Math.min(high, row + 1));
    this.#add(Math.max(low, to), high);
  }

  #add(start: number, end: number): void {
    if (start >= end) return;
    this.bounds[this.count * 2] = start;
    this.bounds[this.count * 2 + 1] = end;
    this.count++;
  }
}

type Edge = (row: number, partition: Partition) => number;

function startOf(rows: WindowRows, { unit, start }: WindowFrame): Edge {
  if (start === 'unbounded') return (_, partition) => partition.start;
  const { peers } = rows;
  if (unit === 'rows') return (row, partition) => clamp(row + distanceOf(start), partition);
  if (typeof start === 'object') {
    const first = reachSearch(rows, start.reach);
    return (row, partition) => first(row, partition, false) ?? peers.starts[row] ?? row;
  }
  if (unit === 'range' || start === 0) return (row) => peers.starts[row] ?? row;
  const groups = new PeerGroups(rows);
  return (row, partition) => groups.startOf(row, start, partition);
}

function endOf(rows: WindowRows, { unit, end }: WindowFrame): Edge {
  if (end === 'unbounded') return (_, partition) => partition.end;
  const { peers } = rows;
  if (unit === 'rows') return (row, partition) => clamp(row + distanceOf(end) + 1, partition);
  if (typeof end === 'object') {
    const after = reachSearch(rows, end.reach);
    return (row, partition) => after(row, partition, true) ?? peers.ends[row] ?? row + 1;
  }
  if (unit === 'range' || end === 0) return (row) => peers.ends[row] ?? row + 1;
  const groups = new PeerGroups(rows);
  return (row, partition) => groups.endOf(row, end, partition);
}

function distanceOf(bound: FrameBound): number {
  assert(typeof bound === 'number', 'rows are counted');
  return bound;
}

function clamp(at: number, { start, end }: Partition): number {
  return Math.min(end, Math.max(start, at));
}

/** Groups of peers by number, over all partitions. */
class PeerGroups {
  readonly #numbers: Uint32Array;
  readonly #starts: number[] = [];

  constructor({ table: { rowCount }, peers }: WindowRows) {
    this.#numbers = new Uint32Array(rowCount);
    for (let row = 0; row < rowCount; row = peers.ends[row] ?? rowCount) {
      this.#numbers.fill(this.#starts.length, row, peers.ends[row] ?? rowCount);
      this.#starts.push(row);
    }
    this.#starts.push(rowCount);
  }

  startOf(row: number, distance: number, { start, end }: Partition): number {
    const [first = 0, last = 0, own = 0] = [this.#numbers[start], this.#numbers[end - 1], this.#numbers[row]];
    return own + distance > last ? end : (this.#starts[Math.max(first, own + distance)] ?? end);
  }

  endOf(row: number, distance: number, { start, end }: Partition): number {
    const [first = 0, last = 0, own = 0] = [this.#numbers[start], this.#numbers[end - 1], this.#numbers[row]];
    return own + distance < first ? start : (this.#starts[Math.min(last, own + distance) + 1] ?? end);
  }
}

/**
 * Finds the first row of a partition whose key is not before (or with `after` is behind) the value that a row has in
 * column `reach`. Undefined where that is null or not a number: nothing has a distance from there.
 */
function reachSearch(
  { table, order }: WindowRows,
  reach: string,
): (row: number, partition: Partition, after: boolean) => number | undefined {
  const [key] = order;
  assert(key !== undefined && order.length === 1, 'a frame with a distance needs an order of one key');
  const [keys, reaches] = [columnNamed(table, key.column), columnNamed(table, reach)];
  const compare = (a: Exclude<Value, null>, b: Exclude<Value, null>): number => (key.descending ? -1 : 1) * (compareValues(a, b) ?? 0);
  let known: Partition | undefined;
  let placed: Partition = { start: 0, end: 0 };
  return (row, partition, after) => {
    if (known !== partition) [known, placed] = [partition, placedRows(keys, partition)];
    const value = valueAt(reaches, row);
    if (value === null || Number.isNaN(value)) return undefined;
    let [low, high] = [placed.start, placed.end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compare(valueAt(keys, middle) ?? 0n, value);
      if (order < 0 || (after && order === 0)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** Nulls, and what is not a number, stand at the ends. */
function placedRows(keys: ResultColumn, { start, end }: Partition): Partition {
  const isPlaced = (row: number): boolean => {
    const value = valueAt(keys, row);
    return value !== null && !Number.isNaN(value);
  };
  let [low, high] = [start, end];
  while (low < high && !isPlaced(low)) low++;
  while (high > low && !isPlaced(high - 1)) high--;
  return { start: low, end: high };
}
