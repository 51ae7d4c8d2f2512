// The input format `json`.

import type { Buffer } from 'node:buffer';
import { describeValue, parseJsonWithDoubles } from '../../base/json.js';
import { INPUT_KERNELS } from '../column/input-bench.js';
import { contentOf } from '../source/decompress.js';
import { acceptWithInert, INERT_KEYS } from '../task-spec/inert-keys.js';
import { compileFlatten, type FlattenSpec, type JsonObject, parseFlattenSpec } from './flatten.js';
import { inputFormatKind } from './format-kind.js';
import type { RejectRow, ValueBlock } from './input-block.js';
import { JsonScanner, LONG_INTEGER, parseRow, SAMPLE_LENGTH_MAX } from './json-scanner.js';
import { PlacedRows } from './placed-rows.js';
import { bytesHaveHalfPair, hasHalfPair } from './surrogates.js';
import { countFeeds, endOfLines, type NoText, type TextRows, textFault, textLines, textOf, wholeRows } from './text-rows.js';

/** Comma between the lines of a list that was written a value a line. */
const BEHIND_VALUE = /(?<=\})\s*,\s*$/;

export interface JsonFormat {
  /** false: one value a line. true: values may span lines, or follow each other on one. */
  readonly multiLine: boolean;
  readonly flatten: FlattenSpec | null;
}

export const JSON_FORMAT = inputFormatKind<JsonFormat>({
  type: 'json',
  files: { extensions: ['json', 'jsonl', 'ndjson'], options: {} },
  parse(fields) {
    acceptWithInert(fields, ['flattenSpec', 'featureSpec', 'keepNullColumns', 'useJsonNodeReader'], INERT_KEYS.inputFormat);
    if (fields.has('featureSpec') && (fields.object('featureSpec').keys().length ?? 0) > 0) throw fields.unsupported('featureSpec');
    // Columns of nothing but nulls are kept only where the spec names them.
    if (fields.boolean('keepNullColumns', false))
      throw fields.unsupported('keepNullColumns', 'name the columns in dimensionsSpec.dimensions');
    return { multiLine: fields.boolean('useJsonNodeReader', false), flatten: parseFlattenSpec(fields) };
  },
  isByLine: ({ multiLine }) => !multiLine,
  ofMessage: (format) => ({ ...format, multiLine: true }),
  read: (format, entity, reading) =>
    readJson(format, contentOf(entity, reading), {
      name: entity.name,
      maxRowBytes: reading.inputLimits.maxRowBytes,
      reject: reading.reject,
      passed: reading.passed,
      kernels: reading.kernels,
      isContinued: entity.isContinued,
    }),
});

/**
 * JSON objects to blocks of values, one object a row. A line (or value) that is not an object, not UTF-8 or has half of a pair of surrogates is rejected;
 * blank lines are passed over. A long beyond 2^53 comes as a bigint.
 * @param chunks  each is valid until the next is asked for
 * @throws ServiceError `resource_limit` when a value is longer than `maxRowBytes`
 */
export async function* readJson(
  format: JsonFormat,
  chunks: AsyncIterable<Uint8Array>,
  {
    name,
    maxRowBytes,
    reject,
    passed,
    kernels = INPUT_KERNELS,
    isContinued,
  }: {
    readonly name: string;
    readonly maxRowBytes: number;
    readonly reject: RejectRow;
    readonly passed?: ((lines: number) => void) | undefined;
    readonly kernels?: string | undefined;
    readonly isContinued?: boolean | undefined;
  },
): AsyncGenerator<ValueBlock> {
  const flatten = format.flatten === null ? null : compileFlatten(format.flatten);
  const placed = new PlacedRows({ reject, ...(passed === undefined ? {} : { passed }) });
  // Rows that are flattened are needed whole, and values that span lines are not told apart by line feeds.
  let scanner = flatten === null && !format.multiLine ? new JsonScanner(kernels) : null;
  try {
    for await (const bytes of wholeRows(chunks, format.multiLine ? endOfValues : endOfLines, { name, maxRowBytes, isContinued })) {
      let rest = bytes;
      if (scanner !== null && textFault(bytes) === undefined && !bytesHaveHalfPair(bytes)) {
        const readOdd = (text: string, before: number, feeds: number): JsonObject | undefined => {
          if (text.trim() === '') return undefined;
          const value = parseValue(text);
          if (!(value instanceof Fault)) return value;
          reject(value.reason, value.sample, before, placed.lineAt(feeds));
          return undefined;
        };
        const { taken, feeds } = yield* scanner.blocks(bytes, readOdd, placed.lineAt(0));
        placed.passed(feeds);
        if (taken === bytes.length) continue;
        scanner.close();
        scanner = null;
        rest = bytes.subarray(taken);
      }
      const rows = format.multiLine ? splitValues(rest) : textLines(rest);
      if (!addLines(rows, placed, format.multiLine))
        for (const [at, text] of rows.texts.entries()) addValue(text, rows.feedsBefore(at), placed);
      yield* placed.block(rows.feeds, flatten);
    }
  } finally {
    scanner?.close();
  }
}

/** Reads all lines in one go, which is several times faster than a call a line; false when some line is at fault. */
function addLines({ texts, feedsBefore }: TextRows, placed: PlacedRows, isMultiLine: boolean): boolean {
  if (isMultiLine || !texts.every((text) => typeof text === 'string')) return false;
  const list = `[${texts.join(',')}]`;
  if (LONG_INTEGER.test(list) || hasHalfPair(list)) return false;
  let rows: unknown;
  try {
    rows = parseJsonWithDoubles(list);
  } catch {
    return false;
  }
  // `{},{}` on one line would pass as two rows.
  if (!Array.isArray(rows) || rows.length !== texts.length || !rows.every(isObject)) return false;
  for (const [at, row] of rows.entries()) placed.add(row, feedsBefore(at));
  return true;
}

function addValue(text: string | NoText, feeds: number, placed: PlacedRows): void {
  const value = typeof text === 'string' ? parseValue(text) : new Fault(text.fault, text.sample);
  if (value instanceof Fault) placed.reject(value.reason, value.sample, feeds);
  else placed.add(value, feeds);
}

/** A text that is not a row. */
class Fault {
  readonly reason: string;
  readonly sample: string;

  constructor(reason: string, text: string) {
    this.reason = reason;
    this.sample = text.slice(0, SAMPLE_LENGTH_MAX);
  }
}

function parseValue(text: string): JsonObject | Fault {
  if (hasHalfPair(text)) return new Fault('the row has half of a pair of surrogates (\\ud800 to \\udfff), which is no character', text);
  let value: unknown;
  try {
    value = parseRow(text.replace(BEHIND_VALUE, ''));
  } catch (error) {
    return new Fault(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`, text);
  }
  if (isObject(value)) return value;
  return new Fault(`expected a JSON object, found ${Array.isArray(value) ? 'an array' : describeValue(value)}`, text);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Position behind the last whole top-level value. */
function endOfValues(bytes: Buffer): number {
  let end = 0;
  walkValues(bytes, (_, valueEnd) => {
    end = valueEnd;
  });
  return end;
}

function splitValues(bytes: Buffer): TextRows {
  const values: Buffer[] = [];
  const feeds: number[] = [];
  let [counted, before] = [0, 0];
  const add = (from: number, to: number): void => {
    before += countFeeds(bytes, counted, from);
    counted = from;
    feeds.push(before);
    values.push(bytes.subarray(from, to));
  };
  const end = walkValues(bytes, add);
  const rest = bytes.subarray(end);
  const begins = rest.findIndex((byte) => byte > 32);
  if (begins >= 0) add(end + begins, bytes.length);
  return { texts: textOf(values), feedsBefore: (row) => feeds[row] ?? 0, feeds: before + countFeeds(bytes, counted, bytes.length) };
}

/**
 * Calls `found` for every balanced {...} or [...] with what stands before it, at the top level or in an array there.
 * Returns the last end.
 */
function walkValues(bytes: Buffer, found: (from: number, to: number) => void): number {
  let depth = 0;
  let inString = false;
  let from = 0;
  for (let index = 0; index < bytes.length; index++) {
    const character = bytes[index] ?? 0;
    if (inString) {
      if (character === 92) index++;
      else if (character === 34) inString = false;
    } else if (character === 34) inString = true;
    // The elements of an array at the top level are values, too.
    else if (depth === 0 && index === from && (character === 91 || character === 93 || character === 44 || character <= 32)) from++;
    else if (character === 123 || character === 91) depth++;
    else if ((character === 125 || character === 93) && depth > 0 && --depth === 0) {
      found(from, index + 1);
      from = index + 1;
    }
  }
  return from;
}
