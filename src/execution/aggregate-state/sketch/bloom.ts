// Aggregate state of Bloom filters.

import type { AggregateState } from '../../../model/aggregate-state.js';
import { isNumberType } from '../../../model/schema.js';
import { fromBase64, toBase64 } from '../../../sketch/base64.js';
import { Bloom, hash64, hash64OfDouble, hash64OfFloat, hash64OfLong, hash64OfText, NULL_HASH } from '../../../sketch/bloom.js';
import type { Hash64 } from '../../../sketch/murmur3.js';
import { rowReader } from '../../expression/row-reader.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { Feed, StateOperations } from '../state-operations.js';
import { textIds } from './hash-feed.js';
import type { TextHash } from './id-source.js';

export function bloomState({ entries }: Extract<AggregateState, { type: 'bloom' }>): StateOperations<Bloom> {
  const encode = (state: Bloom): string => toBase64(state.encode());
  return {
    isOrdered: false,
    get emptyValue() {
      return encode(Bloom.create(entries));
    },
    create: () => Bloom.create(entries),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode,
    decode: (text) => Bloom.decode(fromBase64(text)),
    // Ordered by the approximate number of values.
    compare: (a, b) => a.bitsSet - b.bitsSet,
    value: encode,
    bind: (scope, [column = '']) => (isNumberType(scope.typeOf(column)) ? bindNumbers(scope, column) : bindTexts(scope, column)),
  };
}

/** Null is a value, and a column that a segment does not have is null there. */
function bindTexts(scope: SegmentScope, column: string): Feed<Bloom> {
  const { memory } = scope.context;
  const ids = textIds(scope, column);
  if (ids === undefined) return { nulls: undefined, add: addNulls };
  const hashes = new Map<number, Hash64>();
  const text = new TextHash64();
  const hashOf = (id: number): Hash64 => {
    const known = hashes.get(id);
    if (known !== undefined) return known;
    const hash = ids.hash(id, text) ? text.last : NULL_HASH;
    hashes.set(id, hash);
    return hash;
  };
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      ids.gather(block, rows, groups, n, (gathered, idGroups, count) => {
        const found = memory.u32(gathered, count);
        const numbers = memory.u32(idGroups, count);
        for (let i = 0; i < count; i++) stateOf(numbers[i] ?? 0).add(hashOf(found[i] ?? 0));
      });
    },
  };

  function addNulls(...[, , groups, n, stateOf]: Parameters<Feed<Bloom>['add']>): void {
    for (const group of memory.u32(groups, n)) stateOf(group).add(NULL_HASH);
  }
}

function bindNumbers(scope: SegmentScope, column: string): Feed<Bloom> {
  const { memory } = scope.context;
  const reader = rowReader(scope, scope.source(column));
  const hashDouble = scope.typeOf(column) === 'FLOAT' ? hash64OfFloat : hash64OfDouble;
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      reader.open(block);
      const listed = rows === 0 ? undefined : memory.u32(rows, n);
      const numbers = memory.u32(groups, n);
      for (let i = 0; i < n; i++) {
        const value = reader.get(listed === undefined ? i : (listed[i] ?? 0));
        const hash = typeof value === 'bigint' ? hash64OfLong(value) : typeof value === 'number' ? hashDouble(value) : NULL_HASH;
        stateOf(numbers[i] ?? 0).add(hash);
      }
    },
  };
}

class TextHash64 implements TextHash {
  last: Hash64 = NULL_HASH;

  hash(bytes: DataView): void {
    this.last = hash64(bytes);
  }

  hashText(text: string): void {
    this.last = hash64OfText(text);
  }
}
