import { rmSync } from 'node:fs';
import path from 'node:path';
import { typedInDuckdb, typedIngestion, writeTypedTable } from '../data/typed-table.js';
import { runTask, waitForCount } from '../server.js';
import { contestFlags, judge, type Sides, sideBySide } from '../side-by-side.js';
import { ADS } from './ads.js';
import { LOGS } from './logs.js';
import { READINGS } from './readings.js';
import { TABLES } from './tables.js';
import { TRADES } from './trades.js';

/*
 * npm run bench -- workloads: questions of four trades over tables of their own (`tables.ts`), of Dolmen over HTTP with caches off and of
 * DuckDB in this process, in turn. Ends with code 1 when an answer differs or a goal is missed.
 */
const { rows, rounds, threads, data, json, wanted } = contestFlags();

console.log(`${TABLES.filter(({ kind }) => kind === 'facts').length} tables of ${rows.toLocaleString('en')} rows`);
const figures = await sideBySide({
  name: 'workloads',
  portOffset: 12_700,
  threads,
  rounds,
  data,
  questions: [...ADS, ...READINGS, ...TRADES, ...LOGS].filter(({ id }) => wanted.test(id)),
  load,
  waitForRows: ({ url }) => waitForCount(url, 'logs', rows),
});
judge(figures, { geometricMean: 0.4, worst: 2 }, { file: json, about: { rows, threads, rounds } });

async function load({ url, connection, input }: Sides): Promise<void> {
  for (const [index, table] of TABLES.entries()) {
    const file = path.join(input, `${table.name}.csv`);
    const count = writeTypedTable(file, table, table.rows(rows, index + 1));
    console.error(`… loading ${table.name}, ${count.toLocaleString('en')} rows`);
    await connection.run(typedInDuckdb(table, file, true));
    await runTask(url, typedIngestion(table, file, table.kind === 'facts' ? 'day' : 'all'));
    await waitForCount(url, table.name, count);
    rmSync(file);
  }
  await connection.run('CHECKPOINT');
}
