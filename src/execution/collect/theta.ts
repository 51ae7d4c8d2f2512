import type { Collector } from '../../model/collector.js';
import { decodeTheta, encodeTheta } from '../../sketch/text.js';
import { Theta } from '../../sketch/theta.js';
import { hashFeed, hashValue } from './hash-feed.js';
import type { StateKind } from './state-kind.js';

export function thetaKind({ size }: Extract<Collector, { type: 'theta' }>): StateKind<Theta> {
  return {
    isOrdered: false,
    emptyValue: 0,
    create: () => new Theta(size),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: encodeTheta,
    decode: (text) => decodeTheta(text, size),
    value: (state) => state.estimate(),
    addRow: (state, [value = null]) => hashValue(value, (words) => state.addHash(words[1] ?? 0, words[0] ?? 0)),
    bind: (scope, [column = '']) => hashFeed(scope, column, (state, words, at) => state.addHash(words[at + 1] ?? 0, words[at] ?? 0)),
  };
}
