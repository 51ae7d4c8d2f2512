// Table of the SQL scalar functions.

import type { SqlFunction } from './function-call.js';
import { ARRAY_FUNCTIONS } from './functions/array.js';
import { CONDITIONAL_FUNCTIONS } from './functions/conditional.js';
import { JSON_FUNCTIONS } from './functions/json.js';
import { MULTI_VALUE_FUNCTIONS } from './functions/multi-value.js';
import { NETWORK_FUNCTIONS } from './functions/network.js';
import { NUMERIC_FUNCTIONS } from './functions/numeric.js';
import { SKETCH_FUNCTIONS } from './functions/sketch.js';
import { STRING_FUNCTIONS } from './functions/string.js';
import { TIME_FUNCTIONS } from './functions/time.js';

/** Every scalar function of SQL, by upper-case name. */
export const SQL_FUNCTIONS: ReadonlyMap<string, SqlFunction> = new Map(
  [
    ...NUMERIC_FUNCTIONS,
    ...STRING_FUNCTIONS,
    ...TIME_FUNCTIONS,
    ...CONDITIONAL_FUNCTIONS,
    ...ARRAY_FUNCTIONS,
    ...MULTI_VALUE_FUNCTIONS,
    ...JSON_FUNCTIONS,
    ...NETWORK_FUNCTIONS,
    ...SKETCH_FUNCTIONS,
  ].map((each) => [each.name, each]),
);

/** Documented functions and aggregates that are not to be had here: refused by name, told apart from names that do not exist. */
export const UNSUPPORTED_SQL_FUNCTIONS: ReadonlySet<string> = new Set(
  (
    '' +
    'OVERLAY TDIGEST_QUANTILE TDIGEST_GENERATE_SKETCH ' +
    'BITMAP64_EXACT_COUNT BIG_SUM BIG_MIN BIG_MAX SPECTATOR_COUNT SPECTATOR_PERCENTILE'
  ).split(' '),
);
