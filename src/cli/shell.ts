// The interactive SQL shell.

import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { DolmenClient } from './client.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { runStatement } from './run-statement.js';
import { isBlank, onOneLine, splitStatements } from './statements.js';
import { style } from './style.js';

const PROMPT = 'dolmen> ';
const CONTINUED = '   ...> ';
const HISTORY_LINES = 1000;

const HELP = `  SELECT ... ;     a statement ends with a semicolon and may take several lines
  \\d               list the tables
  \\d NAME          list the columns of a table
  \\?               this help (help too)
  \\q               leave (quit, exit and Control-D too); Control-C stops a query or drops what is typed
`;

/** The interactive shell: history across sessions, statements over several lines, answers as tables with their time. */
export async function runShell(client: DolmenClient): Promise<ExitCode> {
  const historyFile = process.env.DOLMEN_HISTORY ?? join(homedir(), '.dolmen_history');
  process.stdout.write(`${style.title('Dolmen SQL')} at ${style.accent(client.url)}. \\? for help, \\q to leave.\n`);
  const shell = createInterface({
    input: process.stdin,
    output: process.stdout,
    prompt: PROMPT,
    historySize: HISTORY_LINES,
    history: readHistory(historyFile),
    removeHistoryDuplicates: true,
  });

  let history: string[] = [];
  // Readline emits its history, newest first, when a line is added, and recalls lines from that very list.
  shell.on('history', (lines) => {
    history = lines;
  });
  let typed = '';
  shell.on('SIGINT', () => {
    // While a query runs, `runStatement` listens on the process; here the line is all there is to stop.
    if (process.listenerCount('SIGINT') > 0) process.emit('SIGINT');
    else {
      typed = '';
      process.stdout.write('^C\n');
      // The line that is being edited belongs to readline: it is cleared with its keys for "to the end" and "delete to the start".
      shell.write(null, { ctrl: true, name: 'e' });
      shell.write(null, { ctrl: true, name: 'u' });
      shell.setPrompt(PROMPT);
      shell.prompt();
    }
  });
  shell.prompt();
  for await (const line of shell) {
    const command = typed === '' ? commandOf(line) : undefined;
    if (command !== undefined) {
      remember(historyFile, line.trim());
      if (command === '\\q') break;
      await runCommand(client, command);
    } else {
      const { statements, rest } = splitStatements(`${typed}${line}\n`);
      // The statement as a whole takes the place of its lines in what Up recalls.
      if (statements.length > 0 && typed !== '') history.splice(0, typed.trimEnd().split('\n').length + 1);
      for (const statement of statements) {
        const oneLine = `${onOneLine(statement)};`;
        // A string may hold a line break: such a statement cannot be a line of the file.
        if (!oneLine.includes('\n')) remember(historyFile, oneLine);
        if (history[0] !== oneLine) history.unshift(oneLine);
        await runStatement(client, statement, { format: 'table', timing: true });
      }
      typed = isBlank(rest) ? '' : rest;
    }
    shell.setPrompt(typed === '' ? PROMPT : CONTINUED);
    shell.prompt();
  }
  shell.close();
  return EXIT.done;
}

/** Words that other shells take for a command, with or without a semicolon. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['quit', '\\q'],
  ['exit', '\\q'],
  ['help', '\\?'],
  ['?', '\\?'],
]);

/** The command that a line is, without its semicolon; undefined: it is SQL. */
export function commandOf(line: string): string | undefined {
  const bare = line.trim().replace(/\s*;+$/, '');
  return bare.startsWith('\\') ? bare : WORDS.get(bare.toLowerCase());
}

async function runCommand(client: DolmenClient, command: string): Promise<void> {
  const [name, argument] = command.split(/\s+/, 2);
  const show = (statement: string) => runStatement(client, statement, { format: 'table', timing: false });
  if (name === '\\?') process.stdout.write(HELP);
  else if (name === '\\d' && argument === undefined) await show(TABLES);
  else if (name === '\\d' && argument !== undefined) await show(columnsOf(argument.replace(/^"(.*)"$/, '$1')));
  else process.stderr.write(`unknown command ${name}; \\? lists those there are\n`);
}

const TABLES = `SELECT TABLE_NAME AS "table" FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'svc' ORDER BY TABLE_NAME`;

function columnsOf(table: string): string {
  const name = table.replaceAll("'", "''");
  return `SELECT COLUMN_NAME AS "column", DATA_TYPE AS "type" FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_SCHEMA = 'svc' AND TABLE_NAME = '${name}' ORDER BY ORDINAL_POSITION`;
}

/** Newest first, as readline wants it. */
function readHistory(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .slice(-HISTORY_LINES)
    .reverse();
}

function remember(file: string, line: string): void {
  try {
    appendFileSync(file, `${line}\n`, { mode: 0o600 });
  } catch {
    // A home that cannot be written to costs the history, not the session.
  }
}
