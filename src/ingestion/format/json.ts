// The input format `json`.

import type { Buffer } from 'node:buffer';
import { describeValue, parseJsonWithDoubles } from '../../base/json.js';
import { own } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import { contentOf } from '../source/decompress.js';
import { INERT_KEYS } from '../task-spec/inert-keys.js';
import { compileFlatten, type FlattenSpec, type JsonObject, parseFlattenSpec } from './flatten.js';
import { inputFormatKind } from './format-kind.js';
import type { RejectRow, ValueBlock } from './input-block.js';
import { JsonScanner, LONG_INTEGER, parseRow, SAMPLE_LENGTH_MAX } from './json-scanner.js';
import { bytesHaveHalfPair, hasHalfPair } from './surrogates.js';
import { endOfLines, type NoText, textFault, textLines, textOf, wholeRows } from './text-rows.js';

export { SAMPLE_LENGTH_MAX } from './json-scanner.js';

/** Comma between the lines of a list that was written a value a line. */
const BEHIND_VALUE = /(?<=\})\s*,\s*$/;

/** Set of kernels where nobody names one. */
const KERNELS = 'simd';

export interface JsonFormat {
  /** false: one value a line. true: values may span lines, or follow each other on one. */
  readonly multiLine: boolean;
  readonly flatten: FlattenSpec | null;
}

export const JSON_FORMAT = inputFormatKind<JsonFormat>({
  type: 'json',
  files: { extensions: ['json', 'jsonl', 'ndjson'], options: {} },
  parse(fields) {
    fields.accept(['flattenSpec', 'featureSpec', 'keepNullColumns', 'useJsonNodeReader'], INERT_KEYS.inputFormat);
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
    kernels = KERNELS,
    isContinued,
  }: {
    readonly name: string;
    readonly maxRowBytes: number;
    readonly reject: RejectRow;
    readonly kernels?: string | undefined;
    readonly isContinued?: boolean | undefined;
  },
): AsyncGenerator<ValueBlock> {
  const flatten = format.flatten === null ? null : compileFlatten(format.flatten);
  // Rows that are flattened are needed whole, and values that span lines are not told apart by line feeds.
  let scanner = flatten === null && !format.multiLine ? new JsonScanner(kernels) : null;
  try {
    for await (const bytes of wholeRows(chunks, format.multiLine ? endOfValues : endOfLines, { name, maxRowBytes, isContinued })) {
      let rest = bytes;
      if (scanner !== null && textFault(bytes) === undefined && !bytesHaveHalfPair(bytes)) {
        const taken: number = yield* scanner.blocks(bytes, (text, before) =>
          text.trim() === '' ? undefined : parseValues([text], (reason, sample) => reject(reason, sample, before))[0],
        );
        if (taken === bytes.length) continue;
        scanner.close();
        scanner = null;
        rest = bytes.subarray(taken);
      }
      const rows = format.multiLine ? parseValues(textOf(splitValues(rest)), reject) : parseLines(textLines(rest), reject);
      if (rows.length > 0) yield jsonBlock(rows, flatten);
    }
  } finally {
    scanner?.close();
  }
}

/** All lines in one go, which is several times faster than a call a line; line by line when some line is at fault. */
function parseLines(lines: readonly (string | NoText)[], reject: RejectRow): JsonObject[] {
  if (!lines.every((line) => typeof line === 'string')) return parseValues(lines, reject);
  const list = `[${lines.join(',')}]`;
  if (!LONG_INTEGER.test(list) && !hasHalfPair(list)) {
    try {
      const rows: unknown = parseJsonWithDoubles(list);
      // `{},{}` on one line would pass as two rows.
      if (Array.isArray(rows) && rows.length === lines.length && rows.every(isObject)) return rows;
    } catch {
      return parseValues(lines, reject);
    }
  }
  return parseValues(lines, reject);
}

function parseValues(texts: readonly (string | NoText)[], reject: RejectRow): JsonObject[] {
  const rows: JsonObject[] = [];
  const refuse = (reason: string, text: string): void => reject(reason, text.slice(0, SAMPLE_LENGTH_MAX), rows.length);
  for (const text of texts) {
    let value: unknown;
    if (typeof text !== 'string') {
      refuse(text.fault, text.sample);
      continue;
    }
    if (hasHalfPair(text)) {
      refuse('the row has half of a pair of surrogates (\\ud800 to \\udfff), which is no character', text);
      continue;
    }
    try {
      value = parseRow(text.replace(BEHIND_VALUE, ''));
    } catch (error) {
      refuse(`not valid JSON: ${error instanceof Error ? error.message : String(error)}`, text);
      continue;
    }
    if (isObject(value)) rows.push(value);
    else refuse(`expected a JSON object, found ${Array.isArray(value) ? 'an array' : describeValue(value)}`, text);
  }
  return rows;
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

function splitValues(bytes: Buffer): Buffer[] {
  const values: Buffer[] = [];
  const end = walkValues(bytes, (from, to) => values.push(bytes.subarray(from, to)));
  const rest = bytes.subarray(end);
  if (rest.some((byte) => byte > 32)) values.push(rest);
  return values;
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
    record: (row) => rows[row] ?? {},
    sample: (row) => (shallowJsonText(rows[row]) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

function namesOf(rows: readonly JsonObject[]): readonly string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}
