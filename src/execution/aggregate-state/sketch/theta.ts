// Aggregate state of theta sketches.

import type { AggregateState } from '../../../model/aggregate-state.js';
import { decodeTheta, encodeTheta } from '../../../sketch/base64-codec.js';
import { Theta } from '../../../sketch/theta.js';
import type { StateOperations } from '../state-operations.js';
import type { HashKind } from './gathered-hashes.js';
import { hashFeed, hashValue } from './hash-feed.js';
import { HashGroups } from './hash-groups.js';

/** More hashes of a group than this go to a sketch: as they are, those that come again would take more room. */
const SKETCHED_FROM = 1024;

export function thetaState({ size }: Extract<AggregateState, { type: 'theta' }>): StateOperations<Theta> {
  const hashes: HashKind = {
    width: 2,
    most: Math.min(size, SKETCHED_FROM),
    create: () => new Theta(size),
    merge: (into, from) => (into as Theta).merge(from as Theta),
    bytes: (sketch) => (sketch as Theta).bytes,
    pack: (sketch) => (sketch as Theta).pack(),
    unpack: (packed) => Theta.unpack(size, packed),
    keep: Theta.halves,
    give: (sketch, halves, from, to) => (sketch as Theta).addHalves(halves, from, to),
  };
  return {
    hashes,
    store: (context, charge) => new HashGroups(context, hashes, (text) => decodeTheta(text, size), charge),
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
