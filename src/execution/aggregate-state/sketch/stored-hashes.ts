// Hashes of stored dictionaries and numbers, computed once for a segment.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { SKETCH_SEED } from '../../../sketch/base64-codec.js';
import type { StringEncoding } from '../../../sketch/murmur3.js';
import type { DictionaryView } from '../../../storage/view.js';
import { kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import type { IdSource } from '../id-source.js';
import type { Feed } from '../state-operations.js';

/** Takes a hash in: its 128 bits in four halves of words, the lower first, from `at` on. */
export type TakeHash<State> = (state: State, words: Uint32Array, at: number) => void;

const HASH_BYTES = 16;
const HASH_HALVES = 4;

/** Up to so many texts are hashed before any row is read; of a larger dictionary the texts of rows are, as they come. */
const TABLE_TEXTS_MAX = 1 << 16;

export function dictionaryHashes<State>(
  scope: SegmentScope,
  dictionary: DictionaryView,
  ids: IdSource,
  take: TakeHash<State>,
  encoding: StringEncoding,
): Feed<State> {
  const { memory } = scope.context;
  const { count: texts, hasNull } = dictionary;
  const isTable = texts <= TABLE_TEXTS_MAX;
  const hashes = scope.arena.take((isTable ? texts : BLOCK_ROWS) * HASH_BYTES);
  const hashTexts = textHasher(scope, dictionary, encoding);
  if (isTable) hashTexts(0, texts, hashes);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      ids.gather(block, rows, groups, n, (entries, entryGroups, count) => {
        if (!isTable) hashTexts(entries, count, hashes);
        const words = memory.u32(hashes, (isTable ? texts : count) * HASH_HALVES);
        const entryOf = memory.u32(entries, count);
        const groupOf = memory.u32(entryGroups, count);
        let group = -1;
        let state: State | undefined;
        for (let i = 0; i < count; i++) {
          const entry = entryOf[i] ?? 0;
          if (entry === 0 && hasNull) continue;
          const next = groupOf[i] ?? 0;
          if (next !== group || state === undefined) {
            group = next;
            state = stateOf(next);
          }
          take(state, words, (isTable ? entry : i) * HASH_HALVES);
        }
      });
    },
  };
}

/** Writes the hashes of the dictionary's entries that `entries` lists, or of the first `count` when it is 0. */
type HashTexts = (entries: Address, count: number, hashes: Address) => void;

function textHasher({ context: { kernels } }: SegmentScope, { offsets, bytes }: DictionaryView, encoding: StringEncoding): HashTexts {
  const hash = encoding === 'utf8' ? kernels.murmurTexts : kernels.murmurUtf16;
  return (entries, count, hashes) => hash(bytes, offsets, entries, count, SKETCH_SEED, hashes);
}

export function numberHashes<State>(scope: SegmentScope, vector: NumberVector, take: TakeHash<State>): Feed<State> {
  const { memory, kernels } = scope.context;
  const { physical } = vector;
  const isDouble = physical === 'F32' || physical === 'F64';
  const [wide, hashes] = [scope.arena.take(BLOCK_ROWS * 8), scope.arena.take(BLOCK_ROWS * HASH_BYTES)];
  const hash = (values: Address, rows: Address, n: number): void => {
    if (isDouble) {
      kernelFor(kernels, 'toF64', physical)(values, rows, n, 0n, wide);
      kernels.murmurF64(wide, n, SKETCH_SEED, hashes);
    } else {
      kernelFor(kernels, 'toI64', physical)(values, rows, n, vector.base, wide);
      kernels.murmurI64(wide, n, SKETCH_SEED, hashes);
    }
  };
  return {
    nulls: vector.mayBeNull ? vector : undefined,
    add(block, rows, groups, n, stateOf) {
      hash(vector.values(block), rows, n);
      const words = memory.u32(hashes, n * HASH_HALVES);
      const groupOf = memory.u32(groups, n);
      let group = -1;
      let state: State | undefined;
      for (let i = 0; i < n; i++) {
        const next = groupOf[i] ?? 0;
        if (next !== group || state === undefined) {
          group = next;
          state = stateOf(next);
        }
        take(state, words, i * HASH_HALVES);
      }
    },
  };
}
