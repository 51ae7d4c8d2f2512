// Names the time of rows that are in the order in which they came.

import type { Frame } from '../frame.js';
import { TIME_COLUMN } from '../schema.js';

/** Name of `__time` while rows are not sorted (see `plan-names.ts`). */
export const ARRIVAL_TIME = '__arrival_time';

export function arrivalName(name: string): string {
  return name === TIME_COLUMN ? ARRIVAL_TIME : name;
}

export function withArrivalTime(frame: Frame): Frame {
  return { ...frame, columns: frame.columns.map((column) => (column.name === TIME_COLUMN ? { ...column, name: ARRIVAL_TIME } : column)) };
}

export function withTime(frame: Frame): Frame {
  return { ...frame, columns: frame.columns.map((column) => (column.name === ARRIVAL_TIME ? { ...column, name: TIME_COLUMN } : column)) };
}
