// Table of the families of aggregators.

import { createByName } from '../../../base/names.js';
import { BLOOM } from './bloom.js';
import { CARDINALITY } from './cardinality.js';
import { KLL_DOUBLES, KLL_FLOATS, QUANTILES } from './distribution.js';
import { EXPRESSION_FOLD } from './expression-fold.js';
import type { StateFamily } from './family.js';
import { FIRST_LAST } from './first-last.js';
import { HISTOGRAMS } from './histogram.js';
import { HLL } from './hll.js';
import { MOMENTS } from './moments.js';
import { STATISTICS } from './statistics.js';
import { THETA } from './theta.js';
import { TIME_MIN_MAX } from './time-min-max.js';
import { TUPLE } from './tuple.js';

const FAMILIES: readonly StateFamily[] = [
  FIRST_LAST,
  MOMENTS,
  TIME_MIN_MAX,
  CARDINALITY,
  HLL,
  THETA,
  QUANTILES,
  KLL_DOUBLES,
  KLL_FLOATS,
  TUPLE,
  HISTOGRAMS,
  BLOOM,
  STATISTICS,
  EXPRESSION_FOLD,
];

/** All aggregators whose state is more than a number, by type. */
export const STATE_AGGREGATORS: StateFamily['aggregators'] = Object.assign(
  createByName(),
  ...FAMILIES.map(({ aggregators }) => aggregators),
);

/** All post-aggregators over such states, by type. */
export const STATE_POST_AGGREGATORS: StateFamily['postAggregators'] = Object.assign(
  createByName(),
  ...FAMILIES.map(({ postAggregators }) => postAggregators),
);

/** Aggregators that are documented for queries only, not as metrics of ingestion. */
export const QUERY_ONLY_AGGREGATORS: ReadonlySet<string> = new Set(['grouping', ...FAMILIES.flatMap(({ queryOnly }) => queryOnly ?? [])]);
