import { type DolmenClient, QueryRefused, type TextFormat } from './client.js';
import { EXIT, type ExitCode, exitCodeOf } from './exit-codes.js';
import type { OutputFormat } from './formats.js';
import { failureText, resultTable } from './result-table.js';
import { countText, durationText, style } from './style.js';

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
    if (options.format === 'table') {
      const answer = await client.query(statement, interrupt.signal);
      process.stdout.write(resultTable(answer));
      if (options.timing)
        process.stderr.write(`${style.quiet(`${countText(answer.rows.length, 'row')} in ${durationText(answer.milliseconds)}`)}\n`);
    } else {
      for await (const chunk of client.queryText(statement, TEXT_FORMATS[options.format], interrupt.signal)) await writeOut(chunk);
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

/** Waits while whoever reads our output is slower than the server. */
async function writeOut(chunk: Uint8Array): Promise<void> {
  if (!process.stdout.write(chunk)) await new Promise((resolve) => process.stdout.once('drain', resolve));
}
