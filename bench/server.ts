import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COLLECT_ALONE } from '../src/cli/v8-flags.js';

/** A Dolmen process of its own, started for a benchmark or an end-to-end test and ended with it. */
export interface DolmenProcess {
  readonly url: string;
  readonly child: ChildProcess;
  /** Everything it printed so far. */
  output(): string;
  /** SIGTERM, and waits; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL of the process and all it started, at once. */
  kill(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../bin/dolmen.mjs', import.meta.url));
/** A cold machine that others share may need minutes. */
const READY_WITHIN_MS = 180_000;
/** Ports of tests lie among those that the system gives to outgoing connections, which hold one for a moment. */
const STARTS = 40;

/** Further flags of every server, for whoever measures a test from outside: a list of JSON. */
export const FLAGS_VARIABLE = 'DOLMEN_START_FLAGS';

function flagsForAll(): readonly string[] {
  return JSON.parse(process.env[FLAGS_VARIABLE] ?? '[]') as string[];
}

interface StartOptions {
  readonly dataDir: string;
  readonly portOffset: number;
  readonly flags?: readonly string[];
  readonly waitForReady?: boolean;
  readonly onSpawn?: (child: ChildProcess) => void;
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

class PortTaken extends Error {}
/** Exit code of a start that found a port taken (`src/cli/exit-codes.ts`). */
const PORT_TAKEN = 3;

/**
 * Starts `dolmen start` and waits for its `ready` line.
 * @param options.portOffset  added to every role's port, so that servers can run side by side
 * @param options.flags       further flags of `dolmen start`
 * @throws Error with the process's output when it ends or stays silent for three minutes
 */
export async function startDolmen(options: StartOptions): Promise<DolmenProcess> {
  for (let start = 1; ; start++) {
    try {
      return await startOnce(options);
    } catch (error) {
      if (error instanceof PortTaken && start < STARTS) {
        await wait(2000);
        continue;
      }
      // uvu keeps to itself what a `before` hook throws.
      process.stderr.write(`${error}\n`);
      throw error;
    }
  }
}

async function startOnce(options: StartOptions): Promise<DolmenProcess> {
  const env = { ...process.env, ...options.environment };
  if (options.waitForReady === false) return startedAgain(options, env);
  const spawned = spawnDolmen(options, env);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = READY_WITHIN_MS / 1000;
    timer = setTimeout(() => reject(new Error(`dolmen was not ready within ${seconds} s:\n${spawned.output()}`)), READY_WITHIN_MS);
  });
  const died = spawned.exited.then((code) => {
    throw new (code === PORT_TAKEN ? PortTaken : Error)(`dolmen ended with ${code} before it was ready:\n${spawned.output()}`);
  });
  try {
    const url = await Promise.race([spawned.ready, late, died]);
    return processOf(url, () => spawned);
  } catch (error) {
    await processOf('', () => spawned).kill();
    throw error;
  } finally {
    clearTimeout(timer);
    died.catch(() => undefined);
  }
}

/** A process that nobody waits for, started again as long as it ends because a port is taken and nobody ended it. */
function startedAgain(options: StartOptions, env: NodeJS.ProcessEnv): DolmenProcess {
  let spawned = spawnDolmen(options, env);
  let isEnded = false;
  const watch = async (starts: number): Promise<void> => {
    if ((await spawned.exited) !== PORT_TAKEN || starts >= STARTS) return;
    await wait(2000, undefined, { ref: false });
    if (isEnded) return;
    spawned = spawnDolmen(options, env);
    void watch(starts + 1);
  };
  void watch(1);
  const started = processOf(`http://127.0.0.1:${8888 + options.portOffset}`, () => spawned);
  const ended = <T>(end: () => Promise<T>): Promise<T> => {
    isEnded = true;
    return end();
  };
  return {
    ...started,
    get child() {
      return spawned.child;
    },
    stop: () => ended(() => started.stop()),
    kill: () => ended(() => started.kill()),
  };
}

interface Spawned {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** Its address, once it tells that it is ready. */
  readonly ready: Promise<string>;
  output(): string;
}

function spawnDolmen({ dataDir, portOffset, flags = [], onSpawn }: StartOptions, env: NodeJS.ProcessEnv): Spawned {
  const all = ['start', '--data-dir', dataDir, '--port-offset', String(portOffset), '--no-sample', ...flags, ...flagsForAll()];
  // A process group of its own: a hard kill must take the task processes along.
  const child = spawn(process.execPath, [COLLECT_ALONE, PROGRAM, ...all], { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env });
  onSpawn?.(child);
  let printed = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  child.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  const ready = new Promise<string>((resolve) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      printed += `${line}\n`;
      const match = /^ready (\S+)/.exec(line);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
  });
  return { child, exited, ready, output: () => printed };
}

/** @param current  what it runs as now */
function processOf(url: string, current: () => Spawned): DolmenProcess {
  return {
    url,
    child: current().child,
    output: () => current().output(),
    async stop() {
      const { child, exited } = current();
      child.kill('SIGTERM');
      return exited;
    },
    async kill() {
      const { child, exited } = current();
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await exited;
    },
  };
}

/** Another status than 2xx. */
class RefusedError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One JSON request; throws with the status and body on anything but 2xx. */
export async function callJson(
  method: string,
  url: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const init: RequestInit = { method, headers, signal: AbortSignal.timeout(120_000) };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { 'content-type': 'application/json', ...headers };
  }
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new RefusedError(answer.status, `${method} ${url}: ${answer.status} ${text.slice(0, 500)}`);
  return text === '' ? null : JSON.parse(text);
}

/** @param headers  such as `{'accept-encoding': 'identity'}`: `fetch` asks for packed answers otherwise */
export async function sqlRows(
  base: string,
  query: string,
  context: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown[][]> {
  return (await callJson('POST', `${base}/svc/v2/sql`, { query, resultFormat: 'array', context }, headers)) as unknown[][];
}

/** Submits a task and waits for its end; throws its message when it failed. */
export async function runTask(base: string, spec: unknown): Promise<string> {
  const { task } = (await callJson('POST', `${base}/svc/indexer/v1/task`, spec)) as { task: string };
  await waitForTask(base, task);
  return task;
}

/** Asks again where nobody leads for a moment (503). */
export async function callAgain(method: string, url: string, body?: unknown): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await callJson(method, url, body);
    } catch (error) {
      if (!(error instanceof RefusedError && error.status === 503) || attempt >= 150) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
  }
}

export async function waitForTask(base: string, task: string): Promise<void> {
  for (;;) {
    const { status } = (await callAgain('GET', `${base}/svc/indexer/v1/task/${encodeURIComponent(task)}/status`)) as {
      status: { statusCode: string; errorMsg: string | null };
    };
    if (status.statusCode === 'SUCCESS') return;
    if (status.statusCode === 'FAILED') throw new Error(`task ${task} failed: ${status.errorMsg}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** Waits until a table answers this count: brokers see a publish shortly after the task ended. */
export async function waitForCount(base: string, table: string, rows: number): Promise<void> {
  let last: unknown = 'no answer';
  for (let attempt = 0; attempt < 300; attempt++) {
    try {
      last = (await sqlRows(base, `SELECT COUNT(*) FROM "${table}"`))[0]?.[0];
      if (last === rows) return;
    } catch (error) {
      last = (error as Error).message; // the table is unknown until its first segment is served
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  throw new Error(`${table} never counted ${rows} rows; last answer: ${last}`);
}
