// The command `dolmen ingest`: loads files, URLs or standard input by a task, with their format inferred.

import { ServiceError } from '../../base/errors.js';
import { DolmenClient } from '../client.js';
import { EXIT, type ExitCode } from '../exit-codes.js';
import { showProgress } from '../progress-bar.js';
import { countText, durationText, style } from '../style.js';
import { runTask, SHOWN_REJECTS, type TaskResult } from '../task.js';
import { formatOfName, inferFormat } from './infer-format.js';
import { type InferredTime, inferTime } from './infer-time.js';
import { findInputs, type Inputs, sourceOf } from './inputs.js';
import { localProbe, remoteProbe } from './probe.js';
import { type Sample, sampleRows } from './sample-rows.js';
import { stageInputs } from './stage-input.js';

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

/** `dolmen ingest INPUT…`. Control-C stops the task and says so. */
export async function ingestCommand(words: readonly string[], options: IngestOptions): Promise<ExitCode> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    const result = await ingestInputs(new DolmenClient(options.url), words, options, stop.signal);
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

/** Time of all rows of an input without a time column: it has to be a constant. */
const NO_TIME = { column: '!!!_no_such_column_!!!', format: 'auto', missingValue: '1970-01-01T00:00:00Z' };

/** Loads inputs by one ingestion task, with a progress bar; what is not said is inferred from the first of them and told. */
export async function ingestInputs(
  client: DolmenClient,
  words: readonly string[],
  options: Omit<IngestOptions, 'url'>,
  signal?: AbortSignal,
): Promise<IngestResult> {
  const inputs = await findInputs(words);
  try {
    return await load(client, inputs, options, signal);
  } finally {
    inputs.takeBack();
  }
}

async function load(
  client: DolmenClient,
  { files, urls, name }: Inputs,
  options: Omit<IngestOptions, 'url'>,
  signal: AbortSignal | undefined,
): Promise<IngestResult> {
  const names = [...files, ...urls];
  const [first = ''] = names;
  const dataSource = options.dataSource ?? name;
  if (dataSource === null) throw new ServiceError('input_invalid', '--datasource: say what the table of these inputs is called');
  const probe = files.length > 0 ? localProbe(first) : remoteProbe(client, first, sourceOf([], [first]));
  const { inputFormat, notes } = await inferFormat(probe, options.format);
  if (options.format === undefined) checkFormats(names, inputFormat.type);
  const sample = await sampleRows(probe, inputFormat);
  const time = findTime(sample, options);
  const timeNote = time === undefined ? 'no column reads as time, all rows get 1970-01-01' : `time from "${time.column}" (${time.format})`;
  const shown = names.length === 1 ? first : `${first} and ${countText(names.length - 1, 'other input')}`;
  process.stderr.write(style.quiet(`${shown} as ${inputFormat.type}; ${timeNote}; into "${dataSource}"\n`));
  for (const note of notes) process.stderr.write(style.quiet(`  ${note}\n`));
  for (const [reason, count] of sample.rejected) process.stderr.write(`${countText(count, 'line')} cannot be read: ${reason}\n`);

  const begin = performance.now();
  const staged = await stageInputs(client, files);
  const progress = showProgress(dataSource);
  try {
    const spec = taskSpec({ ...options, dataSource, inputFormat, time, inputSource: sourceOf(staged.paths, urls) });
    const result = await runTask(client, spec, (state) => progress.update(state), signal);
    return { ...result, dataSource, milliseconds: performance.now() - begin };
  } finally {
    progress.stop();
    staged.takeBack();
  }
}

/** One task reads one format: a folder may have files that are no rows of it. */
function checkFormats(names: readonly string[], type: string): void {
  if (names.length === 1) return;
  const other = names.find((name) => !name.endsWith('/') && formatOfName(name) !== type);
  if (other !== undefined)
    throw new ServiceError(
      'input_invalid',
      `the first of the inputs is ${type}, and ${other} is ${formatOfName(other) ?? 'of a name that tells no format'}: load them one by one, or say --format`,
    );
}

/** undefined: the input has no time. */
function findTime({ columns }: Sample, options: Pick<IngestOptions, 'timeColumn' | 'timeFormat'>): InferredTime | undefined {
  const { timeColumn, timeFormat } = options;
  if (timeColumn !== undefined) {
    if (!columns.has(timeColumn))
      throw new ServiceError(
        'input_invalid',
        `--time-column: the input has no column ${timeColumn}; it has ${[...columns.keys()].join(', ')}`,
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
  readonly inputSource: Readonly<Record<string, unknown>>;
  readonly granularity: string;
  readonly append: boolean;
}

function taskSpec({ dataSource, inputFormat, time, inputSource, granularity, append }: SpecParts): unknown {
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
        inputSource,
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
