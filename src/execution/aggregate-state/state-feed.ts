// Merges stored states of a column into aggregate states.

import { ServiceError } from '../../base/errors.js';
import { BLOCK_ROWS, PHYSICAL_BYTES } from '../../base/layout.js';
import { parseDouble } from '../../expression/value.js';
import { kernelFor } from '../block/context.js';
import { textAt } from '../block/dictionary.js';
import type { SegmentScope, Source } from '../expression/scope.js';
import type { Feed, StateOperations } from './state-operations.js';

/**
 * Merges states that a column holds as texts: stored ones, or those put out before; and takes in the texts of numbers,
 * where a kind knows what to do with them. Every row counts, also when its text is that of another: two servers may have
 * come to the same state of different rows.
 * @param mayHoldValues  whether a null is a value, rather than no state
 * @throws ServiceError for a column of numbers or of several values a row
 */
export function stateFeed(
  scope: SegmentScope,
  kind: StateOperations<unknown>,
  column: string,
  mayHoldValues: boolean,
): Feed<unknown> | undefined {
  const source = scope.source(column);
  if (source.kind === 'missing') return undefined;
  const texts = textReader(scope, source);
  if (texts === undefined)
    throw new ServiceError('query_invalid', `column "${column}" has numbers or several values a row, where states as strings are expected`);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      const text = texts(block, rows, n);
      const numbers = scope.context.memory.u32(groups, n).slice();
      for (let i = 0; i < n; i++) {
        const found = text(i);
        if (found === null) {
          if (mayHoldValues && kind.addNull !== undefined) kind.addNull(stateOf(numbers[i] ?? 0));
          continue;
        }
        const state = stateOf(numbers[i] ?? 0);
        const number = kind.addNumber === undefined ? null : parseDouble(found);
        if (number === null) kind.merge(state, decodeOf(kind, found, column));
        else kind.addNumber?.(state, number);
      }
    },
  };
}

/** @throws ServiceError that names the column */
function decodeOf(kind: StateOperations<unknown>, text: string, column: string): unknown {
  try {
    return kind.decode(text);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Columns that only ingestion knows begin with a NUL.
    throw new ServiceError(error.code, `column "${column.replace('\u0000', '')}": ${error.message}`, error);
  }
}

/** Whether the values of a column are texts. */
export function hasTexts(scope: SegmentScope, column: string): boolean {
  const source = scope.source(column);
  return source.kind === 'string' || (source.kind === 'computed' && source.vector.kind === 'string');
}

type Add = Parameters<Feed<unknown>['add']>;

/** Gives, for rows of a block, the text at a position among them; undefined: it has none. */
function textReader(
  scope: SegmentScope,
  source: Exclude<Source, { kind: 'missing' }>,
): ((block: Add[0], rows: Add[1], n: Add[3]) => (position: number) => string | null) | undefined {
  const { memory, kernels } = scope.context;
  const gathered = scope.arena.take(BLOCK_ROWS * 4);
  if (source.kind === 'string' && source.column.offsets === 0) {
    const { dictionary, physical, ids } = source.column;
    const bytes = PHYSICAL_BYTES[physical];
    return (block, rows, n) => {
      kernelFor(kernels, 'keyDense', physical)(ids + block.start * bytes, rows, n, 1, 0, gathered);
      const entries = memory.u32(gathered, n).slice();
      return (position) => textAt(memory, dictionary, entries[position] ?? 0);
    };
  }
  if (source.kind !== 'computed' || source.vector.kind !== 'string') return undefined;
  const { vector } = source;
  return (block, rows, n) => {
    kernels.keyDenseU32(vector.ids(block), rows, n, 1, 0, gathered);
    const entries = memory.u32(gathered, n).slice();
    return (position) => vector.pool.values[entries[position] ?? 0] ?? null;
  };
}
