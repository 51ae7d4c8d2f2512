import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';

/** Loads over sub-tasks in processes of their own, one of which is killed; and more of them than there are slots. */
const FILES = 4;
const ROWS = 20_000;
const HOURS = 48;
const PORT_OFFSET = 21_900;
const loads = suite('loads over sub-tasks');

interface TaskStatus {
  readonly id: string;
  readonly type: string;
  readonly groupId: string;
  readonly statusCode: string;
}

/** Rows of a few keys, of all hours in every file: each group has rows of each file. */
function writeFiles(folder: string): void {
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from({ length: ROWS }, (_, row) => {
      const time = new Date(Date.UTC(2024, 0, 1) + (row % HOURS) * 3_600_000 + row).toISOString();
      return JSON.stringify({ time, name: `name ${row % 100}`, value: file + 1 });
    });
    writeFileSync(path.join(folder, `rows-${file}.json`), lines.join('\n'));
  }
}

const specOf = (folder: string, dataSource: string, partitionsSpec: object): unknown => ({
  type: 'index_parallel',
  spec: {
    dataSchema: {
      dataSource,
      timestampSpec: { column: 'time' },
      dimensionsSpec: { dimensions: ['name'] },
      metricsSpec: [
        { type: 'count', name: 'count' },
        { type: 'longSum', name: 'value', fieldName: 'value' },
      ],
      granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'HOUR', rollup: true },
    },
    ioConfig: { inputSource: { type: 'local', baseDir: folder, filter: '*.json' }, inputFormat: { type: 'json' } },
    tuningConfig: {
      type: 'index_parallel',
      partitionsSpec,
      maxNumConcurrentSubTasks: 2,
      splitHintSpec: { type: 'maxSize', maxNumFiles: 1 },
    },
  },
});

/** Groups of one file: keys repeat every 100 rows, hours every 48. */
const GROUPS = 1200;
const TOTAL = (ROWS * (FILES * (FILES + 1))) / 2;

loads('one of whose processes is killed: each row once, rolled up over all sub-tasks', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-parallel-'));
  const dataDir = path.join(folder, 'data');
  const input = path.join(dataDir, 'input');
  mkdirSync(input, { recursive: true });
  writeFiles(input);
  let server: DolmenProcess | undefined;
  try {
    server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--property', 'svc.worker.capacity=3'] });
    const { url } = server;
    const get = (route: string) => callJson('GET', `${url}/svc/indexer/v1/${route}`);
    const submit = async (dataSource: string, partitionsSpec: object) =>
      ((await callJson('POST', `${url}/svc/indexer/v1/task`, specOf(input, dataSource, partitionsSpec))) as { task: string }).task;
    const childrenOf = async (task: string) =>
      ((await get('tasks')) as readonly TaskStatus[]).filter(({ id, groupId }) => groupId === task && id !== task);

    const killed = await submit('killed', { type: 'hashed', numShards: 2, partitionDimensions: ['name'] });
    const victim = await untilFound(async () => (await childrenOf(killed)).find(({ statusCode }) => statusCode === 'RUNNING')?.id);
    const pid = await untilFound(async () => {
      const response = await fetch(`${url}/svc/indexer/v1/task/${victim}/log`);
      return /runs in process (\d+)/.exec(await response.text())?.[1];
    });
    // It waits for its end, or it might be through before that.
    process.kill(Number(pid), 'SIGSTOP');
    const chat = (path: string) => fetch(`http://127.0.0.1:${8091 + PORT_OFFSET}/svc/worker/v1/chat/${killed}/${path}`);
    assert.equal(await (await chat('mode')).json(), 'parallel');
    assert.equal(await (await chat('phase')).json(), 'partial segment generation');
    assert.is(((await (await chat('subtaskspecs')).json()) as unknown[]).length, FILES);
    const specId = victim.replace(/_\d+$/, '');
    const state = (await (await chat(`subtaskspec/${specId}/state`)).json()) as { readonly currentStatus: TaskStatus };
    assert.is(state.currentStatus.id, victim);
    assert.is((await chat('subtaskspec/other')).status, 404);
    process.kill(Number(pid), 'SIGKILL');
    await waitForTask(url, killed);
    assert.is((await chat('mode')).status, 404);
    const children = await childrenOf(killed);
    const types = new Set(children.map(({ type }) => type));
    assert.equal([...types].sort(), ['partial_index_generate', 'partial_index_generic_merge']);
    assert.is(children.find(({ id }) => id === victim)?.statusCode, 'FAILED');
    assert.is(children.filter(({ type, statusCode }) => type === 'partial_index_generate' && statusCode === 'SUCCESS').length, FILES);
    await waitForCount(url, 'killed', GROUPS);
    assert.equal(await sqlRows(url, 'SELECT SUM("count"), SUM("value") FROM killed'), [[FILES * ROWS, TOTAL]]);
    const { ingestionStatsAndErrors } = (await get(`task/${killed}/reports`)) as {
      readonly ingestionStatsAndErrors: {
        readonly payload: { readonly rowStats: { readonly buildSegments: { readonly processed: number } } };
      };
    };
    assert.is(ingestionStatsAndErrors.payload.rowStats.buildSegments.processed, FILES * ROWS);

    // Supervisors, one for each slot, have to do their own work.
    const crowd = ['a', 'b', 'c'];
    const tasks = await Promise.all(
      crowd.map((name) => submit(name, { type: 'single_dim', partitionDimension: 'name', targetRowsPerSegment: 300 })),
    );
    for (const task of tasks) await waitForTask(url, task);
    for (const name of crowd) {
      await waitForCount(url, name, GROUPS);
      assert.equal(await sqlRows(url, `SELECT SUM("count"), SUM("value") FROM ${name}`), [[FILES * ROWS, TOTAL]]);
    }
    assert.is(await server.stop(), 0);
  } finally {
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function untilFound<Found>(find: () => Promise<Found | undefined>): Promise<Found> {
  for (let attempt = 0; attempt < 3000; attempt++) {
    const found = await find();
    if (found !== undefined) return found;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error('was not found');
}

loads.run();
