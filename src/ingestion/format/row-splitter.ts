// Cuts delimited text into rows and fields.

import type { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import { TextMemory } from '../column/text-memory.js';
import { type DelimitedFormat, type DelimitedReading, firstDuplicate, LIST_DELIMITER } from './delimited-format.js';
import type { RowLimits } from './format-kind.js';
import type { InputBlock, RejectRow, TextBlock } from './input-block.js';
import { rowTooLong, textFault } from './text-rows.js';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;
const NO_BYTE = -1;
const BUFFER_BYTES = 4 << 20;
/** Short enough that a block's bytes are still in the cache when the last column is read. */
const BLOCK_ROWS_MAX = 2048;
/** Wide rows come in shorter blocks: the positions of a block's fields take at most 32 MiB. */
const BLOCK_FIELDS_MAX = 1 << 22;

/** The bytes of delimited text on their way into blocks (`readDelimited`), in kernel memory, which `close` gives back. */
export class RowSplitter {
  readonly #format: DelimitedFormat;
  readonly #name: string;
  readonly #limits: RowLimits;
  readonly #reject: RejectRow;
  readonly #delimiter: number;
  readonly #quote: number;
  readonly #memory: TextMemory;
  #bytes: Buffer;
  /** Position in the file from which on rows are not wanted. */
  until = Number.POSITIVE_INFINITY;
  /** Position of the buffer in the file. */
  #base = 0;
  /** Bytes [at, filled) are still to be cut; two more bytes are kept for line feeds that end them. */
  #at = 0;
  #filled = 0;
  #first = true;
  #skip: number;
  #columns: readonly string[] | null;
  #expectsHeader: boolean;
  #starts: Int32Array[] = [];
  #ends: Int32Array[] = [];
  #blockRows = BLOCK_ROWS_MAX;
  readonly #rowStarts = new Int32Array(BLOCK_ROWS_MAX);
  readonly #rowEnds = new Int32Array(BLOCK_ROWS_MAX);
  /** Lines that the rows begin in; a block keeps them. */
  #rowLines = new Int32Array(0);
  /** Line feeds before `at`, from where reading began. */
  #feeds = 0;
  /** Rows that cannot be cut, by their places among those of the block. */
  readonly #rejected: { readonly row: number; readonly reason: string; readonly sample: string; readonly line: number }[] = [];
  /** The row behind those that were cut is. */
  #isTooLong = false;
  /** Rows of the block with a quoted field that has `""` in it. */
  #escapedRows: number[] = [];
  /** A row that is not whole yet is cut again only when the buffer holds so many bytes. */
  #worthCutting = 3;

  constructor(format: DelimitedFormat, { name, limits, reject, kernels }: DelimitedReading) {
    this.#memory = new TextMemory(kernels);
    this.#bytes = this.#memory.text(BUFFER_BYTES + 2);
    this.#format = format;
    this.#name = name;
    this.#limits = limits;
    this.#reject = reject;
    this.#delimiter = format.delimiter.charCodeAt(0);
    this.#quote = format.type === 'csv' ? QUOTE : NO_BYTE;
    this.#skip = format.skipHeaderRows;
    this.#columns = null;
    this.#expectsHeader = format.findColumnsFromHeader;
    if (!this.#expectsHeader && format.columns !== null) this.#setColumns(format.columns);
  }

  close(): void {
    this.#memory.close();
  }

  /** Position of the next row in the file. */
  get position(): number {
    return this.#base + this.#at;
  }

  /** Whether the next row begins behind those that are wanted. */
  get isDone(): boolean {
    return this.position >= this.until && this.#columns !== null && this.#skip === 0;
  }

  /** Line feeds that were passed, from where reading began. */
  get feeds(): number {
    return this.#feeds;
  }

  /** Goes on at a position of the file, where a row is taken to begin. */
  startAt(position: number): void {
    this.#feeds = 0;
    this.#base = position;
    this.#at = this.#filled = this.#worthCutting = 0;
    this.#first = false;
  }

  /** Moves what is left to the front and takes in as much of `chunk` as there is room for. Returns the bytes taken. */
  fill(chunk: Uint8Array, from: number): number {
    if (this.#at > 0) this.#bytes.copyWithin(0, this.#at, this.#filled);
    this.#base += this.#at;
    this.#filled -= this.#at;
    this.#at = 0;
    if (this.#filled >= this.#bytes.length - 2) this.#grow();
    const count = Math.min(chunk.length - from, this.#bytes.length - 2 - this.#filled);
    this.#bytes.set(chunk.subarray(from, from + count), this.#filled);
    this.#filled += count;
    if (this.#first) this.#skipByteOrderMark();
    return count;
  }

  /** Whole rows of the buffer; at the end of the input also a last row without a line feed. */
  *blocks(isLast: boolean): Generator<TextBlock> {
    if (!isLast && this.#filled - this.#at < this.#worthCutting) return;
    yield* this.#wholeRows(isLast);
    const left = this.#filled - this.#at;
    if (left > this.#limits.maxRowBytes && !this.isDone) throw rowTooLong(this.#name, this.#limits.maxRowBytes);
    this.#worthCutting = Math.min(left * 2, this.#limits.maxRowBytes + 1);
  }

  *#wholeRows(isLast: boolean): Generator<TextBlock> {
    if (isLast && this.#filled > this.#at && this.#bytes[this.#filled - 1] !== LINE_FEED) this.#bytes[this.#filled++] = LINE_FEED;
    if (!this.takeHead(isLast)) return;
    for (;;) {
      const cut = this.#cutRows(isLast);
      const hasMore = cut === this.#blockRows || this.#rejected.length === this.#blockRows;
      const rowCount = this.#keepText(cut);
      if (rowCount > 0) yield this.#block(rowCount);
      if (this.#isTooLong) throw rowTooLong(this.#name, this.#limits.maxRowBytes);
      if (!hasMore) return;
    }
  }

  /** Passes over what stands before the rows; false: it is not all there. */
  takeHead(isLast: boolean): boolean {
    while (this.#skip > 0) {
      const end = this.#bytes.indexOf(LINE_FEED, this.#at);
      if (end < 0 || end >= this.#filled) return false;
      this.#at = end + 1;
      this.#feeds++;
      this.#skip--;
    }
    if (this.#columns !== null || this.#takeHeader()) return true;
    // A file without a byte has no rows; one of blank lines has not the header that it should have.
    if (isLast && this.#filled > this.#at)
      throw new ServiceError('input_unreadable', `${this.#name}: no header row, where findColumnsFromHeader expects one`);
    return false;
  }

  #block(rowCount: number): TextBlock & Pick<InputBlock, 'lineOf'> {
    const bytes = this.#bytes;
    const rowStarts = this.#rowStarts;
    const rowEnds = this.#rowEnds;
    const rowLines = this.#rowLines;
    return {
      kind: 'text',
      rowCount,
      columns: this.#columns ?? [],
      bytes,
      memory: this.#memory.memory,
      starts: this.#starts,
      ends: this.#ends,
      listDelimiter: this.#format.listDelimiter ?? (this.#hasLists(rowCount) ? LIST_DELIMITER : null),
      tryParseNumbers: this.#format.tryParseNumbers,
      sample: (row) => bytes.toString('utf8', rowStarts[row] ?? 0, rowEnds[row] ?? 0),
      lineOf: (row) => rowLines[row] ?? 0,
    };
  }

  #hasLists(rowCount: number): boolean {
    return this.#bytes.subarray(this.#rowStarts[0] ?? 0, this.#rowEnds[rowCount - 1] ?? 0).includes(LIST_DELIMITER);
  }

  /** Cuts up to a block of rows; fewer only when so many are rejected, or the buffer holds no more whole ones. */
  #cutRows(isLast: boolean): number {
    const bytes = this.#bytes;
    const delimiter = this.#delimiter;
    const quote = this.#quote;
    const starts = this.#starts;
    const ends = this.#ends;
    const columnCount = starts.length;
    const { maxRowBytes } = this.#limits;
    let row = 0;
    this.#escapedRows = [];
    this.#rowLines = new Int32Array(this.#blockRows);
    this.#rejected.length = 0;
    // A row may end anywhere before `filled`; the line feed behind it stops every inner loop.
    bytes[this.#filled] = LINE_FEED;
    const wanted = Math.min(this.#filled, this.until - this.#base);
    while (row < this.#blockRows && this.#rejected.length < this.#blockRows && this.#at < wanted) {
      const rowStart = this.#at;
      let at = rowStart;
      let column = 0;
      let escaped = false;
      let broken: string | null = null;
      // Line feeds in quoted fields, and the next one that is known.
      let inside = 0;
      let feed = -1;
      for (;;) {
        const start = at;
        let end: number;
        let quoted = false;
        if (bytes[at] === quote) {
          quoted = true;
          at++;
          for (;;) {
            const close = bytes.indexOf(QUOTE, at);
            if (close < 0 || close >= this.#filled) {
              at = this.#filled;
              break;
            }
            at = close + 1;
            if (bytes[at] !== QUOTE || at >= this.#filled) break;
            escaped = true;
            at++;
          }
          end = at - 1;
          if (feed < start) feed = bytes.indexOf(LINE_FEED, start);
          for (; feed < end; feed = bytes.indexOf(LINE_FEED, feed + 1)) inside++;
          if (at >= this.#filled) {
            // Either the rest of the field is yet to come, or the quote is never closed.
            if (!isLast) return row;
            broken = 'a quoted field is not closed before the end of the file';
            break;
          }
          const next = bytes[at];
          if (next !== delimiter && next !== LINE_FEED && !(next === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED)) {
            broken = `a quoted field is followed by ${JSON.stringify(String.fromCharCode(next ?? 0))}; expected ${JSON.stringify(this.#format.delimiter)} or the end of the row`;
            at = bytes.indexOf(LINE_FEED, at);
            break;
          }
          if (next === CARRIAGE_RETURN) at++;
        } else {
          let byte = bytes[at];
          while (byte !== delimiter && byte !== LINE_FEED) byte = bytes[++at];
          end = at;
          if (byte === LINE_FEED && end > start && bytes[end - 1] === CARRIAGE_RETURN) end--;
        }
        if (column < columnCount) {
          const columnStarts = starts[column];
          const columnEnds = ends[column];
          if (columnStarts !== undefined && columnEnds !== undefined) {
            columnStarts[row] = quoted ? start + 1 : start;
            columnEnds[row] = quoted || end > start ? end : -1;
          }
        }
        column++;
        if (bytes[at] === LINE_FEED) break;
        at++;
      }
      if (at >= this.#filled && !isLast) return row;
      this.#isTooLong = at - rowStart > maxRowBytes;
      if (this.#isTooLong) return row;
      this.#at = Math.min(at + 1, this.#filled);
      const line = this.#feeds + 1;
      this.#feeds += inside + 1;
      const rowEnd = bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
      if (broken !== null) {
        this.#rejected.push({ row, reason: broken, sample: bytes.toString('utf8', rowStart, rowEnd), line });
        continue;
      }
      if (column === 1 && rowEnd <= rowStart) continue;
      for (; column < columnCount; column++) {
        const columnEnds = ends[column];
        if (columnEnds !== undefined) columnEnds[row] = -1;
      }
      this.#rowStarts[row] = rowStart;
      this.#rowEnds[row] = rowEnd;
      this.#rowLines[row] = line;
      if (escaped) this.#escapedRows.push(row);
      row++;
    }
    return row;
  }

  /** Rejects the rows that are not text and moves the others together. Returns how many are left. */
  #keepText(rowCount: number): number {
    const bytes = this.#bytes;
    const rowStarts = this.#rowStarts;
    const rowEnds = this.#rowEnds;
    if (textFault(bytes.subarray(rowStarts[0] ?? 0, rowCount === 0 ? 0 : rowEnds[rowCount - 1])) === undefined) {
      for (const row of this.#escapedRows) this.#unescape(row);
      for (const { row, reason, sample, line } of this.#rejected) this.#reject(reason, sample, row, line);
      return rowCount;
    }
    let next = 0;
    const rejectBefore = (row: number, before: number): void => {
      for (let each = this.#rejected[next]; each !== undefined && each.row <= row; each = this.#rejected[++next])
        this.#reject(each.reason, each.sample, before, each.line);
    };
    const escaped = new Set(this.#escapedRows);
    let kept = 0;
    for (let row = 0; row < rowCount; row++) {
      rejectBefore(row, kept);
      const start = rowStarts[row] ?? 0;
      const end = rowEnds[row] ?? 0;
      const fault = textFault(bytes.subarray(start, end));
      if (fault !== undefined) {
        this.#reject(fault, bytes.toString('utf8', start, end), kept, this.#rowLines[row]);
        continue;
      }
      if (escaped.has(row)) this.#unescape(row);
      for (const positions of [...this.#starts, ...this.#ends, rowStarts, rowEnds, this.#rowLines]) positions[kept] = positions[row] ?? 0;
      kept++;
    }
    rejectBefore(rowCount, kept);
    return kept;
  }

  /** Writes `""` as `"` in place: the row is whole and will not be cut again. */
  #unescape(row: number): void {
    const bytes = this.#bytes;
    for (const [column, columnEnds] of this.#ends.entries()) {
      const start = this.#starts[column]?.[row] ?? 0;
      const end = columnEnds[row] ?? -1;
      if (end < 0 || bytes[start - 1] !== QUOTE || bytes[end] !== QUOTE) continue;
      let to = start;
      for (let from = start; from < end; from++) {
        const byte = bytes[from] ?? 0;
        bytes[to++] = byte;
        if (byte === QUOTE) from++;
      }
      columnEnds[row] = to;
    }
  }

  #takeHeader(): boolean {
    // The header is cut as a row of as many columns as it could have fields.
    const end = this.#bytes.indexOf(LINE_FEED, this.#at);
    if (end < 0 || end >= this.#filled) return false;
    const header = this.#bytes.subarray(this.#at, end);
    const fault = textFault(header);
    if (fault !== undefined) throw new ServiceError('input_unreadable', `${this.#name}: the header cannot be read: ${fault}`);
    const fieldCount = header.reduce((count, byte) => (byte === this.#delimiter ? count + 1 : count), 1);
    this.#setPlaces(fieldCount);
    const { until } = this;
    const filled = this.#filled;
    const behind = this.#bytes[end + 1] ?? 0;
    this.#filled = end + 1;
    this.until = Number.POSITIVE_INFINITY;
    const cut = this.#cutRows(false);
    this.until = until;
    this.#filled = filled;
    this.#bytes[end + 1] = behind;
    if (cut !== 1) throw new ServiceError('input_unreadable', `${this.#name}: the header row is blank or has an open quote`);
    if (this.#escapedRows.length > 0) this.#unescape(0);
    const names: string[] = [];
    for (let column = 0; column < fieldCount; column++) {
      const fieldEnd = this.#ends[column]?.[0] ?? -1;
      names.push(fieldEnd < 0 ? `column_${column + 1}` : this.#bytes.toString('utf8', this.#starts[column]?.[0] ?? 0, fieldEnd).trim());
    }
    const duplicate = firstDuplicate(names);
    if (duplicate !== undefined) throw new ServiceError('input_unreadable', `${this.#name}: the header names column "${duplicate}" twice`);
    const { columns } = this.#format;
    if (columns !== null && (columns.length !== names.length || columns.some((column, at) => column !== names[at]))) {
      throw new ServiceError(
        'input_unreadable',
        `${this.#name}: the header has columns ${names.join(', ')}, but the input format names ${columns.join(', ')}`,
      );
    }
    this.#setColumns(names);
    return true;
  }

  #setColumns(columns: readonly string[]): void {
    this.#columns = columns;
    this.#setPlaces(columns.length);
  }

  #setPlaces(columnCount: number): void {
    const { maxColumns } = this.#limits;
    if (columnCount > maxColumns)
      throw new ServiceError(
        'resource_limit',
        `${this.#name}: rows of ${columnCount} columns are more than svc.ingestion.maxColumns (${maxColumns}) allows`,
      );
    this.#blockRows = Math.max(1, Math.min(BLOCK_ROWS_MAX, Math.floor(BLOCK_FIELDS_MAX / Math.max(1, columnCount))));
    ({ starts: this.#starts, ends: this.#ends } = this.#memory.places(columnCount, this.#blockRows));
  }

  #grow(): void {
    this.#bytes = this.#memory.text((this.#bytes.length - 2) * 2 + 2);
  }

  #skipByteOrderMark(): void {
    if (this.#filled < 3) return;
    this.#first = false;
    const bytes = this.#bytes;
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.#at = 3;
  }
}
