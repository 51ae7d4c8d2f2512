import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { caseCount } from '../case-count.js';

const DAY = 86_400_000;
const START = Date.UTC(2024, 0, 1);
const DAYS = 30;
const ROWS_PER_DAY = 200;
const TABLE = 'kept';
/** Servers, controllers and workers that are killed; 51 with TEST_CASES=17. */
const KILLS = caseCount(3);

/** A REPLACE of thirty days that is killed midway, beside queries: they see all of it or nothing. */
const tests = suite('killed REPLACE');

/** Every third day has no rows in odd generations. */
const daysOf = (generation: number): number => (generation % 2 === 0 ? DAYS : DAYS - DAYS / 3);

function statement(input: string, generation: number): string {
  const source = JSON.stringify({ type: 'local', baseDir: input, filter: '*.json' });
  const where = generation % 2 === 0 ? '' : 'WHERE MOD(d, 3) <> 0';
  return `REPLACE INTO ${TABLE} OVERWRITE WHERE __time >= TIMESTAMP '2024-01-01' AND __time < TIMESTAMP '2024-01-31'
    SELECT MILLIS_TO_TIMESTAMP(t) AS __time, d, v, CAST(${generation} AS BIGINT) AS g
    FROM TABLE(EXTERN('${source}', '{"type":"json"}')) EXTEND (t BIGINT, d BIGINT, v BIGINT) ${where} PARTITIONED BY DAY`;
}

/** Asks without a pause until it is told to end; notes every answer that is not that of one generation. */
class Watch {
  readonly halves: unknown[] = [];
  readonly generations = new Set<number>();
  answers = 0;
  refusals = 0;
  #ended = false;
  readonly #done: Promise<unknown>;

  constructor(url: () => string) {
    this.#done = Promise.all([this.#ask(url), this.#ask(url)]);
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#done;
  }

  async #ask(url: () => string): Promise<void> {
    while (!this.#ended) {
      try {
        const query = `SELECT MIN(g), MAX(g), COUNT(*), SUM(v), COUNT(DISTINCT d) FROM ${TABLE}`;
        const [row = []] = await sqlRows(url(), query, { useApproximateCountDistinct: false });
        this.answers++;
        const [least, most, count, sum, days] = row as number[];
        const expected = daysOf(Number(least)) * ROWS_PER_DAY;
        this.generations.add(Number(least));
        if (least !== most || count !== expected || sum !== expected || days !== daysOf(Number(least))) this.halves.push(row);
      } catch {
        // A server that is down, or has not loaded everything yet, says so.
        this.refusals++;
        await sleep(50);
      }
      await sleep(5);
    }
  }
}

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

tests(`${KILLS} times`, async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-killed-'));
  const input = path.join(folder, 'data', 'input');
  mkdirSync(input, { recursive: true });
  for (const file of [0, 1, 2]) {
    const rows = Array.from({ length: (DAYS * ROWS_PER_DAY) / 3 }, (_, at) => {
      const d = (at * 3 + file) % DAYS;
      return JSON.stringify({ t: START + d * DAY + at, d, v: 1 });
    });
    writeFileSync(path.join(input, `${file}.json`), rows.join('\n'));
  }
  const start = (): Promise<DolmenProcess> =>
    startDolmen({ dataDir: path.join(folder, 'data'), portOffset: 5_300, flags: ['--property', 'svc.worker.capacity=4'] });
  let server = await start();
  const submit = async (generation: number): Promise<string> => {
    const context = { maxNumTasks: 3, faultTolerance: true };
    const body = { query: statement(input, generation), context };
    return ((await callJson('POST', `${server.url}/svc/v2/sql/task`, body)) as { readonly taskId: string }).taskId;
  };
  const ended = async (taskId: string): Promise<string> => {
    for (;;) {
      const { status } = (await callJson('GET', `${server.url}/svc/indexer/v1/task/${taskId}/status`)) as {
        readonly status: { readonly statusCode: string };
      };
      if (status.statusCode === 'SUCCESS' || status.statusCode === 'FAILED') return status.statusCode;
      await sleep(50);
    }
  };
  const shown = async (): Promise<unknown> => (await sqlRows(server.url, `SELECT MAX(g) FROM ${TABLE}`).catch(() => [[null]]))[0]?.[0];
  const untilShown = async (generation: number): Promise<void> => {
    for (let look = 0; look < 400 && (await shown()) !== generation; look++) await sleep(50);
    assert.is(await shown(), generation);
  };
  /** Processes of a task and its workers, as far as their logs name them. */
  const processes = async (taskId: string): Promise<readonly number[]> => {
    const names = [taskId, ...[0, 1].flatMap((stage) => [0, 1].map((worker) => `${taskId}-stage${stage}-worker${worker}_0`))];
    const logs = await Promise.all(names.map((name) => fetch(`${server.url}/svc/indexer/v1/task/${name}/log`).then((log) => log.text())));
    return logs.flatMap((log) => /runs in process (\d+)/.exec(log)?.[1] ?? []).map(Number);
  };
  let watch: Watch | undefined;
  try {
    const begin = Date.now();
    assert.is(await ended(await submit(0)), 'SUCCESS');
    const usualMs = Date.now() - begin;
    await untilShown(0);
    watch = new Watch(() => server.url);
    let [current, seed] = [0, 11];
    const draw = (count: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) % count;
    };
    const outcomes = { SUCCESS: 0, FAILED: 0 };
    for (let kill = 0; kill < KILLS; kill++) {
      const generation = current + 1;
      const taskId = await submit(generation);
      await sleep(draw(usualMs));
      if (kill % 3 === 0) {
        await server.kill();
        server = await start();
      } else {
        const [controller, ...workers] = await processes(taskId);
        const victim = kill % 3 === 1 ? controller : (workers[draw(workers.length)] ?? controller);
        try {
          if (victim !== undefined) process.kill(victim, 'SIGKILL');
        } catch {
          // It has just ended by itself.
        }
      }
      const outcome = await ended(taskId);
      outcomes[outcome as 'SUCCESS' | 'FAILED']++;
      if (outcome === 'SUCCESS') current = generation;
      await untilShown(current);
    }
    // With nobody killed the next one is whole.
    const last = current + 1;
    assert.is(await ended(await submit(last)), 'SUCCESS');
    await untilShown(last);
    await watch.end();
    assert.equal(watch.halves, []);
    assert.ok(watch.answers > KILLS * 5, `only ${watch.answers} answers`);
    assert.ok(watch.generations.has(last));
    if (KILLS > 9) console.log(`${KILLS} kills: ${JSON.stringify(outcomes)}, ${watch.answers} answers, ${watch.refusals} refusals`);
  } finally {
    await watch?.end();
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

tests.run();
