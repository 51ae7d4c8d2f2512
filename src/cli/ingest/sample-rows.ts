// Takes a sample of the rows of an input, to infer its time from.

import { ServiceError } from '../../base/errors.js';
import type { Probe } from './probe.js';

const SAMPLE_ROWS = 200;

/** Values of the first rows by column, as strings and numbers; null and absent ones left out. */
export interface Sample {
  readonly columns: ReadonlyMap<string, readonly (string | number)[]>;
  /** Why lines among the first ones cannot be read, and how many. */
  readonly rejected: ReadonlyMap<string, number>;
}

/** @throws ServiceError `input_unreadable` when the input has no row of this format */
export async function sampleRows(probe: Probe, inputFormat: Readonly<Record<string, unknown>>): Promise<Sample> {
  const columns = new Map<string, (string | number)[]>();
  const rejected = new Map<string, number>();
  let rows = 0;
  const reject = (reason: string): void => {
    rejected.set(reason, (rejected.get(reason) ?? 0) + 1);
  };
  for await (const row of probe.rows(inputFormat, reject)) {
    for (const [column, value] of row) {
      const values = columns.get(column) ?? [];
      columns.set(column, values);
      if (typeof value === 'string' || typeof value === 'number') values.push(value);
    }
    if (++rows >= SAMPLE_ROWS) break;
  }
  if (rows === 0) {
    const [reason] = rejected.keys();
    throw new ServiceError(
      'input_unreadable',
      `${probe.name} has no row that reads as ${String(inputFormat['type'])}${reason === undefined ? '' : `: ${reason}`}`,
    );
  }
  return { columns, rejected };
}
