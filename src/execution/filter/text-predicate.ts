// Predicates over computed strings, tested once per distinct value.

import { type Block, takeBits } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import type { StringVector } from '../expression/vector.js';
import type { Match, Predicate } from './predicate.js';

/** Rows of a computed text column for which `test` holds; it runs once per distinct text. */
export function textPredicate(scope: SegmentScope, vector: StringVector, test: (text: string) => boolean, matchNull: boolean): Predicate {
  const { memory } = scope.context;
  const out = takeBits(scope.arena);
  const verdicts: boolean[] = [matchNull];
  return {
    constant: undefined,
    cost: 100,
    test(block: Block): Match {
      const ids = memory.u32(vector.ids(block), block.rows);
      const { values: texts } = vector.pool;
      for (let id = verdicts.length; id < texts.length; id++) verdicts.push(test(texts[id] ?? ''));
      const words = memory.u32(out, Math.ceil(block.rows / 64) * 2).fill(0);
      for (let row = 0; row < block.rows; row++) {
        if (verdicts[ids[row] ?? 0] === true) words[row >>> 5] = (words[row >>> 5] ?? 0) | (1 << (row & 31));
      }
      return out;
    },
  };
}
