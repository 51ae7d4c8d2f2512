import { closeSync, openSync, writeSync } from 'node:fs';

const WRITTEN_AT_ONCE = 1 << 20;

/**
 * Writes a header and lines, few at a time.
 * @param lines  without line ends
 * @returns the number of lines below the header
 */
export function writeCsv(file: string, columns: readonly string[], lines: Iterable<string>): number {
  const out = openSync(file, 'w');
  try {
    let count = 0;
    let waiting = `${columns.join(',')}\n`;
    for (const line of lines) {
      count++;
      waiting += `${line}\n`;
      if (waiting.length < WRITTEN_AT_ONCE) continue;
      writeSync(out, waiting);
      waiting = '';
    }
    writeSync(out, waiting);
    return count;
  } finally {
    closeSync(out);
  }
}

/** A file with a header, and the datasource that its rows become. */
export interface CsvLoad {
  readonly folder: string;
  readonly file: string;
  readonly dataSource: string;
  readonly dimensions: readonly unknown[];
  readonly segmentGranularity: 'hour' | 'day' | 'month' | 'all';
  /** Time in another form than ISO 8601 in `__time`. */
  readonly timestampSpec?: Readonly<Record<string, unknown>>;
  /** Between the values of a row of several. */
  readonly listDelimiter?: string;
  readonly transforms?: readonly unknown[];
  readonly appendToExisting?: boolean;
  readonly partitionsSpec?: Readonly<Record<string, unknown>>;
}

/** The task that loads a file of comma-separated values. What is left out of it has its default. */
export function csvIngestion({
  folder,
  file,
  dataSource,
  dimensions,
  segmentGranularity,
  timestampSpec = { column: '__time', format: 'iso' },
  listDelimiter,
  transforms = [],
  appendToExisting = false,
  partitionsSpec,
}: CsvLoad): unknown {
  return {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', baseDir: folder, filter: file },
        inputFormat: { type: 'csv', findColumnsFromHeader: true, listDelimiter },
        appendToExisting,
      },
      dataSchema: {
        dataSource,
        timestampSpec,
        transformSpec: { transforms },
        dimensionsSpec: { dimensions },
        granularitySpec: { type: 'uniform', segmentGranularity, queryGranularity: 'none', rollup: false },
      },
      tuningConfig: { type: 'index_parallel', partitionsSpec },
    },
  };
}
