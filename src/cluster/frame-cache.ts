// A cache of result frames, bounded by bytes.

import { createHash } from 'node:crypto';
import { BoundedCache } from '../base/bounded-cache.js';
import { assert } from '../base/errors.js';
import type { Frame } from '../model/frame.js';
import { isPacked } from '../model/value-list.js';

/** An entry takes at most this part of the budget: one large answer must not push out all others. */
const ENTRY_PART_MAX = 1 / 4;

/** Frames by key under a byte budget. One for all roles of a process. */
export class FrameCache {
  readonly #bytesMax: number;
  /** Results that were found, and that were not. */
  hits = 0;
  misses = 0;
  readonly #kept: BoundedCache<string, readonly Frame[]>;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#kept = new BoundedCache(bytesMax);
  }

  get bytes(): number {
    return this.#kept.size;
  }

  get entries(): number {
    return this.#kept.count;
  }

  find(key: string): readonly Frame[] | undefined {
    const found = this.#kept.find(key);
    if (found === undefined) this.misses++;
    else this.hits++;
    return found;
  }

  /** The same frames; what came is kept under `key` once all of it has, and only then. */
  async *keep(key: string, frames: AsyncIterable<Frame>): AsyncGenerator<Frame> {
    let kept: Frame[] | undefined = [];
    const size = new FrameSize();
    for await (const frame of frames) {
      kept?.push(frame);
      if (kept !== undefined && size.add(frame) > this.#bytesMax * ENTRY_PART_MAX) kept = undefined;
      yield frame;
    }
    if (kept !== undefined) this.#kept.keep(key, kept, size.bytes);
  }
}

/** A key that differs whenever the parts do, and is the same for equal parts; they are plain data. */
export function cacheKey(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts, withoutLoss)).digest('base64');
}

/** Replacer that keeps values apart which JSON would change or drop. */
function withoutLoss(_key: string, value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return { [SPECIAL]: `${value}n` };
    case 'undefined':
      return { [SPECIAL]: 'undefined' };
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : { [SPECIAL]: Object.is(value, -0) ? '-0' : String(value) };
    case 'object': {
      if (isPacked(value)) return { [SPECIAL]: value.digest };
      const prototype: unknown = value === null ? Object.prototype : Object.getPrototypeOf(value);
      assert(Array.isArray(value) || prototype === null || prototype === Object.prototype, 'a cache key is made of plain data');
      return value;
    }
    default:
      return value;
  }
}

/** Field name that marks encoded values; no field of ours has it. */
const SPECIAL = '\u0000';

/** Approximate overhead of an entry, a frame, a column and a string. */
const ENTRY_BYTES = 200;
const COLUMN_BYTES = 100;
const TEXT_BYTES = 24;

/** Bytes of frames in the heap; dictionaries that they share count once. */
export class FrameSize {
  bytes = ENTRY_BYTES;
  readonly #dictionaries = new Set<unknown>();

  /** Returns the bytes so far. */
  add({ columns }: Frame): number {
    for (const column of columns) {
      this.bytes += COLUMN_BYTES;
      if (column.kind === 'long' || column.kind === 'double') {
        this.bytes += column.values.byteLength + (column.nulls?.byteLength ?? 0);
        continue;
      }
      this.bytes += column.ids.byteLength + (column.kind === 'multi' ? column.offsets.byteLength : 0);
      if (this.#dictionaries.has(column.dictionary)) continue;
      this.#dictionaries.add(column.dictionary);
      for (const text of column.dictionary) this.bytes += TEXT_BYTES + (text?.length ?? 0) * 2;
    }
    return this.bytes;
  }
}
