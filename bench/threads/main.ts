import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { wikiIngestion, writeWikiCsv } from '../data/wiki.js';
import { median } from '../harness.js';
import { QUERIES } from '../queries/queries.js';
import { runTask, sqlRows, startDolmen, waitForCount } from '../server.js';

/**
 * Gain of a second processing thread: two servers with the same rows, one thread and two. Each is asked a few times in a
 * row before it is the other's turn, and the first of these do not count: each has its own copy of the columns, and finds
 * the processor's cache full of the other's. Means nothing while other programs keep a processor busy.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '4' },
    only: { type: 'string', default: 'topn_low,group_1,group_2,group_3,group_high,filter_10pct,filter_90pct,filter_metric,like,in_100' },
    data: { type: 'string' },
    json: { type: 'string' },
  },
});
const CONTEXT = { useCache: false, populateCache: false };
const PORT_OFFSET = 11_400;
/** Each thread compiles what it runs often, and two threads run everything half as often. */
const WARM_UP_ROUNDS = 4;
const TURN = { requests: 20, counted: 15 };

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-'));
const copies = [1, 2].map((threads) => path.join(folder, String(threads)));
try {
  const [first = '', second = ''] = copies;
  if (values.data === undefined) await load(first, Number(values.rows));
  else cpSync(values.data, first, { recursive: true });
  cpSync(first, second, { recursive: true });
  const servers = await Promise.all(
    copies.map((dataDir, index) =>
      startDolmen({ dataDir, portOffset: PORT_OFFSET + index * 200, flags: ['--property', `svc.processing.numThreads=${index + 1}`] }),
    ),
  );
  try {
    const figures = [];
    for (const id of values.only.split(','))
      figures.push(
        await compare(
          id,
          servers.map(({ url }) => url),
        ),
      );
    const gains = figures.map(({ gain }) => gain);
    const mean = Math.exp(gains.reduce((sum, gain) => sum + Math.log(gain), 0) / gains.length);
    console.log(`geometric mean ${mean.toFixed(2)}, median ${median(gains).toFixed(2)}`);
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ figures, mean }, null, 2)}\n`);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function load(into: string, rows: number): Promise<void> {
  const input = path.join(into, 'input');
  mkdirSync(input, { recursive: true });
  writeWikiCsv(path.join(input, 'wiki.csv'), rows, 1);
  const server = await startDolmen({ dataDir: into, portOffset: PORT_OFFSET });
  try {
    await runTask(server.url, wikiIngestion(input));
    await waitForCount(server.url, 'wiki', rows);
  } finally {
    await server.stop();
  }
}

async function compare(id: string, urls: readonly string[]): Promise<{ id: string; oneMs: number; twoMs: number; gain: number }> {
  const query = QUERIES.find((each) => each.id === id);
  if (query === undefined) throw new Error(`no query ${id}`);
  const times = urls.map((): number[] => []);
  const answers: string[] = [];
  for (let round = -WARM_UP_ROUNDS; round < Number(values.rounds); round++) {
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      for (let request = 0; request < TURN.requests; request++) {
        const began = performance.now();
        const answer = await sqlRows(urls[index] ?? '', query.sql, CONTEXT);
        if (round >= 0 && request >= TURN.requests - TURN.counted) times[index]?.push(performance.now() - began);
        // Sums of doubles are added up in another order.
        answers[index] = JSON.stringify(answer, (_, cell: unknown) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) : cell));
      }
    }
  }
  if (answers[0] !== answers[1]) throw new Error(`${id}: one thread says ${answers[0]}\nand two say ${answers[1]}`);
  const [oneMs = NaN, twoMs = NaN] = times.map(median);
  console.log(
    `${id.padEnd(16)} 1 thread ${oneMs.toFixed(1).padStart(8)} ms   2 threads ${twoMs.toFixed(1).padStart(8)} ms   gain ${(oneMs / twoMs).toFixed(2)}`,
  );
  return { id, oneMs, twoMs, gain: oneMs / twoMs };
}
