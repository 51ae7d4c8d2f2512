// Values at a path of a JSON column, gathered while a segment is written.

import { valueOfJson } from '../../expression/value.js';
import { type ArrayElement, arrayText } from '../../model/array-text.js';
import type { FrameColumn } from '../../model/frame.js';
import type { ArrayType } from '../../model/schema.js';

/** Kind of a field's values: single values, or arrays, where a single value counts as an array of one. */
export type FieldKind = 'text' | 'long' | 'double' | ArrayType;

/** The values of one field by the id of the JSON they are in: numbers as numbers, all else as ids of distinct texts. */
export class FieldValues {
  readonly #kind: FieldKind;
  readonly #isHeld: Uint8Array;
  readonly #longs: BigInt64Array;
  readonly #doubles: Float64Array;
  readonly #places: Uint32Array;
  readonly #texts: (string | null)[] = [null];
  readonly #placeOf = new Map<string, number>();

  constructor(kind: FieldKind, count: number) {
    this.#kind = kind;
    this.#isHeld = new Uint8Array(count);
    this.#longs = new BigInt64Array(kind === 'long' ? count : 0);
    this.#doubles = new Float64Array(kind === 'double' ? count : 0);
    this.#places = new Uint32Array(kind === 'long' || kind === 'double' ? 0 : count);
  }

  /** Adds a value; values of another kind, null and absent ones included, are skipped. */
  put(id: number, data: unknown): void {
    if (data === undefined || data === null) return;
    const isList = Array.isArray(data);
    if (typeof data === 'object' && !isList) return;
    switch (this.#kind) {
      case 'long':
        if (isList) return;
        this.#longs[id] = valueOfJson(data) as bigint;
        break;
      case 'double':
        if (isList) return;
        this.#doubles[id] = Number(valueOfJson(data));
        break;
      case 'text':
        if (isList) return;
        this.#places[id] = this.#place(String(data));
        break;
      default: {
        const list = isList ? data : [data];
        if (list.some((element) => typeof element === 'object' && element !== null)) return;
        this.#places[id] = this.#place(arrayText(list.map(valueOfJson) as readonly ArrayElement[], this.#kind));
      }
    }
    this.#isHeld[id] = 1;
  }

  /** @param ids  of the JSON of each row */
  toRows(name: string, ids: Uint32Array): FrameColumn {
    const kind = this.#kind;
    const texts = this.#texts;
    if (kind === 'long') return { kind: 'long', name, values: this.#longRows(ids), nulls: this.#nullRows(ids) };
    if (kind === 'double') {
      const values = new Float64Array(ids.length);
      for (let row = 0; row < ids.length; row++) values[row] = this.#doubles[ids[row] ?? 0] ?? 0;
      return { kind: 'double', name, type: 'DOUBLE', values, nulls: this.#nullRows(ids) };
    }
    const places = new Uint32Array(ids.length);
    for (let row = 0; row < ids.length; row++) places[row] = this.#places[ids[row] ?? 0] ?? 0;
    return { kind: 'string', name, ...(kind === 'text' ? {} : { type: kind }), ids: places, dictionary: texts };
  }

  #place(text: string): number {
    let place = this.#placeOf.get(text);
    if (place === undefined) {
      place = this.#texts.push(text) - 1;
      this.#placeOf.set(text, place);
    }
    return place;
  }

  /** LONG values by row, moved in halves, which saves a bigint for each row. */
  #longRows(ids: Uint32Array): BigInt64Array {
    const rows = new BigInt64Array(ids.length);
    const [from, to] = [new Int32Array(this.#longs.buffer), new Int32Array(rows.buffer)];
    for (let row = 0; row < ids.length; row++) {
      const id = ids[row] ?? 0;
      to[row * 2] = from[id * 2] ?? 0;
      to[row * 2 + 1] = from[id * 2 + 1] ?? 0;
    }
    return rows;
  }

  #nullRows(ids: Uint32Array): Uint32Array {
    const nulls = new Uint32Array(Math.ceil(ids.length / 64) * 2);
    for (let row = 0; row < ids.length; row++)
      if (this.#isHeld[ids[row] ?? 0] === 0) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
    return nulls;
  }
}
