// Text of a filter, made once.

import type { Filter } from '../../model/filter.js';

const FILTER_TEXTS = new WeakMap<Filter, string>();

/** A text that equal filters have in common. */
export function filterText(filter: Filter): string {
  const known = FILTER_TEXTS.get(filter);
  if (known !== undefined) return known;
  const text = JSON.stringify(filter, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
  FILTER_TEXTS.set(filter, text);
  return text;
}
