// Limit on the size of expressions that rules may repeat.

import { append } from '../../../../base/lists.js';
import { type Bound, children } from '../bound.js';

/** Expressions larger than this are computed once, below, rather than where they are used. */
const SIZE_MAX = 2000;

/** Whether an expression is small enough to be put in the place of a column. */
export function isSmall(bounds: readonly Bound[]): boolean {
  let left = SIZE_MAX;
  const open = [...bounds];
  for (let bound = open.pop(); bound !== undefined; bound = open.pop()) {
    if (--left < 0) return false;
    append(open, children(bound));
  }
  return true;
}
