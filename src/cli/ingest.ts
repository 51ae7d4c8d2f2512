import { existsSync } from 'node:fs';
import { ServiceError } from '../base/errors.js';
import { DolmenClient } from './client.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import type { FileFormat } from './formats.js';
import { guessFormat, guessTime, nameFor, sampleFile, type TimeGuess } from './guess.js';
import { lendInput } from './lend-input.js';
import { showProgress } from './progress-bar.js';
import { countText, durationText, style } from './style.js';
import { runTask, type TaskResult } from './task.js';

export interface IngestOptions {
  readonly url: string;
  readonly dataSource?: string;
  readonly format?: FileFormat;
  readonly timeColumn?: string;
  readonly timeFormat?: string;
  readonly granularity: string;
  /** Adds to the datasource; otherwise its rows of the same time chunks are replaced. */
  readonly append: boolean;
}

/** `dolmen ingest FILE`. */
export async function ingestCommand(file: string, options: IngestOptions): Promise<ExitCode> {
  const result = await ingestFile(new DolmenClient(options.url), file, options);
  printResult(result);
  return result.failure === null ? EXIT.done : EXIT.failed;
}

export interface IngestResult extends TaskResult {
  readonly dataSource: string;
  readonly milliseconds: number;
}

/** Loads one file by an ingestion task, with a progress bar; what is not said is guessed from the file and told. */
export async function ingestFile(client: DolmenClient, file: string, options: Omit<IngestOptions, 'url'>): Promise<IngestResult> {
  if (!existsSync(file)) throw new ServiceError('input_invalid', `there is no file ${file}`);
  const format = options.format ?? (await guessFormat(file));
  const time = await findTime(file, format, options);
  const dataSource = options.dataSource ?? nameFor(file);
  process.stderr.write(style.quiet(`${file} as ${format}; time from "${time.column}" (${time.format}); into "${dataSource}"\n`));

  const begin = performance.now();
  const lent = await lendInput(client, file);
  const progress = showProgress(dataSource);
  try {
    const spec = taskSpec({ dataSource, format, time, file: lent.path, granularity: options.granularity, append: options.append });
    const result = await runTask(client, spec, (state) => progress.update(state));
    return { ...result, dataSource, milliseconds: performance.now() - begin };
  } finally {
    progress.stop();
    lent.takeBack();
  }
}

async function findTime(file: string, format: FileFormat, options: Pick<IngestOptions, 'timeColumn' | 'timeFormat'>): Promise<TimeGuess> {
  if (options.timeColumn !== undefined) return { column: options.timeColumn, format: options.timeFormat ?? 'auto' };
  const sample = await sampleFile(file, inputFormat(format));
  const guess = guessTime(sample);
  if (guess === undefined) {
    throw new ServiceError(
      'input_invalid',
      `no column of ${file} reads as time; say --time-column NAME and --time-format FORMAT (columns: ${[...sample.keys()].join(', ')})`,
    );
  }
  return { column: guess.column, format: options.timeFormat ?? guess.format };
}

function inputFormat(format: FileFormat): Parameters<typeof sampleFile>[1] {
  switch (format) {
    case 'json':
      return { type: 'json', multiLine: false, flatten: null };
    case 'parquet':
      return { type: 'parquet', binaryAsString: false, flatten: null };
    default:
      return {
        type: format,
        delimiter: format === 'csv' ? ',' : '\t',
        listDelimiter: null,
        columns: null,
        findColumnsFromHeader: true,
        skipHeaderRows: 0,
        tryParseNumbers: true,
      };
  }
}

interface SpecParts {
  readonly dataSource: string;
  readonly format: FileFormat;
  readonly time: TimeGuess;
  readonly file: string;
  readonly granularity: string;
  readonly append: boolean;
}

function taskSpec({ dataSource, format, time, file, granularity, append }: SpecParts): unknown {
  const delimited = format === 'csv' || format === 'tsv';
  return {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource,
        timestampSpec: time,
        dimensionsSpec: { useSchemaDiscovery: true },
        granularitySpec: { type: 'uniform', segmentGranularity: granularity, queryGranularity: 'none', rollup: false },
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', files: [file] },
        inputFormat: delimited ? { type: format, findColumnsFromHeader: true, tryParseNumbers: true } : { type: format },
        appendToExisting: append,
      },
      tuningConfig: { type: 'index_parallel' },
    },
  };
}

export function printResult(result: IngestResult): void {
  const { counts, segments, failure, dataSource, milliseconds } = result;
  if (failure !== null) {
    process.stderr.write(`${style.bad('failed')}: ${failure}\n`);
    return;
  }
  const rate = Math.round((counts.processed + counts.processedWithError) / (milliseconds / 1000));
  const rejected = counts.unparseable + counts.thrownAway;
  process.stdout.write(
    `${style.good('loaded')} ${countText(counts.processed + counts.processedWithError, 'row')} into ${countText(segments, 'segment')} of "${dataSource}"` +
      ` in ${durationText(milliseconds)} (${countText(rate, 'row')}/s); ${countText(rejected, 'rejected line')}\n`,
  );
  for (const { reason, input } of result.rejects) process.stdout.write(style.quiet(`  ${reason}: ${input.slice(0, 120)}\n`));
}
