// The command `dolmen ingest`: loads a file by a task, with its format inferred.

import { basename } from 'node:path';
import { ServiceError } from '../base/errors.js';
import { DolmenClient } from './client.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { inferFormat } from './infer-format.js';
import { type InferredTime, inferTime } from './infer-time.js';
import { showProgress } from './progress-bar.js';
import { entityOf, type Sample, sampleFile } from './sample-file.js';
import { stageInput } from './stage-input.js';
import { countText, durationText, style } from './style.js';
import { runTask, SHOWN_REJECTS, type TaskResult } from './task.js';

export interface IngestOptions {
  readonly url: string;
  readonly dataSource?: string;
  readonly format?: string;
  readonly timeColumn?: string;
  readonly timeFormat?: string;
  readonly granularity: string;
  /** Adds to the datasource; otherwise its rows of the same time chunks are replaced. */
  readonly append: boolean;
}

/** `dolmen ingest FILE`. Control-C stops the task and says so. */
export async function ingestCommand(file: string, options: IngestOptions): Promise<ExitCode> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const result = await ingestFile(new DolmenClient(options.url), file, options, stop.signal);
    printResult(result);
    return result.failure === null ? EXIT.done : EXIT.failed;
  } finally {
    process.removeListener('SIGINT', interrupt);
  }
}

export interface IngestResult extends TaskResult {
  readonly dataSource: string;
  readonly milliseconds: number;
}

/** Time of all rows of a file without a time column: it has to be a constant. */
const NO_TIME = { column: '!!!_no_such_column_!!!', format: 'auto', missingValue: '1970-01-01T00:00:00Z' };

/** Loads one file by an ingestion task, with a progress bar; what is not said is inferred from the file and told. */
export async function ingestFile(
  client: DolmenClient,
  file: string,
  options: Omit<IngestOptions, 'url'>,
  signal?: AbortSignal,
): Promise<IngestResult> {
  await entityOf(file);
  const { inputFormat, notes } = await inferFormat(file, options.format);
  const sample = await sampleFile(file, inputFormat);
  const time = findTime(sample, options);
  const dataSource = options.dataSource ?? nameFor(file);
  const timeNote = time === undefined ? 'no column reads as time, all rows get 1970-01-01' : `time from "${time.column}" (${time.format})`;
  process.stderr.write(style.quiet(`${file} as ${inputFormat.type}; ${timeNote}; into "${dataSource}"\n`));
  for (const note of notes) process.stderr.write(style.quiet(`  ${note}\n`));
  for (const [reason, count] of sample.rejected) process.stderr.write(`${countText(count, 'line')} cannot be read: ${reason}\n`);

  const begin = performance.now();
  const staged = await stageInput(client, file);
  const progress = showProgress(dataSource);
  try {
    const spec = taskSpec({ ...options, dataSource, inputFormat, time, file: staged.path });
    const result = await runTask(client, spec, (state) => progress.update(state), signal);
    return { ...result, dataSource, milliseconds: performance.now() - begin };
  } finally {
    progress.stop();
    staged.takeBack();
  }
}

/** undefined: the file has no time. */
function findTime({ columns }: Sample, options: Pick<IngestOptions, 'timeColumn' | 'timeFormat'>): InferredTime | undefined {
  const { timeColumn, timeFormat } = options;
  if (timeColumn !== undefined) {
    if (!columns.has(timeColumn))
      throw new ServiceError(
        'input_invalid',
        `--time-column: the file has no column ${timeColumn}; it has ${[...columns.keys()].join(', ')}`,
      );
    return { column: timeColumn, format: timeFormat ?? 'auto' };
  }
  const found = inferTime(columns);
  if (found === undefined) {
    if (timeFormat === undefined) return undefined;
    throw new ServiceError('input_invalid', `--time-format needs --time-column (columns: ${[...columns.keys()].join(', ')})`);
  }
  return { column: found.column, format: timeFormat ?? found.format };
}

interface SpecParts {
  readonly dataSource: string;
  readonly inputFormat: Readonly<Record<string, unknown>>;
  readonly time: InferredTime | undefined;
  readonly file: string;
  readonly granularity: string;
  readonly append: boolean;
}

function taskSpec({ dataSource, inputFormat, time, file, granularity, append }: SpecParts): unknown {
  const segmentGranularity = time === undefined ? 'all' : granularity;
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource,
        timestampSpec: time ?? NO_TIME,
        dimensionsSpec: { useSchemaDiscovery: true },
        granularitySpec: { type: 'uniform', segmentGranularity, queryGranularity: 'none', rollup: false },
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', files: [file] },
        inputFormat,
        appendToExisting: append,
      },
      tuningConfig: { type: 'index_parallel', maxSavedParseExceptions: SHOWN_REJECTS },
    },
  };
}

export function printResult(result: IngestResult): void {
  const { counts, segments, balance, failure, dataSource, milliseconds } = result;
  const rows = counts.processed + counts.processedWithError;
  const rejected = counts.unparseable + counts.thrownAway;
  if (failure !== null) process.stderr.write(`${style.bad('failed')}: ${failure}\n`);
  else {
    const rate = Math.round(rows / (milliseconds / 1000));
    process.stdout.write(
      `${style.good('loaded')} ${countText(rows, 'row')} into ${countText(segments, 'segment')} of "${dataSource}"` +
        ` in ${durationText(milliseconds)} (${countText(rate, 'row')}/s); ${countText(rejected, 'rejected line')}\n`,
    );
  }
  if (balance !== null) process.stdout.write(style.quiet(`  ${balance}\n`));
  for (const { place, reason, input } of result.rejects)
    process.stdout.write(style.quiet(`  ${place === '' ? '' : `${place}: `}${reason}: ${input.slice(0, 120)}\n`));
}

/** `flights-3m.parquet` → `flights-3m`. */
export function nameFor(file: string): string {
  return basename(file)
    .replace(/\.(gz|gzip|zst|zstd|bz2|bz|xz|lz4|sz|snappy|zip)$/i, '')
    .replace(/\.[^.]+$/, '')
    .replace(/[^\w-]+/g, '_');
}
