import { parseJson } from '../../base/json.js';
import { type PathPart, printJsonPath } from '../../expression/json-path.js';
import { valueOfJson } from '../../expression/value.js';
import type { FrameColumn } from '../../model/frame.js';
import { textAt } from '../columns/packed-texts.js';
import { type PreparedColumn, prepareColumns, type SortedStrings } from '../columns/physical.js';
import { type FieldUse, fieldName } from '../field-name.js';

/** The values at one path of a JSON column, as a column of their own, which gives what reading the JSON would. */
export interface JsonField {
  readonly path: string;
  readonly uses: readonly FieldUse[];
  readonly column: PreparedColumn;
}

/** Of a column, those that most of its distinct values have. The rest is read from the JSON. */
const FIELDS_MAX = 100;
/** Paths that are looked at; documents may have a new one each. */
const PATHS_MAX = 2000;
const DEPTH_MAX = 50;
const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

/** The single values at one path, by the id of the JSON they are in. */
class PathValues {
  readonly ids: number[] = [];
  readonly values: (string | bigint | number)[] = [];
  private texts = 0;
  private longs = 0;
  private doubles = 0;
  /** Longs that a double would change, or that are none. */
  private large = 0;

  add(id: number, value: string | bigint | number): void {
    this.ids.push(id);
    this.values.push(value);
    if (typeof value === 'string') this.texts++;
    else if (typeof value === 'number') this.doubles++;
    else {
      this.longs++;
      if (value < MIN_LONG || value > MAX_LONG) this.large = Infinity;
      else if (!Number.isSafeInteger(Number(value))) this.large++;
    }
  }

  /** null: values of several kinds, which no column holds exactly. */
  get kind(): 'text' | 'long' | 'double' | 'numbers' | null {
    if (this.texts > 0) return this.longs + this.doubles > 0 ? null : 'text';
    if (this.large === Infinity) return null;
    if (this.doubles === 0) return 'long';
    if (this.longs === 0) return 'double';
    return this.large === 0 ? 'numbers' : null;
  }
}

/** @param column  of JSON, its rows in their final order */
export function* jsonFields(column: SortedStrings): Generator<JsonField> {
  const found = [...valuesByPath(column)].sort(([, a], [, b]) => b.ids.length - a.ids.length);
  let count = 0;
  for (const [path, values] of found) {
    const { kind } = values;
    if (kind === null) continue;
    if (count++ === FIELDS_MAX) return;
    const uses: readonly FieldUse[] = kind === 'numbers' ? ['number'] : ['number', 'text'];
    const name = fieldName(column.name, path, 'number');
    const [prepared] = prepareColumns({ rowCount: column.ids.length, columns: [rowsOf(name, column, values, kind)] });
    if (prepared !== undefined) yield { path, uses, column: prepared };
  }
}

/** Each distinct JSON is parsed once. */
function valuesByPath({ dictionary }: SortedStrings): ReadonlyMap<string, PathValues> {
  const paths = new Map<string, PathValues>();
  const walk = (data: unknown, id: number, path: string, depth: number): void => {
    if (typeof data !== 'object') {
      const value = valueOfJson(data);
      if (typeof value === 'string' || typeof value === 'bigint' || typeof value === 'number') add(path, id, value);
    } else if (data !== null && depth < DEPTH_MAX) {
      const parts: readonly (readonly [PathPart, unknown])[] = Array.isArray(data)
        ? data.map((element: unknown, index) => [{ kind: 'element', index }, element])
        : Object.entries(data).map(([name, member]) => [{ kind: 'field', name }, member]);
      for (const [part, inner] of parts) walk(inner, id, path + printJsonPath([part]).slice(1), depth + 1);
    }
  };
  const add = (path: string, id: number, value: string | bigint | number): void => {
    let values = paths.get(path);
    if (values === undefined) {
      if (paths.size === PATHS_MAX) return;
      values = new PathValues();
      paths.set(path, values);
    }
    values.add(id, value);
  };
  for (let id = dictionary.hasNull ? 1 : 0; id < dictionary.count; id++) walk(parseJson(textAt(dictionary, id)), id, '$', 0);
  return paths;
}

function rowsOf(
  name: string,
  { ids, dictionary }: SortedStrings,
  { ids: holders, values }: PathValues,
  kind: 'text' | 'long' | 'double' | 'numbers',
): FrameColumn {
  if (kind === 'text') {
    const texts = new Array<string | null>(dictionary.count).fill(null);
    holders.forEach((id, at) => {
      texts[id] = String(values[at]);
    });
    return { kind: 'string', name, ids, dictionary: texts };
  }
  const isHeld = new Uint8Array(dictionary.count);
  for (const id of holders) isHeld[id] = 1;
  const nulls = new Uint32Array(Math.ceil(ids.length / 64) * 2);
  for (let row = 0; row < ids.length; row++)
    if (isHeld[ids[row] ?? 0] === 0) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  if (kind === 'long') {
    const table = new BigInt64Array(dictionary.count);
    holders.forEach((id, at) => {
      table[id] = BigInt(values[at] ?? 0);
    });
    return { kind: 'long', name, values: BigInt64Array.from(ids, (id) => table[id] ?? 0n), nulls };
  }
  const table = new Float64Array(dictionary.count);
  holders.forEach((id, at) => {
    table[id] = Number(values[at]);
  });
  return { kind: 'double', name, type: 'DOUBLE', values: Float64Array.from(ids, (id) => table[id] ?? 0), nulls };
}
