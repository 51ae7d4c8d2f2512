import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import type { Engine } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import type { SegmentView } from '../../src/storage/view.js';
import { median } from '../harness.js';
import { COLUMNS, JOIN_QUERIES, type JoinQuery } from './queries.js';
import { makeTables, sliceRows } from './tables.js';

/**
 * Joins and a nested query of this process's engine against DuckDB's, in turn, over the same rows in memory: medians and
 * the ratio of times. Answers must be the same before a figure is printed.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '7' },
    threads: { type: 'string', default: '1' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
});
const [rows, rounds, threads] = [Number(values.rows), Number(values.rounds), Number(values.threads)];
/** Segments of the fact table. */
const SEGMENTS = 4;

const memory = KernelMemory.create({ maximumBytes: 2 ** 31 });
const engine = createEngine({ memory, kernels: 'simd', threads });
const views = placeTables();
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();
await loadDuckdb(connection);

const figures: { id: string; duckdbMs: number; dolmenMs: number; ratio: number }[] = [];
for (const query of JOIN_QUERIES) {
  if (values.only !== undefined && !values.only.split(',').includes(query.id)) continue;
  const contenders = { dolmen: () => ask(query), duckdb: () => askDuckdb(query) };
  const times = { dolmen: [] as number[], duckdb: [] as number[] };
  const answers = { dolmen: await contenders.dolmen(), duckdb: await contenders.duckdb() };
  if (answers.dolmen.join('\n') !== answers.duckdb.join('\n'))
    throw new Error(
      `${query.id}: DuckDB says\n${answers.duckdb.slice(0, 5).join('\n')}\nand Dolmen\n${answers.dolmen.slice(0, 5).join('\n')}`,
    );
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? (['dolmen', 'duckdb'] as const) : (['duckdb', 'dolmen'] as const)) {
      const began = performance.now();
      await contenders[name]();
      times[name].push(performance.now() - began);
    }
  const [dolmenMs, duckdbMs] = [median(times.dolmen), median(times.duckdb)];
  figures.push({ id: query.id, duckdbMs, dolmenMs, ratio: dolmenMs / duckdbMs });
  process.stdout.write(
    `${query.id.padEnd(12)} DuckDB ${duckdbMs.toFixed(1).padStart(8)} ms   Dolmen ${dolmenMs.toFixed(1).padStart(8)} ms   ratio ${(dolmenMs / duckdbMs).toFixed(2)}\n`,
  );
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ rows, rounds, threads, joins: figures }, null, 2)}\n`);
connection.closeSync();
duckdb.closeSync();
await engine.close();

function placeTables(): Readonly<Record<string, readonly SegmentView[]>> {
  const tables = makeTables(rows);
  const place = (frame: Frame, name: string, parts: number): SegmentView[] =>
    Array.from({ length: parts }, (_, part) => {
      const [start, end] = [Math.floor((frame.rowCount * part) / parts), Math.floor((frame.rowCount * (part + 1)) / parts)];
      return { ...uploadFrame(sliceRows(frame, start, end), memory).view, id: `${name}_${part}` };
    });
  return { fact: place(tables.fact, 'fact', SEGMENTS), dim: place(tables.dim, 'dim', 1), other: place(tables.other, 'other', SEGMENTS) };
}

async function ask({ plan, source }: JoinQuery): Promise<string[]> {
  const run = { deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
  const { signal } = new AbortController();
  const runner = new SourceRunner({
    engine: engine satisfies Engine,
    runTables: (leaf, names) =>
      engine.runViews(
        leaf,
        names.flatMap((name) => views[name] ?? []),
        { ...run, ending: 'final' },
        signal,
      ),
    isServedHere: () => true,
    rowsOfTable: () => null,
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    columnsOf: (each) =>
      rowSourceColumns(each, { table: (name) => ({ columns: name === 'fact' ? COLUMNS.fact : COLUMNS.all, interval: ETERNITY }) }),
    runOptions: run,
    signal,
  });
  const answer: string[] = [];
  for await (const frame of runner.run(plan, source))
    for (let row = 0; row < frame.rowCount; row++) answer.push(frame.columns.map((column) => String(cellAt(column, row))).join());
  return answer.sort();
}

async function askDuckdb({ sql }: JoinQuery): Promise<string[]> {
  const answer = await connection.runAndReadAll(sql);
  return answer
    .getRows()
    .map((row) => row.map(String).join())
    .sort();
}

/** The rows that `tables.ts` describes, by the same arithmetic, loaded from the frames themselves. */
async function loadDuckdb(to: DuckDBConnection): Promise<void> {
  await to.run(`SET threads = ${Math.max(1, threads)}`);
  const tables = makeTables(rows);
  for (const [name, frame] of Object.entries<Frame>({ ...tables })) {
    const types = frame.columns.map((column) => `"${column.name}" ${column.kind === 'string' ? 'VARCHAR' : 'BIGINT'}`);
    await to.run(`CREATE TABLE ${name} (${types.join(', ')})`);
    const appender = await to.createAppender(name);
    for (let row = 0; row < frame.rowCount; row++) {
      for (const column of frame.columns) {
        const cell = cellAt(column, row);
        if (typeof cell === 'bigint') appender.appendBigInt(cell);
        else appender.appendVarchar(String(cell));
      }
      appender.endRow();
    }
    appender.closeSync();
  }
}
