import { assert } from '../../base/errors.js';
import { BLOCK_ROWS, PHYSICAL_BYTES } from '../../storage/view.js';
import { kernelFor } from '../context.js';
import { textAt } from '../dictionary.js';
import type { SegmentScope } from '../scope.js';
import type { Feed, StateKind } from './state-kind.js';

/**
 * Merges states that were put out before and travel as texts. Every row counts, also when its text is that of another:
 * two servers may have come to the same state of different rows.
 */
export function stateFeed(scope: SegmentScope, kind: StateKind<unknown>, column: string): Feed<unknown> | undefined {
  const source = scope.source(column);
  if (source.kind === 'missing') return undefined;
  if (source.kind === 'number') return undefined;
  assert(source.kind === 'string' && source.column.offsets === 0, `column ${column} holds no states`);
  const { memory, kernels } = scope.context;
  const { dictionary, physical, ids } = source.column;
  const gathered = scope.arena.take(BLOCK_ROWS * 4);
  const bytes = PHYSICAL_BYTES[physical];
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      kernelFor(kernels, 'keyDense', physical)(ids + block.start * bytes, rows, n, 1, 0, gathered);
      const entries = memory.u32(gathered, n).slice();
      const numbers = memory.u32(groups, n).slice();
      entries.forEach((id, i) => {
        const text = textAt(memory, dictionary, id);
        if (text !== null) kind.merge(stateOf(numbers[i] ?? 0), kind.decode(text));
      });
    },
  };
}
