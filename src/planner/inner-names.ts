// Names of the columns that plans of native queries have beside their outputs.

import { isStateColumn } from '../model/aggregate-state.js';
import { TIME_COLUMN } from '../model/schema.js';

const BUCKET = '$bucket';

/** The column of the buckets beside an output that may be called `__time` itself. */
export function bucketColumn(output: string): string {
  return output === TIME_COLUMN ? BUCKET : TIME_COLUMN;
}

/** The strings of which the numbers of an output are parsed. */
export function stringsColumn(output: string): string {
  return `$strings of ${output}`;
}

/** The places of an output whose states have an order. */
export function rankColumn(output: string): string {
  return `$rank of ${output}`;
}

/** The strings by which an output of numbers is ordered. */
export function orderColumn(output: string): string {
  return `$order of ${output}`;
}

/** Whether an output cannot be called so, because a plan may have a column of its own under the name. */
export function isInnerName(name: string): boolean {
  return name === BUCKET || isStateColumn(name) || /^\$(strings|rank|order) of /.test(name);
}
