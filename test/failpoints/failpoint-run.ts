import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen } from '../../bench/server.js';
import { FAILPOINT_VARIABLE } from '../../src/configuration/failpoint.js';
import type { FailpointName } from '../../src/configuration/failpoints.js';
import { openSqlite } from '../../src/metadata/database.js';

const TABLE = 'ledger';
const WITHIN_MS = 60_000;
const PROPERTIES = [
  'svc.coordinator.kill.orphanAge=PT0S',
  'svc.coordinator.kill.orphanPeriod=PT0.5S',
  'svc.indexer.runner.taskLossesMax=1000',
  'svc.worker.capacity=3',
  'svc.coordination.expiry=PT1.5S',
  'svc.coordination.heartbeat=PT0.2S',
  'svc.coordinator.load.retry=PT0.5S',
  'svc.msq.intermediate.storage.cleaner.durationToRetain=1000',
];

export interface TaskStatus {
  readonly statusCode: string;
  readonly errorMsg: string | null;
}

/**
 * A server with its folder that is killed at points, and the count of what it has acknowledged: each batch is a set of rows that
 * a task appends, and each look compares all of them with what queries see.
 */
export class FailpointRun {
  /** Points that were reached, as often as they were. */
  readonly reached: FailpointName[] = [];
  lost = 0;
  doubled = 0;
  readonly #dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-failpoints-'));
  readonly #portOffset: number;
  readonly #rows = new Map<number, number>();
  #server: DolmenProcess | undefined;
  #batches = 0;

  constructor(portOffset: number) {
    this.#portOffset = portOffset;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  /** @param ready  false: it is expected to end on the way */
  async start({ ready = true } = {}): Promise<void> {
    process.env[FAILPOINT_VARIABLE] = this.#armed;
    const flags = PROPERTIES.flatMap((each) => ['--property', each]);
    const options = { dataDir: this.#dataDir, portOffset: this.#portOffset, flags, waitForReady: ready };
    this.#server = await startDolmen(options).finally(() => {
      delete process.env[FAILPOINT_VARIABLE];
    });
  }

  /** Ends what is left, by force. */
  async close(): Promise<void> {
    await this.#server?.kill();
    rmSync(this.#dataDir, { recursive: true, force: true });
  }

  arm(action: 'kill' | 'stop' | 'fill', name: FailpointName): void {
    assert.not(existsSync(this.#armed), `${name}: another point is armed`);
    writeFileSync(this.#armed, `${action} ${name}`);
    this.reached.push(name);
  }

  /** Whether the armed point is still to be reached. */
  get isArmed(): boolean {
    return existsSync(this.#armed);
  }

  /** Waits until a process has reached the armed point. */
  async atPoint(): Promise<void> {
    await until(() => !this.isArmed, `${this.reached.at(-1)} is not reached`);
  }

  /** Waits for the server to die at the armed point, and starts it again, with the next point armed, if there is one. */
  async revive(next: FailpointName | null, { ready = next === null } = {}): Promise<void> {
    const { child } = this.#server ?? {};
    await until(
      () => child === undefined || child.signalCode !== null || child.exitCode !== null,
      `${this.reached.at(-1)} does not end the server`,
    );
    assert.is(child?.signalCode, 'SIGKILL', this.#server?.output());
    assert.not(this.isArmed, `${this.reached.at(-1)} was not what ended the server`);
    if (next !== null) this.arm('kill', next);
    await this.start({ ready });
  }

  /** A task that appends a batch of rows; its rows count as acknowledged once it has succeeded. */
  append(
    rows = 40,
    context: Readonly<Record<string, unknown>> = {},
  ): { readonly batch: number; readonly rows: number; readonly payload: unknown } {
    const batch = this.#batches++;
    const lines = Array.from({ length: rows }, (_, id) => JSON.stringify({ t: id % 2 === 0 ? 0 : 86_400_000, batch, id }));
    const payload = {
      ...{ type: 'index_parallel', id: `append-${batch}`, context },
      spec: {
        dataSchema: {
          dataSource: TABLE,
          timestampSpec: { column: 't', format: 'millis' },
          dimensionsSpec: { dimensions: ['batch', 'id'].map((name) => ({ type: 'long', name })) },
          granularitySpec: { segmentGranularity: 'day', rollup: false },
        },
        ioConfig: {
          ...{ type: 'index_parallel', appendToExisting: true, inputFormat: { type: 'json' } },
          inputSource: { type: 'inline', data: lines.join('\n') },
        },
        tuningConfig: { type: 'index_parallel', maxRowsInMemory: 10 },
      },
    };
    return { batch, rows, payload };
  }

  compaction(id: string, context: Readonly<Record<string, unknown>> = {}): unknown {
    const ioConfig = { inputSpec: { type: 'interval', interval: '1970-01-01/1970-01-03' } };
    return { type: 'compact', id, dataSource: TABLE, ioConfig, granularitySpec: { segmentGranularity: 'day' }, context };
  }

  async submit(payload: unknown): Promise<string> {
    return ((await callJson('POST', `${this.url}/svc/indexer/v1/task`, payload)) as { task: string }).task;
  }

  /** Notes that the rows of a batch are there from now on. */
  acknowledge({ batch, rows }: { readonly batch: number; readonly rows: number }): void {
    this.#rows.set(batch, rows);
  }

  /** undefined while the server is away, or of an unknown task. */
  async statusOf(task: string): Promise<TaskStatus | undefined> {
    const answer = await callJson('GET', `${this.url}/svc/indexer/v1/task/${encodeURIComponent(task)}/status`).catch(() => undefined);
    return (answer as { status: TaskStatus } | undefined)?.status;
  }

  async ended(task: string): Promise<TaskStatus> {
    let status: TaskStatus | undefined;
    await until(
      async () => {
        status = await this.statusOf(task);
        return status !== undefined && status.statusCode !== 'RUNNING';
      },
      `${this.reached.at(-1)}: task ${task} does not end`,
    );
    return status as TaskStatus;
  }

  async succeeds(task: string): Promise<void> {
    const { statusCode, errorMsg } = await this.ended(task);
    assert.is(statusCode, 'SUCCESS', `${this.reached.at(-1)}: ${task}: ${errorMsg}`);
  }

  async fails(task: string, because: RegExp): Promise<void> {
    const { statusCode, errorMsg } = await this.ended(task);
    assert.is(statusCode, 'FAILED', `${this.reached.at(-1)}: ${task}`);
    assert.match(errorMsg ?? '', because, `${this.reached.at(-1)}: ${task}`);
  }

  /** Compares what queries see with what was acknowledged: nothing doubled at any time, nothing lost in the end. */
  async check(): Promise<void> {
    const expected = [...this.#rows].sort(([a], [b]) => a - b).map(([batch, rows]) => [batch, rows, rows]);
    if (expected.length === 0) return;
    let seen: unknown[][] = [];
    const look = async (): Promise<boolean> => {
      seen = await sqlRows(this.url, `SELECT batch, COUNT(*), COUNT(DISTINCT id) FROM ${TABLE} GROUP BY 1 ORDER BY 1`).catch(() => seen);
      for (const [batch, count, distinct] of seen as [number, number, number][])
        if (count > distinct || !this.#rows.has(batch)) this.doubled += count - (this.#rows.get(batch) ?? 0);
      return this.doubled > 0 || JSON.stringify(seen) === JSON.stringify(expected);
    };
    await until(look, '').catch(() => {
      const found = new Map((seen as [number, number, number][]).map(([batch, , distinct]) => [batch, distinct]));
      for (const [batch, rows] of this.#rows) this.lost += rows - (found.get(batch) ?? 0);
    });
    assert.equal(seen, expected, `${this.reached.at(-1)}: batch, rows, different rows`);
  }

  /** Looks for what nobody needs any more, when no task runs: locks, files of deep storage, working folders. */
  async checkLeftovers(): Promise<void> {
    await callJson('POST', `${this.url}/svc/coordinator/v1/deepStorage/confirm`);
    const database = await openSqlite(path.join(this.#dataDir, 'metadata.sqlite'));
    try {
      const files = new Set((await database.rows<{ load_path: string }>('SELECT load_path FROM segments')).map((row) => row.load_path));
      for (const table of ['locks', 'carried_segments']) assert.equal(await database.rows(`SELECT * FROM ${table}`), [], table);
      const stored = () => filesBelow(path.join(this.#dataDir, 'deep-storage')).filter((file) => !file.startsWith('_'));
      await until(() => stored().every((file) => files.has(file)), 'files of deep storage are left that no segment has');
      assert.equal(stored().sort(), [...files].sort());
      await until(() => filesBelow(path.join(this.#dataDir, 'tasks')).length === 0, 'files are left in the folders of tasks');
      await until(() => filesBelow(path.join(this.#dataDir, 'query-results')).length === 0, 'results are left that are too old');
    } finally {
      await database.close();
    }
  }

  /** Sends a signal to the process of a task, whose id its log names. */
  signalTask(task: string, signal: NodeJS.Signals): void {
    const logs = path.join(this.#dataDir, 'task-logs');
    const log = readdirSync(logs)
      .map((name) => readFileSync(path.join(logs, name), 'utf8'))
      .find((text) => text.includes(`task ${task} runs in process`));
    process.kill(
      Number(/runs in process (\d+)/g.exec(log?.split('\n').findLast((line) => line.includes('runs in process')) ?? '')?.[1]),
      signal,
    );
  }

  get #armed(): string {
    return path.join(this.#dataDir, 'failpoint');
  }
}

async function until(done: () => boolean | Promise<boolean>, otherwise: string): Promise<void> {
  const deadline = Date.now() + WITHIN_MS;
  while (!(await done())) {
    if (Date.now() > deadline) throw new Error(otherwise);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Paths relative to the folder. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'));
}
