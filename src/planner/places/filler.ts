// Data with places, to be filled with the values of other literals.

import { own } from '../../base/names.js';

/** Fields of objects that are places. */
export interface Places {
  placeOf(node: object, field: string): number | undefined;
}

/** An object that holds places, at some depth. */
interface Step {
  readonly node: object;
  readonly keys: readonly string[];
  /** A place, or -1 - a step. */
  readonly sources: readonly number[];
}

/** Plain data as steps that make it, the whole last: each a copy with its places and its changed children filled in. */
export class Filler {
  readonly #steps: readonly Step[];

  private constructor(steps: readonly Step[]) {
    this.#steps = steps;
  }

  /** Null for data without a place. */
  static of(data: unknown, places: Places): Filler | null {
    const builder = new Builder(places);
    return builder.add(data) < 0 ? null : new Filler(builder.steps);
  }

  /** All of it, for `dataBytes`. */
  get parts(): readonly unknown[] {
    return this.#steps;
  }

  /** Places that it takes values from. */
  *places(): Generator<number> {
    for (const { sources } of this.#steps) for (const source of sources) if (source >= 0) yield source;
  }

  /** @param values  by place */
  fill(values: readonly unknown[]): unknown {
    const made: object[] = [];
    for (const { node, keys, sources } of this.#steps) {
      const copy = (Array.isArray(node) ? node.slice() : { ...node }) as Record<string, unknown>;
      for (let index = 0; index < keys.length; index++) {
        const key = keys[index] ?? '';
        const source = sources[index] ?? 0;
        copy[key] = source >= 0 ? values[source] : made[-1 - source];
      }
      made.push(copy);
    }
    return made.at(-1);
  }
}

class Builder {
  readonly steps: Step[] = [];
  readonly #places: Places;
  /** Step of each object; -1: it holds no place. */
  readonly #known = new Map<object, number>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** The step that makes it; -1: it is the same for all literals. */
  add(data: unknown): number {
    if (typeof data === 'symbol') throw new Error('a literal was placed where it cannot be filled in');
    if (typeof data !== 'object' || data === null) return -1;
    const known = this.#known.get(data);
    if (known !== undefined) return known;
    this.#known.set(data, -1);
    if (data instanceof Map || data instanceof Set || ArrayBuffer.isView(data)) return this.#addOther(data);
    const keys: string[] = [];
    const sources: number[] = [];
    for (const key of Object.keys(data)) {
      const place = this.#places.placeOf(data, key);
      const step = place === undefined ? this.add(own(data as Record<string, unknown>, key)) : -1;
      if (place === undefined && step < 0) continue;
      keys.push(key);
      sources.push(place ?? -1 - step);
    }
    if (keys.length === 0) return -1;
    const step = this.steps.push({ node: this.#withoutPlaces(data, keys), keys, sources }) - 1;
    this.#known.set(data, step);
    return step;
  }

  /** Maps and sets are never filled: they must be the same for all literals. */
  #addOther(data: object): number {
    const held = data instanceof Map ? [...data.values()] : data instanceof Set ? [...data] : [];
    for (const each of held) if (this.add(each) >= 0) throw new Error('a map or a set holds a literal');
    return -1;
  }

  #withoutPlaces(data: object, keys: readonly string[]): object {
    if (Array.isArray(data)) return data.map((item, index) => (keys.includes(String(index)) ? undefined : item));
    return Object.fromEntries(
      Object.keys(data).map((key) => [key, keys.includes(key) ? undefined : own(data as Record<string, unknown>, key)]),
    );
  }
}
