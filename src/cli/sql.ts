// The command `dolmen sql`.

import { readFileSync } from 'node:fs';
import { ServiceError } from '../base/errors.js';
import { DolmenClient } from './client.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import type { OutputFormat } from './formats.js';
import { runStatement } from './run-statement.js';
import { runShell } from './shell.js';
import { isBlank, splitStatements } from './statements.js';

export interface SqlOptions {
  readonly url: string;
  readonly execute?: string;
  readonly file?: string;
  readonly format: OutputFormat;
  readonly timing: boolean;
}

/** `dolmen sql`: runs the given statements, or those on standard input, or asks for them. */
export async function sqlCommand(options: SqlOptions): Promise<ExitCode> {
  const client = new DolmenClient(options.url);
  const given = options.execute ?? (options.file === undefined ? undefined : readScript(options.file));
  if (given === undefined && process.stdin.isTTY) return runShell(client);
  const text = given ?? (await readStandardInput());
  const { statements, rest } = splitStatements(text);
  for (const statement of isBlank(rest) ? statements : [...statements, rest.trim()]) {
    const code = await runStatement(client, statement, options);
    if (code !== EXIT.done) return code;
  }
  return EXIT.done;
}

function readScript(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ServiceError(
      'input_invalid',
      `--file: cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
