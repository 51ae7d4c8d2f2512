// Makes a chunk of rows readable in time order while it remembers its own.

import { ServiceError } from '../../base/errors.js';
import { type Frame, type FrameColumn, frameColumnType, isNullAt } from '../../model/frame.js';
import type { RowPlan } from '../../model/plan.js';
import { TIME_COLUMN } from '../../model/schema.js';
import { columnsRead } from '../expression/columns-of-plan.js';
import { findColumn, gatherFrame, rowsByTime } from './rows.js';

/** Column with a row's position in its chunk before the chunk was sorted by time. */
export const POSITION = 'position in chunk';

export interface ReadableRows {
  readonly rows: Frame;
  /** In order of time, not as they came. */
  readonly isMoved: boolean;
}

/**
 * The chunk as the engine reads segments, whose `__time`, if they have one, ascends and is never null: rows in order of
 * time, and rows without a time apart.
 */
export function readable(chunk: Frame, plan: RowPlan): ReadableRows[] {
  const time = findColumn(chunk, TIME_COLUMN);
  if (time === undefined) return [{ rows: chunk, isMoved: false }];
  if (time.kind !== 'long') {
    if (!isNullEverywhere(time) && columnsRead(plan).includes(TIME_COLUMN) && plan.operator !== 'group')
      throw new ServiceError(
        'unsupported',
        `${TIME_COLUMN} of rows that is of type ${frameColumnType(time)} is not supported; only LONG is`,
      );
    return [{ rows: without(chunk, time), isMoved: false }];
  }
  const { nulls } = time;
  if (nulls === null) return [inTimeOrder(chunk)];
  const numbers = Array.from({ length: chunk.rowCount }, (_, row) => row);
  const timed = gatherFrame(chunk, Uint32Array.from(numbers.filter((row) => !isNullAt(nulls, row))));
  const timeless = gatherFrame(without(chunk, time), Uint32Array.from(numbers.filter((row) => isNullAt(nulls, row))));
  return [inTimeOrder(timed), { rows: timeless, isMoved: false }].filter(({ rows }) => rows.rowCount > 0);
}

function inTimeOrder(chunk: Frame): ReadableRows {
  const order = rowsByTime(chunk);
  if (order === null) return { rows: chunk, isMoved: false };
  const positions = new BigInt64Array(order.length);
  const halves = new Uint32Array(positions.buffer);
  for (let at = 0; at < order.length; at++) halves[at * 2] = order[at] ?? 0;
  const position = { kind: 'long', name: POSITION, values: positions, nulls: null } as const;
  const sorted = gatherFrame(chunk, order);
  return { rows: { ...sorted, columns: [...sorted.columns, position] }, isMoved: true };
}

function without(chunk: Frame, column: FrameColumn): Frame {
  return { ...chunk, columns: chunk.columns.filter((each) => each !== column) };
}

function isNullEverywhere(column: FrameColumn): boolean {
  return column.kind === 'string' && column.dictionary.every((text) => text === null);
}
