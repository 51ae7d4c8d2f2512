// Remembers function results of dictionary entries within one query on one thread.

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
 * Function results of dictionary entries, for one query on one thread. The row ranges of a segment share its dictionaries
 * and mostly follow each other, so what was not read for long gives way when the whole grows beyond `bytesMax`; results
 * that are larger by themselves are remembered alone, until the next come.
 */
export class RememberedResults {
  readonly #results: BoundedCache<string, Results>;
  readonly #numbers = new WeakMap<DictionaryView, number>();
  #dictionaries = 0;

  constructor(bytesMax = BYTES_MAX) {
    this.#results = new BoundedCache(bytesMax, { keepsLast: true });
  }

  /** The results remembered for `key`, or else those of `compute`, which are remembered from then on. */
  get(dictionary: DictionaryView, key: string, compute: () => Results): Results {
    const number = this.#numbers.get(dictionary) ?? this.#dictionaries++;
    this.#numbers.set(dictionary, number);
    const name = `${number} ${key}`;
    const known = this.#results.find(name);
    if (known !== undefined) return known;
    const results = compute();
    this.#results.keep(name, results, bytesOf(results));
    return results;
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
