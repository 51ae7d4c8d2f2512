import { Buffer } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import type { RejectRow, TextBlock } from './input-block.js';

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const QUOTE = 34;
const NO_BYTE = -1;

const BUFFER_BYTES = 4 << 20;
/** No row may be longer. */
const ROW_BYTES_MAX = 64 << 20;
/** Short enough that a block's bytes are still in the cache when the last column is read. */
const BLOCK_ROWS = 2048;

export interface DelimitedFormat {
  readonly type: 'csv' | 'tsv';
  /** One ASCII character. */
  readonly delimiter: string;
  readonly listDelimiter: string | null;
  /** null: the header names them. */
  readonly columns: readonly string[] | null;
  readonly findColumnsFromHeader: boolean;
  readonly skipHeaderRows: number;
  /** A column that its values type takes fields that are numbers as such. */
  readonly tryParseNumbers: boolean;
}

/**
 * Cuts delimited text into blocks of field positions; no field becomes a string here. CSV fields may be quoted, with
 * `""` for a quote inside; in TSV a quote is a character like others. Blank lines are passed over, surplus fields
 * are dropped, missing ones are null. A quoted empty field is the empty string, an unquoted one null.
 * @param chunks  each is valid until the next is asked for
 * @throws ServiceError `input_unreadable` for text that is binary, lacks its header, or has endless rows
 */
export async function* readDelimited(
  format: DelimitedFormat,
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  reject: RejectRow,
): AsyncGenerator<TextBlock> {
  const splitter = new RowSplitter(format, name, reject);
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      taken += splitter.fill(chunk, taken);
      yield* splitter.blocks(false);
    }
  }
  yield* splitter.blocks(true);
}

class RowSplitter {
  private readonly format: DelimitedFormat;
  private readonly name: string;
  private readonly reject: RejectRow;
  private readonly delimiter: number;
  private readonly quote: number;
  private bytes = Buffer.allocUnsafe(BUFFER_BYTES + 2);
  /** Bytes [at, filled) are still to be cut; two more bytes are kept for line feeds that end them. */
  private at = 0;
  private filled = 0;
  private first = true;
  private skip: number;
  private columns: readonly string[] | null;
  private expectsHeader: boolean;
  private starts: Int32Array[] = [];
  private ends: Int32Array[] = [];
  private readonly rowStarts = new Int32Array(BLOCK_ROWS);
  private readonly rowEnds = new Int32Array(BLOCK_ROWS);

  constructor(format: DelimitedFormat, name: string, reject: RejectRow) {
    this.format = format;
    this.name = name;
    this.reject = reject;
    this.delimiter = format.delimiter.charCodeAt(0);
    this.quote = format.type === 'csv' ? QUOTE : NO_BYTE;
    this.skip = format.skipHeaderRows;
    this.columns = null;
    this.expectsHeader = format.findColumnsFromHeader;
    if (!this.expectsHeader && format.columns !== null) this.setColumns(format.columns);
  }

  /** Moves what is left to the front and takes in as much of `chunk` as there is room for. Returns the bytes taken. */
  fill(chunk: Uint8Array, from: number): number {
    this.bytes.copyWithin(0, this.at, this.filled);
    this.filled -= this.at;
    this.at = 0;
    if (this.filled >= this.bytes.length - 2) this.grow();
    const count = Math.min(chunk.length - from, this.bytes.length - 2 - this.filled);
    this.bytes.set(chunk.subarray(from, from + count), this.filled);
    this.filled += count;
    if (this.first) this.checkText();
    return count;
  }

  /** Whole rows of the buffer; at the end of the input also a last row without a line feed. */
  *blocks(isLast: boolean): Generator<TextBlock> {
    if (isLast && this.filled > this.at && this.bytes[this.filled - 1] !== LINE_FEED) this.bytes[this.filled++] = LINE_FEED;
    while (this.skip > 0) {
      const end = this.bytes.indexOf(LINE_FEED, this.at);
      if (end < 0 || end >= this.filled) return;
      this.at = end + 1;
      this.skip--;
    }
    if (this.columns === null && !this.takeHeader()) {
      if (isLast) throw new ServiceError('input_unreadable', `${this.name}: no header row, where findColumnsFromHeader expects one`);
      return;
    }
    for (;;) {
      const rowCount = this.cutRows(isLast);
      if (rowCount > 0) yield this.block(rowCount);
      if (rowCount < BLOCK_ROWS) return;
    }
  }

  private block(rowCount: number): TextBlock {
    const { bytes, rowStarts, rowEnds } = this;
    return {
      kind: 'text',
      rowCount,
      columns: this.columns ?? [],
      bytes,
      starts: this.starts,
      ends: this.ends,
      listDelimiter: this.format.listDelimiter,
      tryParseNumbers: this.format.tryParseNumbers,
      sample: (row) => bytes.toString('utf8', rowStarts[row] ?? 0, rowEnds[row] ?? 0),
    };
  }

  /** Cuts up to a block of rows; fewer only when the buffer holds no more whole ones. */
  private cutRows(isLast: boolean): number {
    const { bytes, delimiter, quote, starts, ends } = this;
    const columnCount = starts.length;
    let row = 0;
    // A row may end anywhere before `filled`; the line feed behind it stops every inner loop.
    bytes[this.filled] = LINE_FEED;
    while (row < BLOCK_ROWS && this.at < this.filled) {
      const rowStart = this.at;
      let at = rowStart;
      let column = 0;
      let escaped = false;
      let broken: string | null = null;
      for (;;) {
        const start = at;
        let end: number;
        let quoted = false;
        if (bytes[at] === quote) {
          quoted = true;
          at++;
          for (;;) {
            const close = bytes.indexOf(QUOTE, at);
            if (close < 0 || close >= this.filled) {
              at = this.filled;
              break;
            }
            at = close + 1;
            if (bytes[at] !== QUOTE || at >= this.filled) break;
            escaped = true;
            at++;
          }
          end = at - 1;
          if (at >= this.filled) {
            // Either the rest of the field is yet to come, or the quote is never closed.
            if (!isLast) return row;
            broken = 'a quoted field is not closed before the end of the file';
            break;
          }
          const next = bytes[at];
          if (next !== delimiter && next !== LINE_FEED && !(next === CARRIAGE_RETURN && bytes[at + 1] === LINE_FEED)) {
            broken = `a quoted field is followed by ${JSON.stringify(String.fromCharCode(next ?? 0))}; expected ${JSON.stringify(this.format.delimiter)} or the end of the row`;
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
      if (at >= this.filled && !isLast) return row;
      this.at = Math.min(at + 1, this.filled);
      const rowEnd = bytes[at - 1] === CARRIAGE_RETURN ? at - 1 : at;
      if (broken !== null) {
        this.reject(broken, bytes.toString('utf8', rowStart, rowEnd));
        continue;
      }
      if (column === 1 && rowEnd <= rowStart) continue;
      for (; column < columnCount; column++) {
        const columnEnds = ends[column];
        if (columnEnds !== undefined) columnEnds[row] = -1;
      }
      this.rowStarts[row] = rowStart;
      this.rowEnds[row] = rowEnd;
      if (escaped) this.unescape(row);
      row++;
    }
    return row;
  }

  /** Writes `""` as `"` in place: the row is whole and will not be cut again. */
  private unescape(row: number): void {
    const { bytes } = this;
    for (const [column, columnEnds] of this.ends.entries()) {
      const start = this.starts[column]?.[row] ?? 0;
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

  private takeHeader(): boolean {
    // The header is cut as a row of as many columns as it could have fields.
    const end = this.bytes.indexOf(LINE_FEED, this.at);
    if (end < 0 || end >= this.filled) return false;
    const fieldCount = this.bytes.subarray(this.at, end).reduce((count, byte) => (byte === this.delimiter ? count + 1 : count), 1);
    this.setPlaces(fieldCount);
    const { filled } = this;
    const behind = this.bytes[end + 1] ?? 0;
    this.filled = end + 1;
    const cut = this.cutRows(false);
    this.filled = filled;
    this.bytes[end + 1] = behind;
    if (cut !== 1) throw new ServiceError('input_unreadable', `${this.name}: the header row is blank or has an open quote`);
    const names: string[] = [];
    for (let column = 0; column < fieldCount; column++) {
      const fieldEnd = this.ends[column]?.[0] ?? -1;
      names.push(fieldEnd < 0 ? `column_${column + 1}` : this.bytes.toString('utf8', this.starts[column]?.[0] ?? 0, fieldEnd).trim());
    }
    const duplicate = names.find((name, at) => names.indexOf(name) !== at);
    if (duplicate !== undefined) throw new ServiceError('input_unreadable', `${this.name}: the header names column "${duplicate}" twice`);
    const { columns } = this.format;
    if (columns !== null && (columns.length !== names.length || columns.some((column, at) => column !== names[at]))) {
      throw new ServiceError(
        'input_unreadable',
        `${this.name}: the header has columns ${names.join(', ')}, but the input format names ${columns.join(', ')}`,
      );
    }
    this.setColumns(names);
    return true;
  }

  private setColumns(columns: readonly string[]): void {
    this.columns = columns;
    this.setPlaces(columns.length);
  }

  private setPlaces(columnCount: number): void {
    this.starts = Array.from({ length: columnCount }, () => new Int32Array(BLOCK_ROWS));
    this.ends = Array.from({ length: columnCount }, () => new Int32Array(BLOCK_ROWS));
  }

  private grow(): void {
    if (this.bytes.length > ROW_BYTES_MAX)
      throw new ServiceError(
        'input_unreadable',
        `${this.name}: a row is longer than ${ROW_BYTES_MAX >> 20} MiB; is a quote left open, or is this no ${this.format.type} file?`,
      );
    const larger = Buffer.allocUnsafe((this.bytes.length - 2) * 2 + 2);
    this.bytes.copy(larger, 0, 0, this.filled);
    this.bytes = larger;
  }

  /** A byte order mark goes; a NUL byte means that this is no text. */
  private checkText(): void {
    this.first = false;
    const { bytes } = this;
    const head = bytes.subarray(0, Math.min(this.filled, 8192));
    if (head.includes(0)) throw new ServiceError('input_unreadable', `${this.name}: is binary, not ${this.format.type} text`);
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) this.at = 3;
  }
}
