import { Buffer, isUtf8 } from 'node:buffer';
import { ServiceError } from '../../base/errors.js';
import { parseJson, parseJsonWithDoubles } from '../../base/json.js';
import { own } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { compileFlatten, type FlattenSpec } from './flatten.js';
import type { RejectRow, ValueBlock } from './input-block.js';

const LINE_FEED = 10;
const BLOCK_BYTES = 1 << 18;
const VALUE_BYTES_MAX = 64 << 20;
const SAMPLE_LENGTH_MAX = 10_000;

/** Integers that a double may not hold; digits behind a point are no integer. */
const LONG_INTEGER = /(?<![\d.])\d{16,}(?![\d.eE])/;

export type JsonObject = Readonly<Record<string, unknown>>;

export interface JsonFormat {
  readonly type: 'json';
  /** false: one value a line. true: values may span lines, or follow each other on one. */
  readonly multiLine: boolean;
  readonly flatten: FlattenSpec | null;
}

/**
 * JSON objects to blocks of values, one object a row. A line (or value) that is no object is rejected; blank lines
 * are passed over. A long beyond 2^53 comes as a bigint.
 * @param chunks  each is valid until the next is asked for
 * @throws ServiceError `input_unreadable` when the input is binary or a value never ends
 */
export async function* readJson(
  format: JsonFormat,
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  reject: RejectRow,
): AsyncGenerator<ValueBlock> {
  const flatten = format.flatten === null ? null : compileFlatten(format.flatten);
  const toBlock = (text: string): ValueBlock =>
    jsonBlock(format.multiLine ? parseValues(splitValues(text), reject) : parseLines(text, reject), flatten);
  let rest = Buffer.alloc(0);
  let first = true;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length; from += BLOCK_BYTES) {
      const bytes = Buffer.concat([rest, chunk.subarray(from, from + BLOCK_BYTES)]);
      if (first) checkText(bytes, name);
      first = false;
      const end = format.multiLine ? endOfValues(bytes) : bytes.lastIndexOf(LINE_FEED) + 1;
      rest = bytes.subarray(end);
      if (rest.length > VALUE_BYTES_MAX)
        throw new ServiceError('input_unreadable', `${name}: a JSON value is longer than ${VALUE_BYTES_MAX >> 20} MiB, or this is no JSON`);
      if (end === 0) continue;
      const block = toBlock(bytes.toString('utf8', 0, end));
      if (block.rowCount > 0) yield block;
    }
  }
  const block = toBlock(rest.toString('utf8'));
  if (block.rowCount > 0) yield block;
}

function checkText(bytes: Buffer, name: string): void {
  const head = bytes.subarray(0, 4096);
  // A character may be cut at the end of the head.
  const isText = [0, 1, 2, 3].some((cut) => isUtf8(head.subarray(0, Math.max(0, head.length - cut))));
  if (head.includes(0) || !isText) throw new ServiceError('input_unreadable', `${name}: is binary, not JSON text`);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes.fill(' ', 0, 3);
}

/** All lines in one go, which is several times faster than a call a line; line by line when some line is at fault. */
function parseLines(text: string, reject: RejectRow): JsonObject[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (!LONG_INTEGER.test(text)) {
    try {
      const rows: unknown = parseJsonWithDoubles(`[${lines.join(',')}]`);
      // `{},{}` on one line would pass as two rows.
      if (Array.isArray(rows) && rows.length === lines.length && rows.every(isObject)) return rows;
    } catch {
      return parseValues(lines, reject);
    }
  }
  return parseValues(lines, reject);
}

function parseValues(texts: readonly string[], reject: RejectRow): JsonObject[] {
  const rows: JsonObject[] = [];
  for (const text of texts) {
    let value: unknown;
    try {
      value = LONG_INTEGER.test(text) ? parseJson(text) : parseJsonWithDoubles(text);
    } catch (error) {
      reject(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`, text.slice(0, SAMPLE_LENGTH_MAX));
      continue;
    }
    if (isObject(value)) rows.push(value);
    else
      reject(
        `expected a JSON object, found ${Array.isArray(value) ? 'an array' : JSON.stringify(value)}`,
        text.slice(0, SAMPLE_LENGTH_MAX),
      );
  }
  return rows;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Where the last whole top-level value of the bytes ends. */
function endOfValues(bytes: Buffer): number {
  let end = 0;
  walkValues(
    bytes.length,
    (at) => bytes[at] ?? 0,
    (_, valueEnd) => {
      end = valueEnd;
    },
  );
  return end;
}

function splitValues(text: string): string[] {
  const values: string[] = [];
  const end = walkValues(
    text.length,
    (at) => text.charCodeAt(at),
    (from, to) => values.push(text.slice(from, to)),
  );
  const rest = text.slice(end).trim();
  if (rest !== '') values.push(rest);
  return values;
}

/** Calls `found` for every balanced {...} or [...] at the top level, with what stands before it; returns the last end. */
function walkValues(length: number, at: (index: number) => number, found: (from: number, to: number) => void): number {
  let depth = 0;
  let inString = false;
  let from = 0;
  for (let index = 0; index < length; index++) {
    const character = at(index);
    if (inString) {
      if (character === 92) index++;
      else if (character === 34) inString = false;
    } else if (character === 34) inString = true;
    else if (character === 123 || character === 91) depth++;
    else if ((character === 125 || character === 93) && depth > 0 && --depth === 0) {
      found(from, index + 1);
      from = index + 1;
    }
  }
  return from;
}

/** Names that every object answers to, present or not. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

export function jsonBlock(rows: readonly JsonObject[], flatten: ((row: JsonObject) => JsonObject) | null): ValueBlock {
  const flat = flatten === null ? rows : rows.map(flatten);
  let columns: readonly string[] | undefined;
  return {
    kind: 'values',
    rowCount: flat.length,
    get columns() {
      columns ??= namesOf(flat);
      return columns;
    },
    values: (column) => (INHERITED.has(column) ? flat.map((row) => own(row, column)) : flat.map((row) => row[column])),
    sample: (row) => (shallowJsonText(rows[row]) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

function namesOf(rows: readonly JsonObject[]): readonly string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}
