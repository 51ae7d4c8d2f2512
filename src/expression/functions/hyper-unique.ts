// Functions over states of the `hyperUnique` aggregator.

import { ServiceError } from '../../base/errors.js';
import { decodeHll, encodeHll, SKETCH_SEED } from '../../sketch/base64-codec.js';
import { Hll } from '../../sketch/hll.js';
import { Murmur3 } from '../../sketch/murmur3.js';
import type { ExpressionFunction, MaybeType } from '../function.js';
import { toText, type Value } from '../value.js';

const TYPE = 'COMPLEX<hyperUnique>';
/** lgK of the hyperUnique aggregator. */
const LG_K = 11;
const hash = new Murmur3(SKETCH_SEED);

/** The states of the hyperUnique aggregator, value by value: for expression aggregators. */
export const HYPER_UNIQUE_FUNCTIONS: readonly ExpressionFunction[] = [
  { name: 'hyper_unique', minArguments: 0, maxArguments: 0, type: () => TYPE, bind: () => () => write(new Hll(LG_K)) },
  {
    /** (value or sketch, sketch) */
    name: 'hyper_unique_add',
    minArguments: 2,
    maxArguments: 2,
    type: ([, sketch]) => sketchType('hyper_unique_add', sketch),
    bind: (_, [type] = []) => {
      const add = type === TYPE ? mergeInto : addTo;
      return ([value = null, sketch = null]) => {
        const state = read(sketch);
        if (value !== null) add(state, value);
        return write(state);
      };
    },
  },
  estimateFunction('hyper_unique_estimate', 'DOUBLE', (estimate) => estimate),
  estimateFunction('hyper_unique_round_estimate', 'LONG', (estimate) => BigInt(Math.round(estimate))),
];

function estimateFunction(name: string, type: 'DOUBLE' | 'LONG', convert: (estimate: number) => Value): ExpressionFunction {
  return {
    name,
    minArguments: 1,
    maxArguments: 1,
    type: ([sketch]) => sketchType(name, sketch) && type,
    bind:
      () =>
      ([sketch = null]) =>
        convert(read(sketch).estimate()),
  };
}

function sketchType(name: string, type: MaybeType | undefined): typeof TYPE {
  if (type !== TYPE && type !== null && type !== undefined)
    throw new ServiceError('query_invalid', `${name} takes a ${TYPE} (as hyper_unique() gives it), found a ${type}`);
  return TYPE;
}

/** Adds a value, hashed as the aggregator hashes values of columns. */
function addTo(state: Hll, value: Value): void {
  if (typeof value === 'bigint') hash.hashLong(value);
  else if (typeof value === 'number') hash.hashDouble(value);
  else hash.hashText(toText(value) ?? '');
  state.addHash(hash.firstLow, hash.secondHigh, hash.secondLow);
}

function mergeInto(state: Hll, sketch: Value): void {
  state.merge(read(sketch));
}

function read(sketch: Value): Hll {
  return typeof sketch === 'string' ? decodeHll(sketch) : new Hll(LG_K);
}

function write(state: Hll): string {
  return encodeHll(state, 8);
}
