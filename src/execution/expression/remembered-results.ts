// Remembers what was found out about dictionary entries within one query on one thread.

import { createHash } from 'node:crypto';
import { BoundedCache } from '../../base/bounded-cache.js';
import { isArrayValue, toText, type Value } from '../../expression/value.js';
import type { Expression } from '../../model/expression.js';
import type { ColumnType } from '../../model/schema.js';
import { isPacked } from '../../model/value-list.js';
import type { DictionaryView } from '../../storage/view.js';

/** Overhead of a value beside its string. */
const VALUE_BYTES = 32;
const BYTES_MAX = 1 << 27;

type Results = readonly Value[];

/**
 * Findings about the entries of dictionaries, for one query on one thread. The row ranges of a segment share its dictionaries and
 * mostly follow each other, so findings not read for long give way when the whole grows beyond `bytesMax`; those that are larger by
 * themselves are remembered alone, until the next come.
 */
export class Remembered<Found> {
  readonly #found: BoundedCache<string, Found>;
  readonly #numbers = new WeakMap<DictionaryView, number>();
  readonly #bytesOf: (found: Found) => number;
  #dictionaries = 0;

  constructor(bytesOf: (found: Found) => number, bytesMax: number) {
    this.#found = new BoundedCache(bytesMax, { keepsLast: true });
    this.#bytesOf = bytesOf;
  }

  /** The findings remembered for `key`, or else those of `find`, which are remembered from then on. */
  get(dictionary: DictionaryView, key: string, find: () => Found): Found {
    const number = this.#numbers.get(dictionary) ?? this.#dictionaries++;
    this.#numbers.set(dictionary, number);
    const name = `${number} ${key}`;
    const known = this.#found.find(name);
    if (known !== undefined) return known;
    const found = find();
    this.#found.keep(name, found, this.#bytesOf(found));
    return found;
  }
}

/** Function results of dictionary entries. */
export class RememberedResults extends Remembered<Results> {
  constructor(bytesMax = BYTES_MAX) {
    super(bytesOf, bytesMax);
  }
}

/** Approximate size on the heap; two bytes for each code unit of a string. */
function bytesOf(value: Value): number {
  if (isArrayValue(value)) return value.reduce((sum: number, element) => sum + bytesOf(element), VALUE_BYTES);
  if (value === null || typeof value === 'bigint' || typeof value === 'number') return VALUE_BYTES;
  return VALUE_BYTES + (toText(value) ?? '').length * 2;
}

const DIGESTS = new WeakMap<Expression, string>();

/** Short, whatever the rows of lookups that an expression holds; the same of equal expressions. */
export function resultsKey(type: ColumnType, expression: Expression): string {
  const digest = DIGESTS.get(expression) ?? digestOf(expression);
  DIGESTS.set(expression, digest);
  return `${type} ${digest}`;
}

function digestOf(expression: Expression): string {
  const text = JSON.stringify(expression, (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : isPacked(value) ? { digest: value.digest } : value,
  );
  return createHash('sha256').update(text).digest('base64');
}
