// Aggregate state of theta sketches.

import type { AggregateState } from '../../../model/aggregate-state.js';
import { decodeTheta, encodeTheta } from '../../../sketch/base64-codec.js';
import { Theta } from '../../../sketch/theta.js';
import type { StateOperations } from '../state-operations.js';
import { hashFeed, hashValue } from './hash-feed.js';

export function thetaState({ size }: Extract<AggregateState, { type: 'theta' }>): StateOperations<Theta> {
  return {
    isOrdered: false,
    emptyValue: 0,
    create: () => new Theta(size),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: encodeTheta,
    decode: (text) => decodeTheta(text, size),
    value: (state) => state.estimate(),
    addRow: (state, [value = null]) => hashValue(value, state),
    bind: (scope, [column = '']) => hashFeed(scope, column),
  };
}
