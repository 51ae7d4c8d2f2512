// Runs one SQL statement of the shell or of `dolmen sql`, and prints its result.

import { type DolmenClient, QueryRefused, type TextFormat } from './client.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.js';
import type { OutputFormat } from './formats.js';
import { failureText, resultTable } from './result-table.js';
import { isIngestion } from './statements.js';
import { countText, durationText, style } from './style.js';
import { followTask } from './task.js';

const TEXT_FORMATS: Readonly<Record<Exclude<OutputFormat, 'table'>, TextFormat>> = { csv: 'csv', json: 'object', lines: 'objectLines' };

/** Results go to standard output, everything else to standard error. An interrupt cancels the query on the server. */
export async function runStatement(
  client: DolmenClient,
  statement: string,
  options: { readonly format: OutputFormat; readonly timing: boolean },
): Promise<ExitCode> {
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once('SIGINT', onInterrupt);
  try {
    if (isIngestion(statement)) return await runIngestion(client, statement, interrupt.signal);
    if (options.format === 'table') {
      const answer = await client.query(statement, interrupt.signal);
      process.stdout.write(resultTable(answer));
      if (options.timing)
        process.stderr.write(`${style.quiet(`${countText(answer.rows.length, 'row')} in ${durationText(answer.milliseconds)}`)}\n`);
    } else {
      const chunks = client.queryText(statement, TEXT_FORMATS[options.format], interrupt.signal);
      for await (const chunk of withoutBlankEnd(chunks)) await writeOut(chunk);
    }
    return EXIT.done;
  } catch (error) {
    process.stderr.write(
      `${error instanceof QueryRefused ? failureText(statement, error.failure) : error instanceof Error ? error.message : String(error)}\n`,
    );
    return exitCodeOf(error);
  } finally {
    process.removeListener('SIGINT', onInterrupt);
  }
}

/** INSERT and REPLACE run as a task, which is followed to its end. */
async function runIngestion(client: DolmenClient, statement: string, signal: AbortSignal): Promise<ExitCode> {
  const task = await client.submitTask(statement);
  const { failure } = await followTask(client, task, () => undefined, signal);
  if (failure === null) process.stderr.write(`${style.good('done')}: task ${task}\n`);
  else process.stderr.write(`${style.bad('failed')}: ${failure}\n`);
  return failure === null ? EXIT.done : EXIT.failed;
}

/** The server marks the end of a complete result by a blank line, which is not part of a file of lines. */
async function* withoutBlankEnd(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const LINE_FEED = 10;
  let before: number | undefined;
  let held: Uint8Array | null = null;
  for await (const chunk of chunks) {
    if (chunk.length === 0) continue;
    if (held !== null) yield held;
    held = null;
    const last = chunk.length - 1;
    const isBlankLine = chunk[last] === LINE_FEED && (last > 0 ? chunk[last - 1] : before) === LINE_FEED;
    before = chunk[last];
    if (isBlankLine) held = chunk.subarray(last);
    yield isBlankLine ? chunk.subarray(0, last) : chunk;
  }
}

/** Waits while the reader of our output is slower than the server. */
async function writeOut(chunk: Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}
