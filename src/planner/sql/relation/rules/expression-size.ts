// Limits on the size of expressions that rules may repeat.

import { append } from '../../../../base/lists.js';
import { type Bound, children } from '../bound.js';

/** Expressions larger than this are computed once, below, rather than where they are used. */
const SIZE_MAX = 2000;
/** The same of expressions that became larger than what they were made of, because parts are repeated: levels above may do so again. */
const REPEATED_SIZE_MAX = 500;

/**
 * Whether expressions are small enough to be used with the columns that they name replaced by what these mean.
 * @param replaced  the expressions afterwards
 * @param given     the expressions before, and what their columns mean
 */
export function isSmall(replaced: readonly Bound[], given: readonly Bound[]): boolean {
  const size = sizeOf(replaced, SIZE_MAX);
  return size <= REPEATED_SIZE_MAX || (size <= SIZE_MAX && size <= sizeOf(given, SIZE_MAX));
}

/** Parts of expressions; more than `most` for any number above it. */
function sizeOf(bounds: readonly Bound[], most: number): number {
  let size = 0;
  const open = [...bounds];
  for (let bound = open.pop(); bound !== undefined && size <= most; bound = open.pop()) {
    size++;
    append(open, children(bound));
  }
  return size;
}
