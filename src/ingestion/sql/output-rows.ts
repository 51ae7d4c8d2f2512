// Rows of the result of a statement, under the names that the statement gives them.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
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
