// Strings in batch expressions, as ids of a shared pool.

import { BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import type { Block } from '../../block/context.js';
import { idsOf } from '../coded-column.js';
import type { SegmentScope } from '../scope.js';
import { oncePerBlock, type StringPool, type StringVector } from '../vector.js';
import { isTrueAt, type NumberBatch } from './number-batch.js';

/** Texts of a block as ids into the pool that all nodes of an expression share; 0 is null. */
export interface TextBatch {
  readonly ids: Uint32Array;
  fill(block: Block): void;
}

export function constantText(id: number): TextBatch {
  return { ids: new Uint32Array(BLOCK_ROWS).fill(id), fill: () => undefined };
}

/** A function of one dictionary column: `table` has the pool's id for each of the column's. */
export function dictionaryText(scope: SegmentScope, column: StringColumnView, table: Uint32Array): TextBatch {
  const ids = new Uint32Array(BLOCK_ROWS);
  return {
    ids,
    fill({ start, rows }) {
      const stored = idsOf(scope, column, start, rows);
      for (let row = 0; row < rows; row++) ids[row] = table[stored[row] ?? 0] ?? 0;
    },
  };
}

/** The result of the first condition that is true, else the last, else null. */
export function chosenText(conditions: readonly NumberBatch[], results: readonly TextBatch[], otherwise: TextBatch): TextBatch {
  const ids = new Uint32Array(BLOCK_ROWS);
  return {
    ids,
    fill(block) {
      otherwise.fill(block);
      ids.set(otherwise.ids.subarray(0, block.rows));
      for (let index = conditions.length - 1; index >= 0; index--) {
        const [condition, result] = [conditions[index], results[index]];
        if (condition === undefined || result === undefined) continue;
        condition.fill(block);
        result.fill(block);
        const [truth, unknown, made] = [condition.values, condition.nulls, result.ids];
        for (let row = 0; row < block.rows; row++) if (isTrueAt(truth, unknown, row)) ids[row] = made[row] ?? 0;
      }
    },
  };
}

/** The first that is not null. */
export function firstKnownText(operands: readonly TextBatch[]): TextBatch {
  const ids = new Uint32Array(BLOCK_ROWS);
  return {
    ids,
    fill(block) {
      ids.fill(0, 0, block.rows);
      for (const operand of operands) {
        operand.fill(block);
        const made = operand.ids;
        for (let row = 0; row < block.rows; row++) if (ids[row] === 0) ids[row] = made[row] ?? 0;
      }
    },
  };
}

/** The texts of a batch in kernel memory; its pool is complete. */
export function textVector(scope: SegmentScope, batch: TextBatch, pool: StringPool): StringVector {
  const at = scope.arena.take(BLOCK_ROWS * 4);
  const run = oncePerBlock((block) => {
    batch.fill(block);
    scope.context.memory.u32(at, block.rows).set(batch.ids.subarray(0, block.rows));
  });
  return {
    kind: 'string',
    type: 'STRING',
    pool,
    complete: true,
    ids: (block) => {
      run(block);
      return at;
    },
  };
}
