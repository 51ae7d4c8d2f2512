import { csvIngestion, writeCsv } from './csv.js';

/** The table `t` of very many hours of few rows, each hour a segment. */
export const HOURLY_ROWS = 20;

const HOUR_MS = 3_600_000;
const START = Date.UTC(2020, 0, 1);

/** Writes the rows of hours [from, to). */
export function writeHourlyCsv(file: string, from: number, to: number): void {
  writeCsv(file, ['__time', 'a', 'b', 'n'], hourlyRows(from, to));
}

function* hourlyRows(from: number, to: number): Generator<string> {
  for (let hour = from; hour < to; hour++)
    for (let row = 0; row < HOURLY_ROWS; row++) {
      const time = new Date(START + hour * HOUR_MS + row * 60_000).toISOString();
      yield `${time},k${row % 7},u${(hour * HOURLY_ROWS + row * 13) % 1000},${(hour * 31 + row * 7) % 100}`;
    }
}

/** The task that loads such a file into the datasource `t`, a segment an hour. */
export function hourlyIngestion(folder: string, file: string, appendToExisting = false): unknown {
  const dimensions = ['a', 'b', { type: 'long', name: 'n' }];
  return csvIngestion({ folder, file, dataSource: 't', dimensions, segmentGranularity: 'hour', appendToExisting });
}
