// Loads the sample data on the first start with an empty data directory.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { highest } from '../base/lists.js';
import { DolmenClient } from './client.js';
import { ingestInputs, printResult } from './ingest/ingest.js';
import { resultTable } from './result-table.js';
import { durationText, style } from './style.js';

/** The flights of the first half of 2001, three million rows, from the npm package vega-datasets. */
const SAMPLE = {
  package: 'vega-datasets',
  file: 'data/flights-3m.parquet',
  dataSource: 'flights',
  timeColumn: 'date',
  granularity: 'month',
};

const EXAMPLES = [
  {
    about: 'The five busiest airports, and the minutes their flights were late',
    sql: `SELECT origin, COUNT(*) AS flights, SUM(delay) AS delay_minutes\nFROM flights\nGROUP BY origin\nORDER BY flights DESC\nLIMIT 5`,
  },
  {
    about: 'Flights per month, short and long',
    sql: `SELECT TIME_FLOOR(__time, 'P1M') AS "month", COUNT(*) AS flights, COUNT(*) FILTER (WHERE distance > 1000) AS long_flights, MAX(distance) AS longest\nFROM flights\nGROUP BY 1\nORDER BY 1`,
  },
  {
    about: 'The three latest flights of February from San Francisco to New York',
    sql: `SELECT __time, origin, destination, delay\nFROM flights\nWHERE origin = 'SFO' AND destination = 'JFK' AND __time >= TIMESTAMP '2001-02-01' AND __time < TIMESTAMP '2001-03-01'\nORDER BY delay DESC\nLIMIT 3`,
  },
];

/** Loads the sample the first time a data directory is used, and shows three questions with their answers; fails once the server ends. */
export async function firstRun(
  url: string,
  headers: Readonly<Record<string, string>>,
  dataDirectory: string,
  ended: AbortSignal,
): Promise<void> {
  const marker = join(dataDirectory, 'sample');
  if (existsSync(marker)) return;
  const file = sampleFile();
  if (file === undefined) {
    process.stderr.write(style.quiet(`no sample data: the package ${SAMPLE.package} is not installed\n`));
    return;
  }
  const client = new DolmenClient(url, headers, ended);
  process.stderr.write('\nThis data directory is new. Loading sample data: three million flights of 2001.\n');
  const result = await ingestInputs(client, [file], { ...SAMPLE, format: 'parquet', timeFormat: 'auto', append: false });
  printResult(result);
  if (result.failure !== null) return;
  mkdirSync(dataDirectory, { recursive: true });
  writeFileSync(marker, `${SAMPLE.dataSource} was loaded; without this file it would be loaded again\n`);
  await untilQueryable(client);
  for (const { about, sql } of EXAMPLES) await showExample(client, about, sql);
  printWhereToGo(url);
}

function sampleFile(): string | undefined {
  try {
    // The package's entry point is build/index.js, and its data lie beside build/.
    const file = fileURLToPath(new URL(`../${SAMPLE.file}`, import.meta.resolve(SAMPLE.package)));
    return existsSync(file) ? file : undefined;
  } catch {
    return undefined;
  }
}

/** A publish becomes visible to queries a moment after its task has ended. */
async function untilQueryable(client: DolmenClient): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const answer = await client.query(`SELECT COUNT(*) FROM ${SAMPLE.dataSource}`).catch(() => undefined);
    if (answer !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function showExample(client: DolmenClient, about: string, sql: string): Promise<void> {
  await client.query(sql); // the first time reads the columns it needs from disk
  const answer = await client.query(sql);
  process.stdout.write(
    `\n${style.title(about)}\n${style.accent(sql.replace(/^/gm, '  '))}\n\n${resultTable(answer)}${style.quiet(`in ${durationText(answer.milliseconds)}`)}\n`,
  );
}

function printWhereToGo(url: string): void {
  const places = [
    [`${url}/svc/v2/sql`, 'SQL (POST)'],
    [`${url}/svc/v2`, 'native queries (POST)'],
    [`${url}/svc/indexer/v1/tasks`, 'tasks, the one that loaded this among them'],
    [`${url}/status`, 'version and memory'],
    ['npx dolmen sql', 'a shell for questions'],
    ['npx dolmen ingest FILE', 'your own data'],
  ] as const;
  const width = highest(places.map(([place]) => place.length)) + 2;
  const body = JSON.stringify({ query: `SELECT COUNT(*) FROM ${SAMPLE.dataSource}` });
  process.stdout.write(`
${style.title('Where to go from here')}
${places.map(([place, about]) => `  ${style.accent(place.padEnd(width))}${about}`).join('\n')}

  curl -X POST ${url}/svc/v2/sql -H 'Content-Type: application/json' -d '${body}'

Control-C stops the server; the data stay in their folder.
`);
}
