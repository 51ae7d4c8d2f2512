// Aggregate states of quantiles sketches, classic and KLL.

import type { AggregateState } from '../../model/aggregate-state.js';
import { decodeKll, decodeQuantiles, encodeQuantiles } from '../../sketch/base64-codec.js';
import { Kll } from '../../sketch/kll.js';
import { Quantiles } from '../../sketch/quantiles.js';
import { numberFeed } from './number-feed.js';
import { quantilesFeed } from './quantiles/quantile-feed.js';
import { QuantileGroups } from './quantiles/quantile-groups.js';
import type { StateOperations } from './state-operations.js';

export function quantilesState({ k, fraction }: Extract<AggregateState, { type: 'quantiles' }>): StateOperations<Quantiles> {
  return {
    isOrdered: true,
    emptyValue: fraction === undefined ? 0n : Number.NaN,
    create: () => new Quantiles(k),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: encodeQuantiles,
    decode: decodeQuantiles,
    addNumber: (state, value) => state.add(value),
    value: (state) => (fraction === undefined ? BigInt(state.count) : state.quantile(fraction)),
    store: (context, charge) => new QuantileGroups(context, { k, fraction }, charge),
    bind: (scope, [column = ''], shared) => quantilesFeed(scope, column, k, shared),
  };
}

export function kllState({ k, valueType }: Extract<AggregateState, { type: 'kll' }>): StateOperations<Kll> {
  return {
    isOrdered: true,
    emptyValue: 0n,
    create: () => new Kll(k, valueType),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: encodeQuantiles,
    decode: (text) => decodeKll(text, valueType),
    addNumber: (state, value) => state.add(value),
    value: ({ count }) => BigInt(count),
    bind: (scope, [column = '']) => numberFeed(scope, column, (state, value) => state.add(value)),
  };
}
