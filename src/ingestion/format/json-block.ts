// Blocks of rows that are objects.

import { own } from '../../base/names.js';
import { shallowJsonText } from '../../expression/functions/json-size.js';
import type { JsonObject } from './flatten.js';
import type { InputBlock, ValueBlock } from './input-block.js';
import { SAMPLE_LENGTH_MAX } from './json-scanner.js';

/** Names that every object answers to, present or not. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/** @param lineOf  line of the content that a row begins in; absent: it has no lines */
export function jsonBlock(
  rows: readonly JsonObject[],
  flatten: ((row: JsonObject) => JsonObject) | null,
  lineOf?: (row: number) => number,
): ValueBlock & Pick<InputBlock, 'lineOf'> {
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
    ...(lineOf === undefined ? {} : { lineOf }),
    sample: (row) => (shallowJsonText(rows[row]) ?? 'a row nested too deeply to be shown').slice(0, SAMPLE_LENGTH_MAX),
  };
}

function namesOf(rows: readonly JsonObject[]): readonly string[] {
  const names = new Set<string>();
  for (const row of rows) for (const name of Object.keys(row)) names.add(name);
  return [...names];
}
