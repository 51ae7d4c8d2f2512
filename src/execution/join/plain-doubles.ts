// Finds doubles that are not numbers as others are.

import { BLOCK_ROWS } from '../../base/layout.js';
import type { ColumnView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';

/** Whether no double of a column is NaN or -0; those that are stored as whole numbers never are. */
export function isPlainColumn({ memory, check }: RunContext, column: ColumnView | undefined, rowCount: number): boolean {
  if (column?.kind !== 'number' || column.type === 'LONG' || (column.physical !== 'F64' && column.physical !== 'F32')) return true;
  const { physical, values } = column;
  const doubles = physical === 'F64' ? memory.f64(values, rowCount) : memory.f32(values, rowCount);
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    check();
    const end = Math.min(rowCount, start + BLOCK_ROWS);
    for (let row = start; row < end; row++) {
      const value = doubles[row] ?? 0;
      if (value !== value || (value === 0 && 1 / value < 0)) return false;
    }
  }
  return true;
}
