// Cuts text input into pieces that end at row ends, and into lines.

import { Buffer, isUtf8 } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';

const LINE_FEED = 10;
/** Rows of a hundred columns come by the hundred: a column then finds its dictionary in the cache for most of them. */
const BLOCK_BYTES = 1 << 19;
/** A row that is not whole yet is looked at again with every chunk up to so many bytes. */
const SHORT_ROW_BYTES = 1 << 18;
const SAMPLE_BYTES_MAX = 10_000;

/**
 * Cuts text into pieces that end where a row ends; a byte order mark is left out. A row that is longer than a piece is
 * looked at again only when twice as many bytes have come, so that time stays linear in its length.
 * @param chunks  each is valid until the next is asked for, and so are the pieces
 * @param endOfRows  position behind the last whole row, 0 if there is none
 * @param limits  isContinued: they come from within a file, and what looks like a byte order mark is none
 * @throws ServiceError `resource_limit` for a row longer than `maxRowBytes`
 */
export async function* wholeRows(
  chunks: AsyncIterable<Uint8Array>,
  endOfRows: (bytes: Buffer) => number,
  {
    name,
    maxRowBytes,
    isContinued = false,
  }: { readonly name: string; readonly maxRowBytes: number; readonly isContinued?: boolean | undefined },
): AsyncGenerator<Buffer> {
  // Bytes that are not handed out: of a row that is not whole yet, and a piece behind them. It is one buffer for all: new ones would have V8
  // collect garbage for every few of them.
  let buffer = Buffer.alloc(0);
  let filled = 0;
  let worthLooking = 3;
  let first = !isContinued;
  const keep = (piece: Uint8Array): void => {
    if (filled + piece.length > buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, filled + piece.length));
      buffer.copy(larger, 0, 0, filled);
      buffer = larger;
    }
    buffer.set(piece, filled);
    filled += piece.length;
  };
  const withoutMark = (bytes: Buffer): Buffer => {
    const start = first && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf && bytes.length >= 3 ? 3 : 0;
    first = false;
    return bytes.subarray(start);
  };
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; ) {
      const piece = chunk.subarray(from, from + BLOCK_BYTES);
      from += piece.length;
      // A piece that begins with a row is not copied.
      const isKept = filled > 0 || piece.length < worthLooking;
      if (isKept) keep(piece);
      if (isKept && filled < worthLooking) continue;
      const bytes = withoutMark(isKept ? buffer.subarray(0, filled) : bufferOf(piece));
      const end = endOfRows(bytes);
      const long = endOfRows === endOfLines && end > maxRowBytes ? startOfLongLine(bytes.subarray(0, end), maxRowBytes) : -1;
      if (long > 0) yield bytes.subarray(0, long);
      if (long >= 0) throw rowTooLong(name, maxRowBytes);
      if (end > 0) yield bytes.subarray(0, end);
      const left = bytes.length - end;
      if (isKept) {
        buffer.copyWithin(0, filled - left, filled);
        filled = left;
      } else if (end > 0 && from < chunk.length) from -= left;
      else keep(bytes.subarray(end));
      if (left > maxRowBytes) throw rowTooLong(name, maxRowBytes);
      worthLooking = left < SHORT_ROW_BYTES ? 0 : Math.min(left * 2, maxRowBytes + 1);
    }
  }
  const rest = withoutMark(buffer.subarray(0, filled));
  if (rest.length > 0) yield rest;
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

export function rowTooLong(name: string, maxRowBytes: number): ServiceError {
  return new ServiceError(
    'resource_limit',
    `${name}: a row is longer than svc.ingestion.maxRowBytes (${maxRowBytes} bytes); is a quote or bracket left open, or is this another format?`,
  );
}

/** Position behind the last line feed. */
export function endOfLines(bytes: Buffer): number {
  return bytes.lastIndexOf(LINE_FEED) + 1;
}

/** A row that is not text. */
export interface NoText {
  readonly fault: string;
  readonly sample: string;
}

/** Start of the first line that is longer; -1: none is. Lines that are not whole yet are refused alike, whatever pieces they come in. */
function startOfLongLine(bytes: Buffer, maxRowBytes: number): number {
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end - start > maxRowBytes) return start;
    start = end + 1;
  }
  return -1;
}

/** Rows of a piece as strings. */
export interface TextRows {
  readonly texts: readonly (string | NoText)[];
  /** Line feeds of the piece before a row. */
  readonly feedsBefore: (row: number) => number;
  /** Line feeds of the piece. */
  readonly feeds: number;
}

/** Lines of a piece as strings, blank ones left out. */
export function textLines(bytes: Buffer): TextRows {
  const lines = textFault(bytes) === undefined ? bytes.toString('utf8').split('\n') : textOf(splitLines(bytes));
  const isBlank = (line: string | NoText): boolean => typeof line === 'string' && line.trim() === '';
  const texts = lines.filter((line) => !isBlank(line));
  const feeds = countFeeds(bytes, 0, bytes.length);
  // Blank lines are rare but behind the last line feed.
  const lineCount = bytes.at(-1) === LINE_FEED ? feeds : feeds + 1;
  if (texts.length === lineCount) return { texts, feedsBefore: (row) => row, feeds };
  const numbers = lines.flatMap((line, number) => (isBlank(line) ? [] : [number]));
  return { texts, feedsBefore: (row) => numbers[row] ?? 0, feeds };
}

/** Line feeds among some bytes. */
export function countFeeds(bytes: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED, from); at >= 0 && at < to; at = bytes.indexOf(LINE_FEED, at + 1)) count++;
  return count;
}

/** The rows as strings. */
export function textOf(rows: readonly Buffer[]): (string | NoText)[] {
  return rows.map((row) => {
    const fault = textFault(row);
    return fault === undefined ? row.toString('utf8') : { fault, sample: row.toString('utf8', 0, SAMPLE_BYTES_MAX) };
  });
}

/** Why bytes are not text; undefined: they are. */
export function textFault(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return 'the row has a NUL byte';
  if (!isUtf8(bytes)) return 'the row is not valid UTF-8; is the file in another encoding, such as ISO 8859-1?';
  return undefined;
}

function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}
