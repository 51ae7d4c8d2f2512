// Batches of numbers: values of an expression for all rows of a block.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { highest, lowest } from '../../../base/lists.js';
import type { Block } from '../../block/context.js';

/**
 * A node of an expression over numbers, computed for all rows of a block before its parent is: loops over typed arrays
 * of the JavaScript heap, in which a LONG is a double. It is exact, as a LONG only takes part whose values are known to
 * lie within 2^53.
 */
export interface NumberBatch {
  readonly type: 'LONG' | 'DOUBLE';
  /** LONG only: range of the values that are not null. */
  readonly range: Range;
  /** Values of the block filled last; any number for a null row. */
  readonly values: Float64Array;
  /** One byte a row, 1 where it is null; undefined: no row ever is. */
  readonly nulls: Uint8Array | undefined;
  fill(block: Block): void;
}

export interface Range {
  readonly low: number;
  readonly high: number;
}

/** A range of LONGs that doubles hold exactly; undefined when they do not. */
export function exactRange(low: number, high: number): Range | undefined {
  return low >= Number.MIN_SAFE_INTEGER && high <= Number.MAX_SAFE_INTEGER ? { low, high } : undefined;
}

/** Room for values that are each one of the operands'. */
export function anyOf(operands: readonly NumberBatch[]): Pick<NumberBatch, 'type' | 'range' | 'values'> {
  return {
    type: operands.some(({ type }) => type === 'DOUBLE') ? 'DOUBLE' : 'LONG',
    range: { low: lowest(operands.map(({ range }) => range.low)), high: highest(operands.map(({ range }) => range.high)) },
    values: newValues(),
  };
}

export const TRUTH: Range = { low: 0, high: 1 };

/** Range of a DOUBLE, which is unknown. */
export const ANY: Range = { low: -Infinity, high: Infinity };

export function newValues(): Float64Array {
  return new Float64Array(BLOCK_ROWS);
}

export function newNulls(): Uint8Array {
  return new Uint8Array(BLOCK_ROWS);
}

/** Null rows of either operand; undefined when there are never any. */
export function nullsOfBoth(a: NumberBatch, b: NumberBatch): { readonly nulls: Uint8Array | undefined; fill(rows: number): void } {
  const [first, second] = [a.nulls, b.nulls];
  if (first === undefined || second === undefined) return { nulls: first ?? second, fill: () => undefined };
  const nulls = newNulls();
  return {
    nulls,
    fill(rows) {
      for (let row = 0; row < rows; row++) nulls[row] = (first[row] ?? 0) | (second[row] ?? 0);
    },
  };
}

/** A row for which a condition holds: known, and above 0. */
export function isTrueAt(values: Float64Array, nulls: Uint8Array | undefined, row: number): boolean {
  return (values[row] ?? 0) > 0 && (nulls === undefined || nulls[row] === 0);
}
