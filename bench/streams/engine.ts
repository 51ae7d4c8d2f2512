import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { callJson } from '../server.js';

/** An engine that reads streams in tasks, which are processes below one of its own. */
export interface Engine {
  /** Word that its paths begin with. */
  readonly word: 'svc' | 'druid';
  /** Address that tasks are submitted to. */
  readonly overlord: string;
  /** Process whose children are the tasks. */
  readonly workerPid: number;
  /** Address that rows of a running task are asked of. */
  readonly broker: (task: TaskLocation) => string;
}

interface TaskLocation {
  readonly host: string;
  readonly port: number;
}

/** Rows and processor time of a task's process, at a moment. */
interface Look {
  readonly atMs: number;
  readonly rows: number;
  readonly processorMs: number;
}

/** Rates of reading a topic, in processor time of the task's process and by the clock; NaN: all was over before a look told enough. */
export interface Reading {
  /** With starting the process. */
  readonly rowsPerProcessorSecond: number;
  /** From the first row on. */
  readonly rowsPerProcessorSecondOnceStarted: number;
  /** Rate of the second half of the rows: by then code is compiled. */
  readonly rowsPerProcessorSecondWarm: number;
  readonly rowsPerSecondOnceStarted: number;
  readonly processorMs: number;
  readonly answers: readonly unknown[];
}

/** `clk_tck` of Linux. */
const TICK_MS = 10;
/** Seldom enough that answering costs a task nothing that shows. */
const LOOK_EVERY_MS = 250;
/** A rate from a look on is told when that has seen no more of the rows. */
const SEEN_SHARE_MAX = 0.75;

/** Processor time of the children of a process, by the kernel; of threads that have ended as well. */
export function childrenMs(parent: number): number {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      if (Number(fields[1]) === parent) ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended meanwhile.
    }
  }
  return ticks * TICK_MS;
}

export async function submit({ overlord, word }: Engine, spec: object): Promise<string> {
  return ((await callJson('POST', `${overlord}/${word}/indexer/v1/task`, spec)) as { task: string }).task;
}

/** Ends a task, and waits for the end of its process. */
export async function shutDown({ overlord, word, workerPid }: Engine, task: string): Promise<void> {
  await callJson('POST', `${overlord}/${word}/indexer/v1/task/${encodeURIComponent(task)}/shutdown`, {});
  while (childrenMs(workerPid) > 0) await wait(100);
}

/**
 * Has a task read a topic, and waits until all rows of it are in an answer.
 * @param rows       of the topic
 * @param questions  native queries; the first one's only row has a `rows` that counts what was read
 * @throws Error when the task fails, or has other rows
 */
export async function readTopic(engine: Engine, spec: object, rows: number, questions: readonly object[]): Promise<Reading> {
  const task = await submit(engine, spec);
  const location = await locationOf(engine, task);
  const chat = `http://${location.host}:${location.port}/${engine.word}/worker/v1/chat/${encodeURIComponent(task)}`;
  const looks: Look[] = [];
  const look = (read: number) => looks.push({ atMs: performance.now(), rows: read, processorMs: childrenMs(engine.workerPid) });
  for (let read = 0; read < rows; await wait(LOOK_EVERY_MS)) {
    read = await rowsRead(chat);
    if (read > 0) look(read);
    else await locationOf(engine, task);
  }
  const ask = (question: object) => callJson('POST', `${engine.broker(location)}/${engine.word}/v2`, question);
  const [count] = questions;
  for (let answered = 0; answered < rows; ) {
    const [total] = (await ask(count ?? {})) as { result: { rows: number } }[];
    answered = total?.result.rows ?? 0;
    if (answered > rows) throw new Error(`${answered} rows of ${rows} are answered`);
  }
  look(rows);
  const answers: unknown[] = [];
  for (const question of questions) answers.push(await ask(question));
  await shutDown(engine, task);
  const [first, last] = [looks[0], looks.at(-1)] as [Look, Look];
  const half = looks.find((each) => each.rows >= rows / 2) as Look;
  const per = (from: Look, measure: 'processorMs' | 'atMs') =>
    from.rows > rows * SEEN_SHARE_MAX ? Number.NaN : ((last.rows - from.rows) * 1000) / (last[measure] - from[measure]);
  return {
    rowsPerProcessorSecond: (rows * 1000) / last.processorMs,
    rowsPerProcessorSecondOnceStarted: per(first, 'processorMs'),
    rowsPerProcessorSecondWarm: per(half, 'processorMs'),
    rowsPerSecondOnceStarted: per(first, 'atMs'),
    processorMs: last.processorMs,
    answers,
  };
}

/** Rows that a task has taken in; 0 while it does not answer yet. */
async function rowsRead(chat: string): Promise<number> {
  try {
    const { totals } = (await callJson('GET', `${chat}/rowStats`)) as { totals: { buildSegments?: { processed: number } } };
    return totals.buildSegments?.processed ?? 0;
  } catch {
    return 0;
  }
}

/** Address of the process of a task, once it runs. */
async function locationOf({ overlord, word }: Engine, task: string): Promise<TaskLocation> {
  for (; ; await wait(100)) {
    const { status } = (await callJson('GET', `${overlord}/${word}/indexer/v1/task/${encodeURIComponent(task)}/status`)) as {
      status: { statusCode: string; errorMsg: string | null; location: TaskLocation };
    };
    if (status.statusCode === 'FAILED') throw new Error(`task ${task} failed: ${status.errorMsg}`);
    if ((status.location?.port ?? -1) > 0) return status.location;
  }
}
