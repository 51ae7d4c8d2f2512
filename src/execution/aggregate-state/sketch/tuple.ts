// Aggregate state of tuple sketches: distinct keys with numbers.

import { BLOCK_ROWS } from '../../../base/layout.js';
import type { AggregateState } from '../../../model/aggregate-state.js';
import { fromBase64, toBase64 } from '../../../sketch/base64.js';
import { SKETCH_SEED } from '../../../sketch/base64-codec.js';
import { Murmur3 } from '../../../sketch/murmur3.js';
import { Tuple } from '../../../sketch/tuple.js';
import { kernelFor } from '../../block/context.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { Feed, StateOperations } from '../state-operations.js';
import { textIds } from './hash-feed.js';

/** Sums of doubles: their last bits depend on how rows are cut into segments and threads, as those of `sum` do. */
export function tupleState({ size, width }: Extract<AggregateState, { type: 'tuple' }>): StateOperations<Tuple> {
  return {
    isOrdered: false,
    emptyValue: 0,
    create: () => new Tuple(size, width),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: (state) => toBase64(state.encode()),
    decode: (text) => Tuple.decode(fromBase64(text), size),
    value: (state) => state.estimate(),
    bind: (scope, [key = '', ...metrics]) => bindKeys(scope, key, metrics),
  };
}

/**
 * Gives states the hash of each key of a row, as text, with the row's numbers. A row without key, or with a null among its
 * numbers, takes no part. A key is hashed once per segment.
 */
function bindKeys(scope: SegmentScope, key: string, metrics: readonly string[]): Feed<Tuple> | undefined {
  const { memory, kernels } = scope.context;
  const ids = textIds(scope, key);
  const vectors = metrics.map((metric) => asNumbers(scope, scope.source(metric), 'DOUBLE'));
  if (ids === undefined || vectors.includes(undefined)) return undefined;
  const numbers = vectors.flatMap((vector) =>
    vector === undefined ? [] : [{ vector, widen: kernelFor(kernels, 'toF64', vector.physical), at: scope.arena.take(BLOCK_ROWS * 8) }],
  );
  const positions = scope.arena.take(BLOCK_ROWS * 4);
  memory.u32(positions, BLOCK_ROWS).forEach((_, index, all) => {
    all[index] = index;
  });
  const murmur = new Murmur3(SKETCH_SEED);
  const hashes = new Map<number, bigint>();
  const hashOf = (id: number): bigint => {
    const known = hashes.get(id);
    if (known !== undefined) return known;
    const hash = ids.hash(id, murmur) ? hashOfKey(murmur) : NO_KEY;
    hashes.set(id, hash);
    return hash;
  };
  const values = new Float64Array(numbers.length);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      for (const { vector, widen, at } of numbers) widen(vector.values(block), rows, n, vector.base, at);
      const nulls = numbers.flatMap(({ vector }) => {
        const bits = vector.nulls(block);
        return bits === 0 ? [] : [memory.u8(bits, Math.ceil(block.rows / 8)).slice()];
      });
      const columns = numbers.map(({ at }) => memory.f64(at, n).slice());
      const listed = rows === 0 ? undefined : memory.u32(rows, n).slice();
      const groupOf = memory.u32(groups, n).slice();
      // A row may have several keys, so the position of its row is gathered with each key.
      ids.gather(block, rows, positions, n, (gathered, places, count) => {
        const keys = memory.u32(gathered, count);
        const placeOf = memory.u32(places, count);
        for (let i = 0; i < count; i++) {
          const place = placeOf[i] ?? 0;
          const row = listed === undefined ? place : (listed[place] ?? 0);
          if (nulls.some((bits) => ((bits[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0)) continue;
          const hash = hashOf(keys[i] ?? 0);
          if (hash === NO_KEY) continue;
          columns.forEach((column, index) => {
            values[index] = column[place] ?? 0;
          });
          stateOf(groupOf[place] ?? 0).add(hash, values);
        }
      });
    },
  };
}

/** Hash that no sketch keeps. */
const NO_KEY = 0n;

/** The upper 63 bits of the first word. */
function hashOfKey({ firstHigh, firstLow }: Murmur3): bigint {
  return (BigInt(firstHigh >>> 1) << 32n) | BigInt(((firstHigh << 31) | (firstLow >>> 1)) >>> 0);
}
