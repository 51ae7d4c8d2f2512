import { ServiceError } from '../../base/errors.js';
import type { Frame, FrameColumn } from '../../model/frame.js';
import { isNullAt } from '../../model/frame.js';
import type { WantedColumn } from './rows.js';
import { findColumn, gatherColumn, NO_ROW, selectColumns } from './rows.js';

/** Pairs of one output frame: a row that meets many others is spread over several frames. */
const PIECE_ROWS = 1 << 16;

export interface HashJoinOptions {
  /** All rows of the right side, with its key columns. */
  readonly right: Frame;
  /** Names of the key columns, on both sides the same and of the same types; none: every row meets every row. */
  readonly keys: readonly string[];
  readonly type: 'inner' | 'left' | 'right' | 'full';
  readonly prefix: string;
  readonly leftColumns: readonly WantedColumn[];
  /** Without the prefix. */
  readonly rightColumns: readonly WantedColumn[];
}

/**
 * Joins frames of the left side, one after another, with a right side held in memory. Key values are numbered once per
 * dictionary entry; rows of the right side lie grouped by key, in their own order. Output columns: left, then right
 * with the prefix; left rows in order.
 */
export class HashJoin {
  readonly #options: HashJoinOptions;
  readonly #numbering: KeyNumbering;
  /** Rows with key `k`: `#rows[#starts[k] .. #starts[k + 1])`. */
  readonly #starts: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #matched: Uint8Array;

  constructor(options: HashJoinOptions) {
    const { right, keys } = options;
    this.#options = options;
    this.#numbering = new KeyNumbering(right, keys);
    const numbers = this.#numbering.ofBuild;
    this.#starts = new Uint32Array(this.#numbering.count + 1);
    for (const number of numbers) if (number >= 0) this.#starts[number + 1] = (this.#starts[number + 1] ?? 0) + 1;
    for (let key = 0; key < this.#numbering.count; key++) this.#starts[key + 1] = (this.#starts[key + 1] ?? 0) + (this.#starts[key] ?? 0);
    const next = this.#starts.slice();
    this.#rows = new Uint32Array(this.#starts[this.#numbering.count] ?? 0);
    numbers.forEach((number, row) => {
      if (number < 0) return;
      const at = next[number] ?? 0;
      this.#rows[at] = row;
      next[number] = at + 1;
    });
    this.#matched = new Uint8Array(right.rowCount);
  }

  *probe(left: Frame): Generator<Frame> {
    const { keys, type } = this.#options;
    const keepsLeft = type === 'left' || type === 'full';
    const numbers = this.#numbering.find(left, keys);
    const [leftRows, rightRows] = [new Uint32Array(PIECE_ROWS), new Uint32Array(PIECE_ROWS)];
    let count = 0;
    for (let row = 0; row < left.rowCount; row++) {
      const key = numbers[row] ?? -1;
      const start = key < 0 ? 0 : (this.#starts[key] ?? 0);
      const end = key < 0 ? 0 : (this.#starts[key + 1] ?? 0);
      if (start === end && !keepsLeft) continue;
      for (let at = start; at < Math.max(end, start + 1); at++) {
        const partner = start === end ? NO_ROW : (this.#rows[at] ?? 0);
        leftRows[count] = row;
        rightRows[count++] = partner;
        if (partner !== NO_ROW) this.#matched[partner] = 1;
        if (count < PIECE_ROWS) continue;
        yield this.#output(left, leftRows, rightRows);
        count = 0;
      }
    }
    if (count > 0) yield this.#output(left, leftRows.subarray(0, count), rightRows.subarray(0, count));
  }

  /** After the last probe: rows of the right side that nothing met, where the join keeps them. */
  *rest(): Generator<Frame> {
    const { type, right } = this.#options;
    if (type !== 'right' && type !== 'full') return;
    const empty: Frame = { rowCount: 0, columns: [] };
    const rows = new Uint32Array(PIECE_ROWS);
    let count = 0;
    for (let row = 0; row < right.rowCount; row++) {
      if (this.#matched[row] === 1) continue;
      rows[count++] = row;
      if (count < PIECE_ROWS) continue;
      yield this.#output(empty, rows.slice().fill(NO_ROW), rows);
      count = 0;
    }
    if (count > 0) yield this.#output(empty, new Uint32Array(count).fill(NO_ROW), rows.subarray(0, count));
  }

  #output(left: Frame, leftRows: Uint32Array, rightRows: Uint32Array): Frame {
    const { right, prefix, leftColumns, rightColumns } = this.#options;
    return {
      rowCount: leftRows.length,
      columns: [
        ...selectColumns(left, leftColumns).columns.map((column) => gatherColumn(column, leftRows)),
        ...selectColumns(right, rightColumns).columns.map((column) => ({
          ...gatherColumn(column, rightRows),
          name: prefix + column.name,
        })),
      ],
    };
  }
}

/** Numbers the distinct keys of the build side from 0; -1 stands for a key with a null, or one the build side lacks. */
class KeyNumbering {
  readonly ofBuild: Int32Array;
  readonly #columns: Map<string | bigint | number, number>[];
  /** From the second column on: the number so far and that of the column, to a number of both. */
  readonly #pairs: Map<number, number>[];
  count: number;

  constructor(build: Frame, keys: readonly string[]) {
    this.#columns = keys.map(() => new Map());
    this.#pairs = keys.slice(1).map(() => new Map());
    this.count = keys.length === 0 ? 1 : 0;
    const columns = keys.map((name, index) =>
      numberColumn(keyColumn(build, name), build.rowCount, this.#columns[index] ?? new Map(), true),
    );
    this.ofBuild = this.#combine(columns, build.rowCount, true);
    this.count = Math.max(this.count, (this.#pairs.at(-1) ?? this.#columns[0])?.size ?? 1);
  }

  find(probe: Frame, keys: readonly string[]): Int32Array {
    const columns = keys.map((name, index) =>
      numberColumn(keyColumn(probe, name), probe.rowCount, this.#columns[index] ?? new Map(), false),
    );
    return this.#combine(columns, probe.rowCount, false);
  }

  #combine([first, ...others]: readonly Int32Array[], rowCount: number, grows: boolean): Int32Array {
    if (first === undefined) return new Int32Array(rowCount);
    others.forEach((column, index) => {
      const pairs = this.#pairs[index] ?? new Map<number, number>();
      const size = this.#columns[index + 1]?.size ?? 0;
      for (let row = 0; row < rowCount; row++) {
        const [left, right] = [first[row] ?? -1, column[row] ?? -1];
        if (left < 0 || right < 0) first[row] = -1;
        // Below 2^53, as both are numbers of rows.
        else first[row] = numberOf(pairs, left * size + right, grows);
      }
    });
    return first;
  }
}

function keyColumn(frame: Frame, name: string): Exclude<FrameColumn, { kind: 'multi' }> | undefined {
  const column = findColumn(frame, name);
  if (column?.kind !== 'multi') return column;
  throw new ServiceError('unsupported', 'a multi-value column cannot be the key of a join; unnest it first');
}

function numberColumn(
  column: Exclude<FrameColumn, { kind: 'multi' }> | undefined,
  rowCount: number,
  numbers: Map<string | bigint | number, number>,
  grows: boolean,
): Int32Array {
  const found = new Int32Array(rowCount).fill(-1);
  if (column === undefined) return found;
  if (column.kind === 'string') {
    const { ids, dictionary } = column;
    const byEntry = new Int32Array(dictionary.length).fill(NOT_LOOKED_UP);
    for (let row = 0; row < rowCount; row++) {
      const id = ids[row] ?? 0;
      if (byEntry[id] === NOT_LOOKED_UP) {
        const text = dictionary[id] ?? null;
        byEntry[id] = text === null ? -1 : numberOf(numbers, text, grows);
      }
      found[row] = byEntry[id] ?? -1;
    }
    return found;
  }
  for (let row = 0; row < rowCount; row++) {
    const value = column.values[row];
    if (value !== undefined && !isNullAt(column.nulls, row)) found[row] = numberOf(numbers, value, grows);
  }
  return found;
}

const NOT_LOOKED_UP = -2;

function numberOf<Key>(numbers: Map<Key, number>, key: Key, grows: boolean): number {
  const known = numbers.get(key);
  if (known !== undefined) return known;
  if (!grows) return -1;
  const number = numbers.size;
  numbers.set(key, number);
  return number;
}
