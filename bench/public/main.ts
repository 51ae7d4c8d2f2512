import { rmSync } from 'node:fs';
import path from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { runTask, waitForCount } from '../server.js';
import { contestFlags, judge, type Sides, sideBySide } from '../side-by-side.js';
import { CONNECTIONS } from './connections.js';
import { DOCUMENTS } from './documents.js';
import type { PublicTable } from './drawn.js';
import { EVENTS } from './events.js';
import { FILLS } from './fills.js';
import { FLIGHTS } from './flights.js';
import { GROUPS } from './groups.js';
import { IMPRESSIONS } from './impressions.js';
import { LABELS } from './labels.js';
import { LISTS } from './lists.js';
import { MACHINES } from './machines.js';
import { NATIVE } from './native.js';
import { PLAYS } from './plays.js';
import { QUOTES } from './quotes.js';
import { RANGES } from './ranges.js';
import { RETAIL } from './retail.js';
import { RIDES } from './rides.js';
import { publicTables } from './tables.js';
import { TELEMETRY } from './telemetry.js';
import { TICKETS } from './tickets.js';
import { WAREHOUSE } from './warehouse.js';
import { WINDOWS } from './windows.js';

/*
 * npm run bench -- public: questions of the kinds that public benches and tutorials ask, over real flights and tables that DuckDB makes
 * (`tables.ts`), of Dolmen over HTTP with caches off and of DuckDB in this process, in turn. Ends with code 1 when an answer differs or
 * a goal is missed.
 */
const { rows, rounds, threads, data, json, wanted } = contestFlags();
/** Types of columns by DuckDB's names for them. */
const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['VARCHAR', 'string'],
  ['BIGINT', 'long'],
  ['DOUBLE', 'double'],
  ['JSON', 'json'],
  ['VARCHAR[]', 'string'],
  ['BIGINT[]', 'auto'],
]);
const tables = publicTables(rows);

const questions = [
  ...[...FLIGHTS, ...EVENTS, ...GROUPS, ...RIDES, ...DOCUMENTS, ...RETAIL, ...WAREHOUSE],
  ...[...RANGES, ...WINDOWS, ...TELEMETRY, ...CONNECTIONS, ...LABELS, ...FILLS, ...NATIVE],
  ...[...QUOTES, ...PLAYS, ...IMPRESSIONS, ...MACHINES, ...TICKETS, ...LISTS],
];
const figures = await sideBySide({
  name: 'public',
  portOffset: 13_700,
  threads,
  rounds,
  data,
  questions: questions.filter(({ id }) => wanted.test(id)),
  load,
  waitForRows: load,
});
judge(figures, { geometricMean: 0.4, worst: 2 }, { file: json, about: { rows, threads, rounds } });

/** Loads the tables that are not there from a run before, and waits for those that are. */
async function load({ url, connection, input }: Sides): Promise<void> {
  const loaded = new Set((await cells(connection, 'SELECT table_name FROM duckdb_tables()')).map(([name]) => name));
  for (const [index, table] of tables.entries()) {
    const { name, documents = [] } = table;
    if (!loaded.has(name)) await connection.run(`CREATE TABLE ${name} AS ${table.sql}`);
    const count = Number((await cells(connection, `SELECT COUNT(*) FROM ${name}`))[0]?.[0]);
    if (!loaded.has(name)) {
      console.error(`… loading ${name}, ${count.toLocaleString('en')} rows (${index + 1} of ${tables.length})`);
      const file = path.join(input, `${name}.parquet`);
      await connection.run(`COPY ${name} TO '${file}' (FORMAT parquet)`);
      for (const column of documents) await connection.run(`ALTER TABLE ${name} ALTER ${column} TYPE JSON`);
      await runTask(url, ingestion(table, file, await cells(connection, `DESCRIBE ${name}`)));
      rmSync(file);
    }
    await waitForCount(url, name, count);
  }
  await connection.run('CHECKPOINT');
}

async function cells(connection: DuckDBConnection, sql: string): Promise<readonly (readonly unknown[])[]> {
  return (await connection.runAndReadAll(sql)).getRows();
}

/** The task that loads a file. @param columns  names and types, as DuckDB describes them */
function ingestion(table: PublicTable, file: string, columns: readonly (readonly unknown[])[]): unknown {
  const dimensions = columns.filter(([name]) => name !== '__time').map(([name, type]) => ({ name, type: TYPES.get(type) }));
  const transforms = (table.documents ?? []).map((name) => ({ type: 'expression', name, expression: `parse_json(${name})` }));
  return {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', baseDir: path.dirname(file), filter: path.basename(file) },
        inputFormat: { type: 'parquet' },
      },
      dataSchema: {
        dataSource: table.name,
        timestampSpec: { column: '__time', format: 'auto' },
        transformSpec: { transforms },
        dimensionsSpec: { dimensions },
        granularitySpec: { segmentGranularity: table.segmentGranularity, queryGranularity: 'none', rollup: false },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  };
}
