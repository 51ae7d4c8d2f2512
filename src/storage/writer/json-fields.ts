// Splits JSON columns into stored columns by path (decision 14).

import { assert } from '../../base/errors.js';
import { parseJson } from '../../base/json.js';
import { findAtPath, type Path, type PathPart, printJsonPath } from '../../expression/json-path.js';
import { valueOfJson } from '../../expression/value.js';
import type { FrameColumn } from '../../model/frame.js';
import { textAt } from '../columns/packed-strings.js';
import { type PreparedColumn, prepareColumns, type SortedStrings } from '../columns/physical.js';
import { type FieldUse, fieldName } from '../field-name.js';
import { type FieldKind, FieldValues } from './field-values.js';

/** The values or lists at one path of a JSON column, as a column of their own, which gives what reading the JSON would. */
export interface JsonField {
  readonly path: string;
  readonly uses: readonly FieldUse[];
  readonly column: PreparedColumn;
}

/** Largest number of fields of a column: those that most of its distinct values have, members before list elements. Others are read from the JSON. */
const FIELDS_MAX = 100;
/** The first elements of a list. */
const ELEMENTS_MAX = 16;
/** Paths that are looked at; documents may have a new one each. */
const PATHS_MAX = 2000;
const DEPTH_MAX = 50;
const PASS_BYTES = 384 << 20;
const VALUE_BYTES = 12;
const MIN_LONG = -(2n ** 63n);
const MAX_LONG = 2n ** 63n - 1n;

/** Kinds of values seen. */
class Kinds {
  #texts = 0;
  #longs = 0;
  #doubles = 0;
  /** Longs that a double would change. */
  #large = 0;
  /** Integers beyond the range of LONG. */
  #tooLarge = 0;

  add(data: unknown): void {
    const value = valueOfJson(data);
    if (typeof value === 'string') this.#texts++;
    else if (typeof value === 'number') this.#doubles++;
    else if (typeof value === 'bigint') {
      this.#longs++;
      if (value < MIN_LONG || value > MAX_LONG) this.#tooLarge++;
      else if (!Number.isSafeInteger(Number(value))) this.#large++;
    }
  }

  /** null: of several kinds, which no column holds exactly. */
  get kind(): 'text' | 'long' | 'double' | null {
    if (this.#texts > 0) return this.#longs + this.#doubles > 0 ? null : 'text';
    if (this.#tooLarge > 0) return null;
    if (this.#doubles === 0) return 'long';
    return this.#longs === 0 || this.#large === 0 ? 'double' : null;
  }

  /** Whether the column tells what the values are as texts too. */
  get isExact(): boolean {
    return this.#longs === 0 || this.#doubles === 0;
  }
}

/** Statistics of one path: single values, and lists of single values and nulls. */
class PathStatistics {
  readonly path: Path;
  /** Whether the value lies inside a list. */
  readonly isElement: boolean;
  singles = 0;
  lists = 0;
  /** Lists of one, which are read as their elements. */
  listsOfOne = 0;
  readonly kinds = new Kinds();
  /** Kinds of single values and elements. */
  readonly elementKinds = new Kinds();

  constructor(path: Path) {
    this.path = path;
    this.isElement = path.some(({ kind }) => kind === 'element');
  }
}

interface Wanted {
  readonly text: string;
  readonly path: Path;
  readonly uses: readonly FieldUse[];
  readonly kind: FieldKind;
}

/**
 * @param column     of JSON, its rows in their final order
 * @param passBytes  what the values of fields may take that are read at once
 */
export function* jsonFields(column: SortedStrings, passBytes = PASS_BYTES): Generator<JsonField> {
  const wanted = wantedFields(column);
  // A document is parsed once more for as many fields as memory holds the values of.
  const atOnce = Math.max(1, Math.floor(passBytes / (VALUE_BYTES * column.dictionary.count)));
  for (let from = 0; from < wanted.length; from += atOnce) {
    const pass = wanted
      .slice(from, from + atOnce)
      .map((field) => ({ field, values: new FieldValues(field.kind, column.dictionary.count) }));
    for (const [id, data] of documents(column)) for (const { field, values } of pass) values.put(id, findAtPath(data, field.path));
    for (const { field, values } of pass) {
      const [use = 'number'] = field.uses;
      yield fieldOf(field, values.toRows(fieldName(column.name, field.text, use), column.ids), column);
    }
  }
}

function fieldOf({ text, uses }: Wanted, values: FrameColumn, { ids }: SortedStrings): JsonField {
  const [column] = prepareColumns({ rowCount: ids.length, columns: [values] });
  assert(column !== undefined, 'one column gives one');
  return { path: text, uses, column };
}

/** Each distinct JSON with its id. */
function* documents({ dictionary }: SortedStrings): Generator<readonly [number, unknown]> {
  for (let id = dictionary.hasNull ? 1 : 0; id < dictionary.count; id++) yield [id, parseJson(textAt(dictionary, id))];
}

function wantedFields(column: SortedStrings): readonly Wanted[] {
  const found = [...statisticsByPath(column)].sort(
    ([, a], [, b]) => Number(a.isElement) - Number(b.isElement) || b.singles + b.lists - a.singles - a.lists,
  );
  const wanted: Wanted[] = [];
  for (const [text, { path, singles, lists, listsOfOne, kinds, elementKinds }] of found) {
    const { kind, isExact } = kinds;
    if (singles > 0 && listsOfOne === 0 && kind !== null)
      wanted.push({ text, path, uses: isExact ? ['number', 'text'] : ['number'], kind });
    const elementKind = elementKinds.isExact ? elementKinds.kind : null;
    if (lists > 0 && elementKind !== null) wanted.push({ text, path, uses: ['array'], kind: ARRAY_TYPES[elementKind] });
  }
  return wanted.slice(0, FIELDS_MAX);
}

const ARRAY_TYPES = { text: 'ARRAY<STRING>', long: 'ARRAY<LONG>', double: 'ARRAY<DOUBLE>' } as const;

function statisticsByPath(column: SortedStrings): ReadonlyMap<string, PathStatistics> {
  const paths = new Map<string, PathStatistics>();
  const at = (text: string, path: Path): PathStatistics | undefined => {
    const known = paths.get(text);
    if (known !== undefined || paths.size === PATHS_MAX) return known;
    const statistics = new PathStatistics([...path]);
    paths.set(text, statistics);
    return statistics;
  };
  const path: PathPart[] = [];
  const walk = (data: unknown, text: string): void => {
    if (typeof data !== 'object') {
      const statistics = at(text, path);
      if (statistics === undefined) return;
      statistics.singles++;
      statistics.kinds.add(data);
      statistics.elementKinds.add(data);
    } else if (data !== null && path.length < DEPTH_MAX) {
      if (Array.isArray(data) && data.every(isSingle)) {
        const statistics = at(text, path);
        if (statistics !== undefined) {
          statistics.lists++;
          if (data.length === 1) statistics.listsOfOne++;
        }
        for (const element of data) statistics?.elementKinds.add(element);
      }
      const parts: readonly (readonly [PathPart, unknown])[] = Array.isArray(data)
        ? data.slice(0, ELEMENTS_MAX).map((element: unknown, index) => [{ kind: 'element', index }, element])
        : Object.entries(data).map(([name, member]) => [{ kind: 'field', name }, member]);
      for (const [part, inner] of parts) {
        path.push(part);
        walk(inner, text + printJsonPath([part]).slice(1));
        path.pop();
      }
    }
  };
  for (const [, data] of documents(column)) walk(data, '$');
  return paths;
}

function isSingle(data: unknown): boolean {
  return typeof data !== 'object' || data === null;
}
