import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { LiveInventory, ReachReport, RunPlanRequest, TaskService } from '../../src/cluster/rpc/services.js';
import type { Frame } from '../../src/model/frame.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import type { StreamReach } from '../../src/model/stream/reach.js';
import { brokerOver, options, rowsOf } from './broker-over.js';
import { scanPlan, segmentOf } from './fakes.js';
import { HandClock } from './hand-clock.js';

// Tasks of a stream that fall silent without ending: a replica answers for them, once it has the rows that they had shown.

const LIVE = { ...segmentOf('ds', 0, 'v1'), isPublished: false };
const ID = segmentIdText(LIVE.id);
const PATIENT_MS = 300_000;
const patient = () => options('q', PATIENT_MS);

interface Replica {
  readonly service: Partial<TaskService>;
  /** Rows that it has read, from offset 0 on. */
  rows: number;
  isPaused: boolean;
  runs: number;
  cancelled: number;
  goOn(): void;
}

function replica(host: string, rows: number): Replica {
  let going: () => void = () => undefined;
  const paused = (signal?: { addEventListener: AbortSignal['addEventListener'] }): Promise<void> =>
    new Promise((resolve) => {
      const before = going;
      going = () => {
        before();
        resolve();
      };
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  const reach = (): StreamReach => {
    const place = String(task.rows);
    const partitions = new Map([['0', { start: '0', least: place, most: place }]]);
    return { dataSource: 'ds', supervisorId: 's', stream: 'topic', baseSequenceName: 'g', partitions };
  };
  const generation = (): string => `${host}-${task.rows}`;
  const task: Replica = {
    rows,
    isPaused: false,
    runs: 0,
    cancelled: 0,
    goOn() {
      task.isPaused = false;
      going();
    },
    service: {
      async liveAfter(known): Promise<LiveInventory | null> {
        if (task.isPaused) await paused();
        return known === generation() ? null : { host, generation: generation(), segments: [LIVE], reach: reach() };
      },
      async *runPlan({ segmentIds }: RunPlanRequest, signal: AbortSignal): AsyncIterable<Frame | ReachReport> {
        assert.equal(segmentIds, [ID]);
        task.runs++;
        if (task.isPaused) await paused(signal);
        if (signal.aborted) task.cancelled++;
        signal.throwIfAborted();
        yield { generation: generation(), reach: reach() };
        yield { rowCount: task.rows, columns: [] };
      },
    } as Partial<TaskService>,
  };
  return task;
}

const silent = suite('silent tasks');
/** Nothing is published, and a supervisor runs. */
const SNAPSHOT = { revision: 1, segments: [] };

silent('a read moves to a replica that has as many rows, and so do those that follow', async () => {
  const [a, b] = [replica('a', 5), replica('b', 5)];
  const clock = new HandClock();
  const { broker } = await brokerOver(SNAPSHOT, {}, null, { clock, tasks: { a: a.service, b: b.service } });
  assert.is(await rowsOf(broker.run(scanPlan('ds'), patient())), 5);
  assert.equal([a.runs, b.runs], [1, 0]);
  a.isPaused = true;
  const running = rowsOf(broker.run(scanPlan('ds'), patient()));
  await clock.passUntil(broker.look());
  assert.is(await running, 5);
  assert.is(await rowsOf(broker.run(scanPlan('ds'), patient())), 5);
  assert.equal([a.runs, a.cancelled, b.runs], [2, 1, 2]);
  a.goOn();
  await clock.passUntil(broker.stop());
});

silent('a replica that has fewer rows than were shown answers once it has them', async () => {
  const [a, b] = [replica('a', 5), replica('b', 3)];
  const clock = new HandClock();
  const { broker } = await brokerOver(SNAPSHOT, {}, null, { clock, tasks: { a: a.service, b: b.service } });
  assert.is(await rowsOf(broker.run(scanPlan('ds'), patient())), 5);
  a.isPaused = true;
  const running = rowsOf(broker.run(scanPlan('ds'), patient()));
  const next = clock.passUntil(broker.look()).then(() => rowsOf(broker.run(scanPlan('ds'), patient())));
  await clock.pass(3000);
  assert.is(b.runs, 0);
  b.rows = 6;
  assert.is(await clock.passUntil(running), 6);
  assert.is(await clock.passUntil(next), 6);
  a.goOn();
  await clock.passUntil(broker.stop());
});

silent('a task without a replica is waited for, and so are two that are both silent', async () => {
  for (const others of [[], ['b']]) {
    const tasks = ['a', ...others].map((host) => [host, replica(host, 4)] as const);
    const clock = new HandClock();
    const services = Object.fromEntries(tasks.map(([host, { service }]) => [host, service]));
    const { broker } = await brokerOver(SNAPSHOT, {}, null, { clock, tasks: services });
    assert.is(await rowsOf(broker.run(scanPlan('ds'), patient())), 4);
    for (const [, task] of tasks) task.isPaused = true;
    let answered: number | undefined;
    const running = rowsOf(broker.run(scanPlan('ds'), patient())).then((rows) => {
      answered = rows;
    });
    await clock.passUntil(broker.look());
    await clock.pass(20_000);
    assert.is(answered, undefined);
    for (const [, task] of tasks) task.goOn();
    await clock.passUntil(running);
    assert.is(answered, 4);
    await clock.passUntil(broker.stop());
  }
});

silent.run();
