import { assert } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { type PathPart, printJsonPath } from '../../expression/json-path.js';
import { valueOfJson } from '../../expression/value.js';
import { arrayText } from '../../model/array-text.js';
import type { FrameColumn } from '../../model/frame.js';
import type { ArrayType } from '../../model/schema.js';
import { textAt } from '../columns/packed-texts.js';
import { type PreparedColumn, prepareColumns, type SortedStrings } from '../columns/physical.js';
import { type FieldUse, fieldName } from '../field-name.js';

/** The values or lists at one path of a JSON column, as a column of their own, which gives what reading the JSON would. */
export interface JsonField {
  readonly path: string;
  readonly uses: readonly FieldUse[];
  readonly column: PreparedColumn;
}

/** Of a column, those that most of its distinct values have, members before elements of lists. The rest is read from the JSON. */
const FIELDS_MAX = 100;
/** The first elements of a list. */
const ELEMENTS_MAX = 16;
/** Paths that are looked at; documents may have a new one each. */
const PATHS_MAX = 2000;
const DEPTH_MAX = 50;
const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

type Single = string | bigint | number;

/** Which kinds of values there are. */
class Kinds {
  private texts = 0;
  private longs = 0;
  private doubles = 0;
  /** Longs that a double would change. */
  private large = 0;
  /** Integers that are no longs. */
  private tooLarge = 0;

  add(value: Single): void {
    if (typeof value === 'string') this.texts++;
    else if (typeof value === 'number') this.doubles++;
    else {
      this.longs++;
      if (value < MIN_LONG || value > MAX_LONG) this.tooLarge++;
      else if (!Number.isSafeInteger(Number(value))) this.large++;
    }
  }

  /** null: of several kinds, which no column holds exactly. */
  get kind(): 'text' | 'long' | 'double' | 'numbers' | null {
    if (this.texts > 0) return this.longs + this.doubles > 0 ? null : 'text';
    if (this.tooLarge > 0) return null;
    if (this.doubles === 0) return 'long';
    if (this.longs === 0) return 'double';
    return this.large === 0 ? 'numbers' : null;
  }
}

/** What lies at one path, by the ids of the JSON it is in: single values, and lists of single values and nulls. */
class PathValues {
  /** In a list somewhere. */
  readonly isElement: boolean;
  readonly ids: number[] = [];
  readonly values: Single[] = [];
  readonly kinds = new Kinds();
  readonly listIds: number[] = [];
  readonly lists: (readonly (Single | null)[])[] = [];
  /** Of all values and elements. */
  readonly elementKinds = new Kinds();

  constructor(isElement: boolean) {
    this.isElement = isElement;
  }

  add(id: number, value: Single): void {
    this.ids.push(id);
    this.values.push(value);
    this.kinds.add(value);
    this.elementKinds.add(value);
  }

  addList(id: number, list: readonly (Single | null)[]): void {
    this.listIds.push(id);
    this.lists.push(list);
    for (const element of list) if (element !== null) this.elementKinds.add(element);
  }
}

/** @param column  of JSON, its rows in their final order */
export function* jsonFields(column: SortedStrings): Generator<JsonField> {
  const found = [...valuesByPath(column)].sort(
    ([, a], [, b]) => Number(a.isElement) - Number(b.isElement) || b.ids.length + b.lists.length - a.ids.length - a.lists.length,
  );
  let count = 0;
  for (const [path, values] of found) {
    const { kind } = values.kinds;
    const { kind: elementKind } = values.elementKinds;
    if (values.ids.length > 0 && kind !== null) {
      const uses: readonly FieldUse[] = kind === 'numbers' ? ['number'] : ['number', 'text'];
      yield fieldOf(path, uses, rowsOf(fieldName(column.name, path, 'number'), column, values, kind), column);
      if (++count === FIELDS_MAX) return;
    }
    if (values.lists.length > 0 && elementKind !== null && elementKind !== 'numbers') {
      yield fieldOf(path, ['array'], arraysOf(fieldName(column.name, path, 'array'), column, values, ARRAY_TYPES[elementKind]), column);
      if (++count === FIELDS_MAX) return;
    }
  }
}

const ARRAY_TYPES = { text: 'ARRAY<STRING>', long: 'ARRAY<LONG>', double: 'ARRAY<DOUBLE>' } as const;

function fieldOf(path: string, uses: readonly FieldUse[], values: FrameColumn, { ids }: SortedStrings): JsonField {
  const [column] = prepareColumns({ rowCount: ids.length, columns: [values] });
  assert(column !== undefined, 'one column gives one');
  return { path, uses, column };
}

/** Each distinct JSON is parsed once. */
function valuesByPath({ dictionary }: SortedStrings): ReadonlyMap<string, PathValues> {
  const paths = new Map<string, PathValues>();
  const at = (path: string, isElement: boolean): PathValues | undefined => {
    const known = paths.get(path);
    if (known !== undefined || paths.size === PATHS_MAX) return known;
    const values = new PathValues(isElement);
    paths.set(path, values);
    return values;
  };
  const walk = (data: unknown, id: number, path: string, depth: number, isElement: boolean): void => {
    if (typeof data !== 'object') {
      at(path, isElement)?.add(id, valueOfJson(data) as Single);
    } else if (data !== null && depth < DEPTH_MAX) {
      if (Array.isArray(data) && data.every(isSingle)) at(path, isElement)?.addList(id, data.map(valueOfJson) as (Single | null)[]);
      const parts: readonly (readonly [PathPart, unknown])[] = Array.isArray(data)
        ? data.slice(0, ELEMENTS_MAX).map((element: unknown, index) => [{ kind: 'element', index }, element])
        : Object.entries(data).map(([name, member]) => [{ kind: 'field', name }, member]);
      for (const [part, inner] of parts)
        walk(inner, id, path + printJsonPath([part]).slice(1), depth + 1, isElement || part.kind === 'element');
    }
  };
  for (let id = dictionary.hasNull ? 1 : 0; id < dictionary.count; id++) walk(parseJson(textAt(dictionary, id)), id, '$', 0, false);
  return paths;
}

function isSingle(data: unknown): boolean {
  return typeof data !== 'object' || data === null;
}

/** A single value is an array of one. */
function arraysOf(name: string, { ids, dictionary }: SortedStrings, values: PathValues, type: ArrayType): FrameColumn {
  const texts = new Array<string | null>(dictionary.count).fill(null);
  values.ids.forEach((id, at) => {
    texts[id] = arrayText([values.values[at] ?? null], type);
  });
  values.listIds.forEach((id, at) => {
    texts[id] = arrayText(values.lists[at] ?? [], type);
  });
  return { kind: 'string', name, type, ids, dictionary: texts };
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
    return { kind: 'long', name, values: longsOf(ids, table), nulls };
  }
  const table = new Float64Array(dictionary.count);
  holders.forEach((id, at) => {
    table[id] = Number(values[at]);
  });
  const doubles = new Float64Array(ids.length);
  for (let row = 0; row < ids.length; row++) doubles[row] = table[ids[row] ?? 0] ?? 0;
  return { kind: 'double', name, type: 'DOUBLE', values: doubles, nulls };
}

/** In halves, which spares a bigint a row. */
function longsOf(ids: Uint32Array, table: BigInt64Array): BigInt64Array {
  const longs = new BigInt64Array(ids.length);
  const [from, to] = [new Int32Array(table.buffer), new Int32Array(longs.buffer)];
  for (let row = 0; row < ids.length; row++) {
    const id = ids[row] ?? 0;
    to[row * 2] = from[id * 2] ?? 0;
    to[row * 2 + 1] = from[id * 2 + 1] ?? 0;
  }
  return longs;
}
