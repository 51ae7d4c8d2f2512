import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

/** The first minute with a new data directory: sample data, three questions, three right answers; and the second start. */
const firstRun = suite<{ dataDir: string }>('first run');

const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));
const PARQUET = fileURLToPath(new URL('../../../node_modules/vega-datasets/data/flights-3m.parquet', import.meta.url));

firstRun.before((context) => {
  context.dataDir = mkdtempSync(join(tmpdir(), 'dolmen-first-'));
});
firstRun.after(({ dataDir }) => rmSync(dataDir, { recursive: true, force: true }));

interface Run {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** SIGTERM; the exit code. */
  stop(): Promise<number | null>;
}

function start(dataDir: string): Run {
  const child = spawn(process.execPath, [MAIN, 'start', '--data-dir', dataDir, '--port-offset', '13200'], {
    env: { ...process.env, NO_COLOR: '1' },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    out: () => out,
    err: () => err,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function untilPrinted(run: Run, text: string): Promise<void> {
  for (let waitedMs = 0; !run.out().includes(text); waitedMs += 100) {
    if (waitedMs > 150_000 || run.child.exitCode !== null) throw new Error(`'${text}' was never printed:\n${run.out()}\n${run.err()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** The rows of the tables that were printed, as texts. */
function printedRows(out: string): string[][] {
  return out
    .split('\n')
    .filter((line) => line.includes('│'))
    .map((line) => line.split('│').map((cell) => cell.trim()));
}

firstRun('ends when it is asked to while the sample is loaded, without waiting for it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dolmen-first-ended-'));
  const run = start(dataDir);
  for (let tries = 0; !/flights: (?:running|reading)/.test(run.err()) && tries < 1000; tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(await run.stop(), 0);
  // A client that goes on says so after a minute.
  assert.not.match(run.err(), /cannot be asked/);
  rmSync(dataDir, { recursive: true, force: true });
});

firstRun('loads the sample and answers three questions as DuckDB does', async ({ dataDir }) => {
  const run = start(dataDir);
  try {
    await untilPrinted(run, 'Control-C stops the server');
  } finally {
    assert.is(await run.stop(), 0);
  }
  assert.match(run.out(), /^ready http:\/\/127\.0\.0\.1:22088$/m);
  assert.match(run.out(), /loaded 3,000,000 rows into \d+ segments of "flights".*; 0 rejected lines/);
  assert.is(run.out().match(/^in [\d.]+ (ms|s)$/gm)?.length, 3);

  const duckdb = await DuckDBInstance.create();
  const connection = await duckdb.connect();
  const ask = async (sql: string) =>
    (await connection.runAndReadAll(sql.replace('flights', `'${PARQUET}'`))).getRows().map((row) => row.map(String));
  const busiest = await ask('SELECT origin, COUNT(*), SUM(delay) FROM flights GROUP BY origin ORDER BY 2 DESC LIMIT 5');
  const months = await ask(
    `SELECT strftime(date_trunc('month', date), '%Y-%m-%dT00:00:00.000Z'), COUNT(*), COUNT(*) FILTER (WHERE distance > 1000), MAX(distance) FROM flights GROUP BY 1 ORDER BY 1`,
  );
  const latest = await ask(
    `SELECT delay FROM flights WHERE origin = 'SFO' AND destination = 'JFK' AND date >= '2001-02-01' AND date < '2001-03-01' ORDER BY delay DESC LIMIT 3`,
  );
  connection.closeSync();
  duckdb.closeSync();

  const rows = printedRows(run.out());
  assert.equal(rows.slice(1, 6), busiest);
  assert.equal(rows.slice(7, 7 + months.length), months);
  assert.equal(
    rows.slice(-3).map((row) => row.slice(3)),
    latest,
  );
});

firstRun('the second start loads nothing and has the rows', async ({ dataDir }) => {
  const run = start(dataDir);
  try {
    await untilPrinted(run, 'ready ');
    const response = await fetch('http://127.0.0.1:22088/svc/v2/sql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: 'SELECT COUNT(*) FROM flights', resultFormat: 'array' }),
    });
    assert.equal(await response.json(), [[3_000_000]]);
    const tasks = (await (await fetch('http://127.0.0.1:22088/svc/indexer/v1/tasks')).json()) as unknown[];
    assert.is(tasks.length, 1);
  } finally {
    assert.is(await run.stop(), 0);
  }
  assert.not.match(run.err(), /sample/);
});

firstRun.run();
