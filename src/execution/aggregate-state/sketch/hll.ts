// Aggregate states of HyperLogLog sketches and of the classic cardinality aggregators.

import type { AggregateState } from '../../../model/aggregate-state.js';
import { decodeHll, encodeHll } from '../../../sketch/base64-codec.js';
import { Hll } from '../../../sketch/hll.js';
import { combinationFeed, joinFeeds } from '../combined-feed.js';
import type { StateOperations } from '../state-operations.js';
import type { HashKind } from './gathered-hashes.js';
import { hashFeed, hashValue } from './hash-feed.js';
import { HashGroups } from './hash-groups.js';

type Of<Type extends AggregateState['type']> = Extract<AggregateState, { type: Type }>;

/** The classic aggregators have 2^11 registers. */
const CARDINALITY_LG_K = 11;

export function hllState({ lgK, target, round, stringEncoding }: Of<'hll'>): StateOperations<Hll> {
  const hashes: HashKind = {
    width: 1,
    most: Hll.couponsMax(lgK),
    create: () => new Hll(lgK),
    merge: (into, from) => (into as Hll).merge(from as Hll),
    bytes: (sketch) => (sketch as Hll).bytes,
    pack: (sketch) => (sketch as Hll).pack(),
    unpack: Hll.unpack,
    keep: Hll.coupons,
    give: (sketch, coupons, from, to) => (sketch as Hll).addCoupons(coupons, from, to),
  };
  return {
    hashes,
    store: (context, charge) => new HashGroups(context, hashes, decodeHll, charge),
    isOrdered: false,
    emptyValue: round ? 0n : 0,
    create: () => new Hll(lgK),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: (state) => encodeHll(state, target),
    decode: decodeHll,
    value: (state) => (round ? BigInt(Math.round(state.estimate())) : state.estimate()),
    addRow: (state, [value = null]) => hashValue(value, state, stringEncoding),
    bind: (scope, [column = '']) => hashFeed(scope, column, stringEncoding),
  };
}

export function cardinalityState({ byRow, round }: Of<'cardinality'>): StateOperations<Hll> {
  return {
    ...hllState({ type: 'hll', lgK: CARDINALITY_LG_K, target: 8, round, stringEncoding: 'utf8' }),
    bind: (scope, columns) =>
      byRow
        ? combinationFeed(scope, columns)
        : joinFeeds(
            scope,
            columns.map((column) => hashFeed(scope, column)),
          ),
  };
}
