// Rows of the result of a statement, under the names that the statement gives them.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { highest } from '../../base/lists.js';
import { frameBytes } from '../../execution/block/frame-bytes.js';
import type { Frame } from '../../model/frame.js';
import { bucketsOf } from '../../model/granularity.js';
import { TIME_COLUMN } from '../../model/schema.js';
import type { OutputColumn, PlannedStatement } from '../../model/statement.js';
import { timesOf } from '../builder/run-buffer.js';
import { QueryFault } from './query-fault.js';

export type WriteStatement = Extract<PlannedStatement, { readonly kind: 'insert' | 'replace' }>;
export type ExportStatement = Extract<PlannedStatement, { readonly kind: 'export' }>;
export type SelectStatement = Extract<PlannedStatement, { readonly kind: 'select' }>;

/** Result columns go by position; from here on they have the names of the statement. */
export function named(frame: Frame, columns: readonly OutputColumn[]): Frame {
  return {
    rowCount: frame.rowCount,
    columns: frame.columns
      .slice(0, columns.length)
      .map((column, position) => ({ ...column, name: columns[position]?.name ?? column.name })),
  };
}

/**
 * The times of rows with names.
 * @throws QueryFault for a row without a time, or with one outside of OVERWRITE WHERE
 */
export function checkedTimes(frame: Frame, { overwrite, query, partitionedBy }: WriteStatement): Float64Array {
  if (!query.columns.some(({ name }) => name === TIME_COLUMN)) return new Float64Array(frame.rowCount);
  const times = timesOf(frame);
  if (times === undefined) throw new ServiceError('internal', `${TIME_COLUMN} is not a column of longs`);
  let within: Interval | undefined;
  for (const time of times) {
    if (Number.isNaN(time))
      throw new QueryFault('input_invalid', `a row has a null ${TIME_COLUMN}; filter such rows out, or give them a time with COALESCE`, {
        errorCode: 'InsertTimeNull',
      });
    if (overwrite === null || overwrite === 'all' || (within !== undefined && within.start <= time && time < within.end)) continue;
    within = overwrite.find(({ start, end }) => start <= time && time < end);
    if (within === undefined) {
      const buckets = bucketsOf(partitionedBy);
      throw new QueryFault(
        'input_invalid',
        `a row lies outside of OVERWRITE WHERE ${overwrite.map(formatInterval).join(', ')}; filter such rows out`,
        { errorCode: 'InsertTimeOutOfBounds', interval: formatInterval({ start: buckets.floor(time), end: buckets.next(time) }) },
      );
    }
  }
  return times;
}

/** @throws QueryFault for a row that is larger than a statement allows */
export function checkRowSizes(frame: Frame, maxFrameSize: number | null): void {
  if (maxFrameSize === null || frameBytes(frame) <= maxFrameSize) return;
  const sizes = new Float64Array(frame.rowCount);
  for (const column of frame.columns) {
    const textBytes =
      column.kind === 'string' || column.kind === 'multi' ? column.dictionary.map((text) => Buffer.byteLength(text ?? '')) : [];
    for (let row = 0; row < frame.rowCount; row++) {
      if (column.kind === 'string') sizes[row] = (sizes[row] ?? 0) + (textBytes[column.ids[row] ?? 0] ?? 0);
      else if (column.kind !== 'multi') sizes[row] = (sizes[row] ?? 0) + 8;
      else
        for (let at = column.offsets[row] ?? 0; at < (column.offsets[row + 1] ?? 0); at++)
          sizes[row] = (sizes[row] ?? 0) + (textBytes[column.ids[at] ?? 0] ?? 0);
    }
  }
  const largest = highest(sizes);
  if (largest > maxFrameSize)
    throw new QueryFault('resource_limit', `a row takes ${largest} bytes, more than context.maxFrameSize (${maxFrameSize}) allows`, {
      errorCode: 'RowTooLarge',
      maxFrameSize,
    });
}
