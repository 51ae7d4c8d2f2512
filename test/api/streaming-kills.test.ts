import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { FAILPOINT_VARIABLE } from '../../src/configuration/failpoint.js';
import type { STREAM_FAILPOINTS } from '../../src/configuration/failpoints.js';
import { startKafka } from '../ingestion/stream/kafka.js';

/*
 * Exactly once: numbered messages in transactions, some of them aborted, while the processes of tasks are killed at named points. What is
 * stored in the end is what was committed, and a reader beside all of it never counts fewer rows than before, for as long as the Broker lives
 * that it asks. The server with all its tasks is killed as well. DOLMEN_STREAM_KILLS=8 goes eight times through every
 * point of a task, with a kill of the server after each time: 72 kills.
 */
const PORT_OFFSET = 23_600;
type Point = keyof typeof STREAM_FAILPOINTS;
const FEW: readonly Point[] = ['stream.read', 'stream.pushed', 'stream.published'];
const ALL: readonly Point[] = [...FEW, 'stream.started', 'stream.allocated', 'stream.persisted', 'stream.sealed', 'stream.handedOff'];
const TIMES = Number(process.env['DOLMEN_STREAM_KILLS'] ?? 0);
const ROUNDS = TIMES === 0 ? [FEW] : Array.from({ length: TIMES }, () => ALL);

const supervisor = (servers: string): unknown => ({
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: 'exact',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }, 'check'] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    ioConfig: {
      topic: 'exact',
      inputFormat: { type: 'json' },
      consumerProperties: { 'bootstrap.servers': servers },
      useEarliestOffset: true,
      taskDuration: 'PT3S',
      startDelay: 'PT0S',
      period: 'PT1S',
    },
    tuningConfig: { type: 'kafka', maxRowsInMemory: 300 },
  },
});

const kafka = await startKafka();
const exact = suite('tasks of streams that are killed');
if (kafka !== undefined)
  exact('every committed message is stored once, and no other', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-exact-'));
    const armed = path.join(folder, 'failpoint');
    process.env[FAILPOINT_VARIABLE] = armed;
    let server: DolmenProcess | undefined;
    const reader = { isOver: false, lives: 0, answers: 0, most: 0, fewer: [] as string[] };
    let reading = Promise.resolve();
    try {
      await kafka.createTopic('exact', 2);
      const start = (): Promise<DolmenProcess> => startDolmen({ dataDir: path.join(folder, 'data'), portOffset: PORT_OFFSET });
      server = await start();
      const { url } = server;
      await callJson('POST', `${url}/svc/indexer/v1/supervisor`, supervisor(kafka.servers));
      let [sent, transactions] = [0, 0];
      const send = async (): Promise<void> => {
        const ending = transactions++ % 4 === 3 ? 'abort' : 'commit';
        const messages = Array.from({ length: 50 }, (_, at) => {
          const n = ending === 'abort' ? -1 - at : sent++;
          return { partition: at % 2, value: JSON.stringify({ t: 3600_000 * (Math.abs(n) % 48), n, check: `${n * 31}` }) };
        });
        await kafka.sendInTransaction('exact', messages, ending);
      };
      const until = async (what: string, isTrue: () => Promise<boolean> | boolean): Promise<void> => {
        for (const startMs = Date.now(); !(await isTrue()); await new Promise((done) => setTimeout(done, 100)))
          if (Date.now() > startMs + 90_000) throw new Error(`${what} did not come true; ${sent} are sent\n${server?.output() ?? ''}`);
      };
      const read = async (): Promise<void> => {
        for (; !reader.isOver; await new Promise((done) => setTimeout(done, 20))) {
          const { lives } = reader;
          const rows = await sqlRows(url, 'SELECT COUNT(*) FROM exact').catch(() => []);
          if (rows.length === 0 || lives !== reader.lives) continue;
          const count = Number(rows[0]?.[0]);
          if (count < reader.most) reader.fewer.push(`${count} after ${reader.most}`);
          reader.answers++;
          reader.most = Math.max(reader.most, count);
        }
      };
      reading = read();
      for (const points of ROUNDS) {
        for (const point of points) {
          writeFileSync(armed, `kill ${point}`);
          await until(`the kill at ${point}`, async () => {
            await send();
            return !existsSync(armed);
          });
        }
        // A Broker that starts does not know what another one has answered.
        Object.assign(reader, { lives: reader.lives + 1, most: 0 });
        await server.kill();
        Object.assign(reader, { lives: reader.lives + 1, most: 0 });
        await send();
        server = await start();
      }
      for (let further = 0; further < 4; further++) await send();
      const stored = async (): Promise<readonly unknown[]> =>
        (
          await sqlRows(url, 'SELECT COUNT(*), COUNT(DISTINCT n), SUM(n), MIN(n), SUM(CAST("check" AS BIGINT)) FROM exact').catch(() => [])
        )[0] ?? [];
      await until('every message in an answer', async () => (await stored())[0] === sent);
      const sum = (sent * (sent - 1)) / 2;
      assert.equal(await stored(), [sent, sent, sum, 0, sum * 31]);
      // The same once all of it is published, and nothing is live any more.
      await callJson('POST', `${url}/svc/indexer/v1/supervisor/exact/suspend`, {});
      await until(
        'the last handoff',
        async () => (await sqlRows(url, 'SELECT COUNT(*) FROM sys.segments WHERE is_realtime = 1'))[0]?.[0] === 0,
      );
      assert.equal(await stored(), [sent, sent, sum, 0, sum * 31]);
      assert.equal(reader.fewer, []);
      assert.ok(reader.answers > 0, 'the reader had no answer');
    } finally {
      reader.isOver = true;
      await reading;
      delete process.env[FAILPOINT_VARIABLE];
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });

exact.after(async () => {
  await kafka?.stop();
});
if (kafka === undefined) exact.skip('no broker of Kafka is here', () => undefined);
exact.run();
