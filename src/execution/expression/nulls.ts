// Null rows of several vectors.

import type { Address } from '../../base/layout.js';
import { type Block, takeBits, wordsOf } from '../block/context.js';
import type { SegmentScope } from './scope.js';
import type { NumberVector } from './vector.js';

/** Bits of the rows in which any of the vectors is null; 0 for none. */
export function unionOfNulls(scope: SegmentScope, vectors: readonly NumberVector[]): (block: Block) => Address {
  const [only] = vectors;
  if (only === undefined) return () => 0;
  if (vectors.length === 1) return (block) => only.nulls(block);
  const out = takeBits(scope.arena);
  const { kernels } = scope.context;
  return (block) => {
    let current = 0;
    for (const vector of vectors) {
      const next = vector.nulls(block);
      if (next === 0) continue;
      if (current === 0) current = next;
      else {
        kernels.bitsOr(current, next, wordsOf(block), out);
        current = out;
      }
    }
    return current;
  };
}
