// Takes lines of JSON apart into the members of each name.

import { Buffer } from 'node:buffer';
import { parseJson, parseJsonWithDoubles } from '../../base/json.js';
import { own } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { FIELD, NAME_RECORD_BYTES, ODD_NAME, ODD_ROW, SCAN_STATE } from '../../kernels/scan-contract.js';
import { type InputBench, inputBench, Room } from '../column/input-bench.js';
import type { JsonObject } from './flatten.js';
import type { InputBlock, Members, ValueBlock } from './input-block.js';
import { countFeeds } from './text-rows.js';

/** Kind of the members of a row that was not taken apart. */
const UNKNOWN_KIND = 8;
const FIELD_BYTES = 9;
const BLOCK_FIELDS = 1 << 17;
const [BLOCK_ROWS_MIN, BLOCK_ROWS_MAX] = [64, 4096];
/** Rows of more names together are better read one by one. */
const NAMES_MAX = 4096;
/** Bytes that the kernel may read behind the text. */
const PADDING = 16;
const LINE_FEED = 10;
/** Digits of whole numbers that doubles hold, whichever they are. */
const SHORT_DIGITS = 15;
const ZERO = 48;
/** Objects list such names first. */
const INDEX_NAME = /^(?:0|[1-9]\d{0,9})$/;
/** Integers that a double may not hold; digits behind a point are not part of an integer. */
export const LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/;
export const SAMPLE_LENGTH_MAX = 10_000;

/**
 * Reads a line that is not plainly one object; undefined: it is blank, or was rejected.
 * @param before  rows of its block before it
 * @param feeds   line feeds of the piece before it
 */
export type ReadOdd = (text: string, before: number, feeds: number) => JsonObject | undefined;

/** End of the lines of a piece that were taken. */
interface Taken {
  /** Bytes; less than all when the names of the lines are not to be kept apart. */
  readonly taken: number;
  /** Line feeds among them. */
  readonly feeds: number;
}

/** The lines of one file, in kernel memory piece by piece. `close` gives the memory back. */
export class JsonScanner {
  readonly #bench: InputBench;
  readonly #text: Room;
  readonly #nameBytes: Room;
  readonly #records: Room;
  readonly #fields: Room;
  readonly #rows: Room;
  readonly #state: Room;
  readonly #names: string[] = [];
  readonly #columns = new Map<string, number>();
  /** Views of the fields of each name, which are not moved but for more names. */
  readonly #planes: Plane[] = [];
  #nameBytesUsed = 0;
  /** Names that there is room for. */
  #capacity = 64;
  #blockRows = BLOCK_ROWS_MAX;
  /** Rows of the fields that may have been written. */
  #used = 0;

  /** @param kernels  name of the set */
  constructor(kernels: string) {
    this.#bench = inputBench(kernels);
    const room = (): Room => new Room(this.#bench.memory);
    [this.#text, this.#nameBytes, this.#records, this.#fields, this.#rows, this.#state] = [room(), room(), room(), room(), room(), room()];
    this.#state.grow(SCAN_STATE.words * 4);
    this.#bench.memory.u32(this.#state.at, SCAN_STATE.words).fill(0);
    this.#rows.grow(BLOCK_ROWS_MAX * 8);
    this.#nameBytes.grow(1024);
    this.#makeRoom(this.#capacity);
  }

  close(): void {
    for (const room of [this.#text, this.#nameBytes, this.#records, this.#fields, this.#rows, this.#state]) room.free();
  }

  /**
   * The rows of some lines, a block at a time; each is valid until the next is asked for.
   * @param piece      whole lines of valid UTF-8
   * @param firstLine  line of the content that the piece begins with
   */
  *blocks(piece: Buffer, readOdd: ReadOdd, firstLine: number): Generator<ValueBlock, Taken> {
    const { memory, kernels } = this.#bench;
    const feeds = new FeedCount(piece);
    this.#text.grow(piece.length + 1 + PADDING);
    memory.u8(this.#text.at, piece.length).set(piece);
    memory.u8(this.#text.at + piece.length, 1)[0] = LINE_FEED;
    this.#setState(SCAN_STATE.at, 0);
    let before = 0;
    for (;;) {
      if (before === 0) this.#clearFields();
      this.#setState(SCAN_STATE.rows, before);
      const { at: text } = this.#text;
      const count = kernels.scanJson(
        text,
        piece.length,
        this.#state.at,
        this.#nameBytes.at,
        this.#records.at,
        this.#rows.at,
        this.#fields.at,
        this.#blockRows,
      );
      // The row that was given up may have been written to as well.
      this.#used = Math.min(count + 1, this.#blockRows);
      const [at = 0, , unknownStart = 0, unknownEnd = 0] = memory.u32(this.#state.at, SCAN_STATE.words);
      // The block goes on, as long as there is room for the members of one more name.
      if (unknownEnd > 0 && this.#names.length < this.#capacity && this.#add(piece.subarray(unknownStart, unknownEnd))) {
        before = count;
        continue;
      }
      before = 0;
      if (count > 0) {
        const block = this.#block(piece, count, { readOdd, firstLine, feeds });
        if (block.rowCount > 0) yield block;
      }
      if (unknownEnd > 0) {
        if (!this.#add(piece.subarray(unknownStart, unknownEnd))) return { taken: at, feeds: feeds.before(at) };
      } else if (at >= piece.length) return { taken: at, feeds: feeds.before(at) };
    }
  }

  #block(piece: Buffer, count: number, { readOdd, firstLine, feeds }: LineReading): ValueBlock & Pick<InputBlock, 'lineOf'> {
    const { memory } = this.#bench;
    const bounds = memory.u32(this.#rows.at, count * 2);
    const planes = this.#names.map((_, column) => this.#plane(column));
    const odd = new Map<number, JsonObject>();
    const lines = new Uint32Array(count * 2);
    const numbers = new Uint32Array(count);
    let kept = 0;
    for (let row = 0; row < count; row++) {
      const [start = 0, end = 0] = [bounds[row * 2], bounds[row * 2 + 1]];
      const isOdd = end >= ODD_ROW;
      lines[kept * 2] = start;
      const feed = isOdd ? end - ODD_ROW : end;
      lines[kept * 2 + 1] = feed;
      const before = feeds.before(start);
      feeds.passLine(feed);
      numbers[kept] = before;
      if (isOdd) {
        const object = readOdd(piece.toString('utf8', start, feed), kept, before);
        if (object === undefined) continue;
        odd.set(kept, object);
        for (const { kinds } of planes) kinds[row] = UNKNOWN_KIND;
      }
      if (kept < row) for (const plane of planes) moveRow(plane, row, kept);
      kept++;
    }
    const block = scannedBlock({
      piece,
      text: this.#textOf(piece.length),
      memory,
      names: this.#names,
      columns: this.#columns,
      planes,
      odd,
      lines,
      rowCount: kept,
    });
    return Object.assign(block, { lineOf: (row: number) => firstLine + (numbers[row] ?? 0) });
  }

  /** The piece in kernel memory. */
  #textOf(length: number): Buffer {
    const { at } = this.#text;
    return Buffer.from(this.#bench.memory.u8(at, length).buffer, at, length);
  }

  #plane(column: number): Plane {
    const known = this.#planes[column];
    if (known !== undefined) return known;
    const { memory } = this.#bench;
    const rows = this.#blockRows;
    const at = this.#fields.at + column * rows * FIELD_BYTES;
    const plane = { starts: memory.i32(at, rows), ends: memory.i32(at + rows * 4, rows), kinds: memory.u8(at + rows * 8, rows) };
    this.#planes[column] = plane;
    return plane;
  }

  #clearFields(): void {
    for (let column = 0; column < this.#names.length; column++) {
      const { ends, kinds } = this.#plane(column);
      ends.fill(-1, 0, this.#used);
      kinds.fill(FIELD.missing, 0, this.#used);
    }
  }

  /** False when rows of this name are not to be taken apart. */
  #add(bytes: Buffer): boolean {
    const name = bytes.toString('utf8');
    if (this.#names.length >= NAMES_MAX) return false;
    const { memory } = this.#bench;
    const column = this.#names.length;
    if (column === this.#capacity) this.#makeRoom(this.#capacity * 2);
    this.#nameBytes.grow(this.#nameBytesUsed + bytes.length + PADDING);
    memory.u8(this.#nameBytes.at + this.#nameBytesUsed, bytes.length).set(bytes);
    memory
      .u32(this.#records.at + column * NAME_RECORD_BYTES, 4)
      .set([this.#nameBytesUsed, bytes.length, INDEX_NAME.test(name) ? ODD_NAME : 0, 0]);
    this.#nameBytesUsed += bytes.length;
    this.#names.push(name);
    this.#columns.set(name, column);
    this.#setState(SCAN_STATE.nameCount, column + 1);
    const { ends, kinds } = this.#plane(column);
    ends.fill(-1);
    kinds.fill(FIELD.missing);
    return true;
  }

  #makeRoom(capacity: number): void {
    this.#capacity = capacity;
    this.#blockRows = Math.min(BLOCK_ROWS_MAX, Math.max(BLOCK_ROWS_MIN, BLOCK_FIELDS / capacity));
    this.#records.grow(capacity * NAME_RECORD_BYTES);
    this.#fields.grow(capacity * this.#blockRows * FIELD_BYTES);
    this.#used = this.#blockRows;
    this.#planes.length = 0;
  }

  #setState(word: number, value: number): void {
    this.#bench.memory.u32(this.#state.at + word * 4, 1)[0] = value;
  }
}

/** Means to read the lines of a piece beside blocks. */
interface LineReading {
  readonly readOdd: ReadOdd;
  readonly firstLine: number;
  readonly feeds: FeedCount;
}

/** Counts the line feeds of a piece, one line after the other. */
class FeedCount {
  readonly #piece: Buffer;
  #at = 0;
  #count = 0;

  constructor(piece: Buffer) {
    this.#piece = piece;
  }

  /** Line feeds before a position behind those asked for before: blank lines are not rows. */
  before(at: number): number {
    if (at > this.#at) {
      this.#count += countFeeds(this.#piece, this.#at, at);
      this.#at = at;
    }
    return this.#count;
  }

  /** Passes the line that ends with the line feed at a position; the last one may lack it. */
  passLine(feed: number): void {
    this.#at = feed + 1;
    if (feed < this.#piece.length) this.#count++;
  }
}

interface Plane {
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly kinds: Uint8Array;
}

function moveRow({ starts, ends, kinds }: Plane, from: number, to: number): void {
  starts[to] = starts[from] ?? 0;
  ends[to] = ends[from] ?? 0;
  kinds[to] = kinds[from] ?? 0;
}

interface Scanned {
  readonly piece: Buffer;
  /** The same in kernel memory, where the planes are. */
  readonly text: Buffer;
  readonly memory: KernelMemory;
  readonly names: readonly string[];
  readonly columns: ReadonlyMap<string, number>;
  readonly planes: readonly Plane[];
  /** Rows that were not taken apart. */
  readonly odd: ReadonlyMap<number, JsonObject>;
  /** Start and end of each row's line. */
  readonly lines: Uint32Array;
  readonly rowCount: number;
}

function scannedBlock(scanned: Scanned): ValueBlock {
  const { piece, text: bytes, memory, columns, planes, odd, lines, rowCount } = scanned;
  const members = (column: string): Members | undefined => {
    const plane = planes[columns.get(column) ?? -1];
    if (plane === undefined) return undefined;
    const { starts, ends, kinds } = plane;
    const value = (row: number): unknown => {
      const kind = kinds[row] ?? FIELD.missing;
      return kind === UNKNOWN_KIND ? ownOf(odd.get(row), column) : valueOf(piece, kind, starts[row] ?? 0, ends[row] ?? 0);
    };
    return { bytes, memory, starts, ends, kinds, value };
  };
  const record = (row: number): JsonObject => {
    const object = odd.get(row);
    if (object !== undefined) return object;
    const text = piece.toString('utf8', lines[row * 2] ?? 0, lines[row * 2 + 1] ?? 0);
    // A row with objects or lists has no integer beside them that a double may not hold.
    const hasNested = planes.some(({ kinds }) => kinds[row] === FIELD.nested);
    return (hasNested ? parseJsonWithDoubles(text) : parseRow(text)) as JsonObject;
  };
  return {
    kind: 'values',
    rowCount,
    get columns() {
      return columnsOf(scanned);
    },
    values(column) {
      const found = members(column);
      return Array.from({ length: rowCount }, (_, row) => (found === undefined ? ownOf(odd.get(row), column) : found.value(row)));
    },
    members,
    record,
    sample: (row) => (shallowJsonText(record(row)) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

/** Names in the order of the rows, and of the members of the row that has a name first. */
function columnsOf({ names, planes, odd, rowCount }: Scanned): readonly string[] {
  const firsts = new Map<string, readonly [row: number, place: number]>();
  for (const [column, name] of names.entries()) {
    const { starts = new Int32Array(0), kinds = new Uint8Array(0) } = planes[column] ?? {};
    for (let row = 0; row < rowCount; row++) {
      const kind = kinds[row] ?? FIELD.missing;
      if (kind === FIELD.missing || kind === UNKNOWN_KIND) continue;
      firsts.set(name, [row, starts[row] ?? 0]);
      break;
    }
  }
  for (const [row, object] of odd)
    for (const [place, name] of Object.keys(object).entries())
      if (row < (firsts.get(name)?.[0] ?? rowCount)) firsts.set(name, [row, place]);
  return [...firsts].sort(([, [row, place]], [, [otherRow, otherPlace]]) => row - otherRow || place - otherPlace).map(([name]) => name);
}

function ownOf(object: JsonObject | undefined, name: string): unknown {
  return object === undefined ? undefined : own(object, name);
}

/** JSON to values; a long beyond 2^53 becomes a bigint. */
export function parseRow(text: string): unknown {
  return LONG_INTEGER.test(text) ? parseJson(text) : parseJsonWithDoubles(text);
}

function valueOf(bytes: Buffer, kind: number, start: number, end: number): unknown {
  switch (kind) {
    case FIELD.missing:
      return undefined;
    case FIELD.null:
      return null;
    case FIELD.true:
      return true;
    case FIELD.false:
      return false;
    case FIELD.string:
      return bytes.toString('utf8', start, end);
    case FIELD.escapedString:
      return parseJsonWithDoubles(bytes.toString('utf8', start - 1, end + 1));
    case FIELD.nested:
      return parseJsonWithDoubles(bytes.toString('utf8', start, end));
    default:
      return shortWhole(bytes, start, end) ?? parseRow(bytes.toString('utf8', start, end));
  }
}

/** A number that is written as at most 15 digits, all of which a double holds; undefined: it is written otherwise. */
function shortWhole(bytes: Buffer, start: number, end: number): number | undefined {
  if (end - start > SHORT_DIGITS) return undefined;
  let value = 0;
  for (let at = start; at < end; at++) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}
