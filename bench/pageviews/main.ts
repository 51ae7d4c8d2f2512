import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { runTask, waitForCount } from '../server.js';
import { judge, type Sides, sideBySide } from '../side-by-side.js';
import { QUESTIONS } from './questions.js';
import { shapes } from './shapes.js';
import { COLUMNS, type Piece, pageViewsIngestion, pageViewsOfDuckDb, piecesOf } from './table.js';
import { wideShapes } from './wide-shapes.js';

/*
 * npm run bench -- pageviews: questions over a wide table of page views, as SQL over HTTP with caches off, and of DuckDB in this process
 * over the same rows, in turn. Ends with code 1 when an answer differs or a goal is missed. The goals are held against the time by the
 * clock; processor time, which other processes do not lengthen, stands beside it.
 */
const { values: flags } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string' },
    data: { type: 'string' },
    json: { type: 'string' },
    shapes: { type: 'string' },
    wide: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const [rows, rounds, threads] = [Number(flags.rows), Number(flags.rounds), Number(flags.threads)];
// With --shapes N: as many statements of `shapes.ts`, or with --wide of `wide-shapes.ts`, instead of the questions.
const drawn = flags.wide ? wideShapes : shapes;
const questions = flags.shapes === undefined ? QUESTIONS : drawn(Number(flags.shapes), Number(flags.seed));

console.log(`${rows.toLocaleString('en')} rows, ${COLUMNS.length} columns`);
const figures = await sideBySide({
  name: 'views',
  portOffset: 12_600,
  threads,
  rounds,
  data: flags.data,
  questions: questions.filter(({ id }) => flags.only === undefined || flags.only.split(',').includes(id)),
  load,
  waitForRows: ({ url }) => waitForCount(url, 'views', rows),
  measured: ({ sql }, { dolmen, duckdb, trouble }) => {
    if (flags.shapes !== undefined && !(dolmen.ms <= 2 * duckdb.ms && trouble === null)) console.log(`  ${sql}`);
  },
});
judge(figures, { geometricMean: 0.4, worst: 2 }, { file: flags.json, about: { rows, threads, rounds } });

/** A piece after the other, so that no more than two lie on disk; the next one is written while one is loaded. */
async function load({ url, connection, input }: Sides): Promise<void> {
  const pieces = piecesOf(rows, 1, input);
  let isWritten = Promise.resolve();
  for (const [index, piece] of [...pieces, undefined].entries()) {
    const before = pieces[index - 1];
    await isWritten;
    if (piece !== undefined) isWritten = written(piece);
    if (before === undefined) continue;
    console.error(`… loading rows ${before.start.toLocaleString('en')} to ${before.end.toLocaleString('en')}`);
    await connection.run(pageViewsOfDuckDb(before));
    await runTask(url, pageViewsIngestion(before));
    rmSync(before.file);
  }
  await connection.run('CHECKPOINT');
  await waitForCount(url, 'views', rows);
}

async function written(piece: Piece): Promise<void> {
  await once(new Worker(new URL('./piece-thread.js', import.meta.url), { workerData: piece }), 'exit');
}
