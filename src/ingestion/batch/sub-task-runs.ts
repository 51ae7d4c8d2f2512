// Runs the work of a task in sub-tasks.

import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { deserialize } from 'node:v8';
import { ServiceError } from '../../base/errors.js';
import { isRecord, parseJson, stringifyJson } from '../../base/json.js';
import type { ChildPayload, ChildTask, TaskContext, TaskProgress } from '../contract.js';
import type { SubTaskTuning } from '../task-spec/tuning-config.js';
import type { SubTaskType } from './sub-task-types.js';

/** Fields of the payload of a sub-task beside its type and names. */
export type SubTaskFields = Readonly<Record<string, unknown>>;

/** Piece of work that one sub-task after the other tries to do. */
export interface Work {
  readonly at: number;
  readonly specId: string;
  readonly fields: SubTaskFields;
  tries: number;
  /** Id of the sub-task that is at it; null: none is. */
  current: string | null;
  /** Ids of the sub-tasks that were at it. */
  readonly ended: string[];
  isDone: boolean;
}

/** The sub-tasks of one type. */
export interface Phase {
  readonly type: SubTaskType;
  readonly works: readonly Work[];
}

interface Active {
  readonly work: Work;
  readonly payload: ChildPayload;
  /** It waited for a worker when it was last looked at. */
  isWaiting: boolean;
  /** When it was first seen to run. */
  runsSinceMs: number | null;
}

/** Time before the first look at sub-tasks; it grows up to the period of the spec. */
const FIRST_LOOK_MS = 20;
/** Time between two looks at how far sub-tasks are. */
const PROGRESS_MS = 1000;

/**
 * Sub-tasks of a task, as many at a time as its spec allows. Work that fails is tried again; work that no worker has room for
 * is done here. The id of a sub-task is made of what it is to do, so that a later run of the task finds what was done.
 */
export class SubTaskRuns {
  readonly #context: TaskContext;
  readonly #dataSource: string;
  readonly #tuning: SubTaskTuning;
  /** Progress of sub-tasks whose outputs are not counted yet, by their ids. */
  readonly #progress = new Map<string, TaskProgress>();
  #phase: Phase | null = null;
  #lookedMs = 0;

  constructor(context: TaskContext, dataSource: string, tuning: SubTaskTuning) {
    this.#context = context;
    this.#dataSource = dataSource;
    this.#tuning = tuning;
  }

  /** The latest phase; null before the first. */
  get phase(): Phase | null {
    return this.#phase;
  }

  /** Progress of sub-tasks whose outputs are not counted yet. */
  get progress(): readonly TaskProgress[] {
    return [...this.#progress.values()];
  }

  /**
   * Runs sub-tasks of one type, one for each of the works.
   * @param done    takes each output as it comes, and gives what is kept of it
   * @param looked  called when `progress` has changed
   * @returns what is kept, in the order of the works
   * @throws ServiceError `input_unreadable` for work that failed too often
   */
  async run<Output, Kept>(
    type: SubTaskType,
    works: readonly SubTaskFields[],
    done: (output: Output) => Kept,
    looked: () => void = () => undefined,
  ): Promise<readonly Kept[]> {
    const { children, log, signal } = this.#context;
    const all = this.#worksOf(type, works);
    this.#phase = { type, works: all };
    this.#progress.clear();
    const waiting = [...all];
    const active = new Map<string, Active>();
    const outputs = new Map<number, Kept>();
    log(`${type}: ${works.length} sub-tasks, ${this.#tuning.maxConcurrent} at a time`);
    await this.#stopOthers(type, new Set(waiting.map(({ specId }) => specId)));
    let pauseMs = FIRST_LOOK_MS;
    while (outputs.size < works.length) {
      if (signal.aborted) throw new ServiceError('cancelled', 'the task was cancelled');
      const fresh = waiting.splice(0, this.#tuning.maxConcurrent - active.size).map((work) => this.#begin(type, work));
      for (const each of fresh) active.set(each.payload.id, each);
      if (fresh.length > 0) await children.submit(fresh.map(({ payload }) => payload));
      const ended: ChildTask[] = [];
      const running: string[] = [];
      let idle: Active | undefined;
      for (const child of await children.list()) {
        const found = active.get(child.id);
        if (found === undefined) continue;
        if (child.state === 'SUCCESS' || child.state === 'FAILED') ended.push(child);
        else if (child.state === 'RUNNING') {
          running.push(child.id);
          await this.#stopLate(child.id, found);
        } else if (found.isWaiting) idle ??= found;
        found.isWaiting = child.state === 'PENDING';
      }
      for (const child of ended) {
        const found = active.get(child.id);
        if (found === undefined) continue;
        active.delete(child.id);
        const output = child.state === 'SUCCESS' ? await this.#outputOf(child.id) : null;
        this.#end(found.work, child);
        if (child.state === 'SUCCESS') outputs.set(found.work.at, done(output as Output));
        else waiting.unshift(this.#again(found.work, child));
      }
      if (await this.#lookAt(running)) looked();
      if (ended.length > 0) pauseMs = FIRST_LOOK_MS;
      else if (idle !== undefined) await this.#runHere(idle, looked);
      else {
        await sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, this.#tuning.pollMs);
      }
    }
    return works.map((_, at) => outputs.get(at) as Kept);
  }

  /** Works that are alike, such as those of a file that the source names twice, are told apart by their number. */
  #worksOf(type: SubTaskType, works: readonly SubTaskFields[]): Work[] {
    const alike = new Map<string, number>();
    return works.map((fields, at) => {
      const first = this.#specIdOf(type, fields);
      const number = alike.get(first) ?? 0;
      alike.set(first, number + 1);
      const specId = number === 0 ? first : `${first}-${number}`;
      return { at, specId, fields, tries: 0, current: null, ended: [], isDone: false };
    });
  }

  #begin(type: SubTaskType, work: Work): Active {
    const { taskId: supervisorTaskId } = this.#context;
    const { specId: subtaskSpecId, tries: numAttempts } = work;
    const id = `${subtaskSpecId}_${numAttempts}`;
    work.current = id;
    return {
      work,
      payload: { type, id, supervisorTaskId, subtaskSpecId, numAttempts, ...work.fields },
      isWaiting: false,
      runsSinceMs: null,
    };
  }

  #end(work: Work, { id, state }: ChildTask): void {
    work.current = null;
    work.ended.push(id);
    work.isDone = state === 'SUCCESS';
    this.#progress.delete(id);
  }

  async #runHere({ payload }: Active, looked: () => void): Promise<void> {
    await this.#context.children.runHere(payload, (progress) => {
      this.#progress.set(payload.id, progress);
      looked();
    });
  }

  /** Looks at how far sub-tasks are, once in a second; what was seen of them stays until they are counted. */
  async #lookAt(running: readonly string[]): Promise<boolean> {
    const { children, now } = this.#context;
    if (running.length === 0 || now() - this.#lookedMs < PROGRESS_MS) return false;
    this.#lookedMs = now();
    for (const [at, { progress }] of (await children.look(running)).entries()) {
      const id = running[at];
      if (id !== undefined && progress !== null) this.#progress.set(id, progress);
    }
    return true;
  }

  /** Ends a sub-task that has run for too long; it is tried again as one that has failed. */
  async #stopLate(id: string, active: Active): Promise<void> {
    const { timeoutMs } = this.#tuning;
    const nowMs = this.#context.now();
    active.runsSinceMs ??= nowMs;
    if (timeoutMs === 0 || nowMs - active.runsSinceMs < timeoutMs) return;
    await this.#stop(id, `it ran longer than context.subTaskTimeoutMillis (${timeoutMs} ms)`);
  }

  /** One that has ended meanwhile is left as it is. */
  async #stop(id: string, reason: string): Promise<void> {
    await this.#context.children.stop(id, reason).catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === 'not_found')) throw error;
    });
  }

  #again(work: Work, { id, error }: ChildTask): Work {
    this.#context.log(`sub-task ${id} failed: ${error ?? 'for no known reason'}`);
    work.tries++;
    if (work.tries > this.#tuning.maxRetry)
      throw new ServiceError(
        'input_unreadable',
        `sub-task ${id} failed, and ${work.tries - 1} before it (tuningConfig.maxRetry): ${error ?? 'for no known reason'}`,
      );
    return work;
  }

  /** Ends sub-tasks of an earlier run that this one has no use for. Those of phases that are still to come may be of use. */
  async #stopOthers(type: SubTaskType, specIds: ReadonlySet<string>): Promise<void> {
    const { children } = this.#context;
    for (const { id, state } of await children.list()) {
      if (state === 'SUCCESS' || state === 'FAILED' || !id.startsWith(`${type}_`)) continue;
      if (specIds.has(id.slice(0, id.lastIndexOf('_')))) continue;
      await this.#stop(id, 'the task that submitted it has no use for it any more');
    }
  }

  async #outputOf(id: string): Promise<unknown> {
    const { children, storage, workDirectory } = this.#context;
    const { report } = await children.documents(id);
    const document: unknown = report === null ? null : parseJson(report);
    const loadSpec = isRecord(document) ? document['output'] : undefined;
    if (!isRecord(loadSpec) || typeof loadSpec['type'] !== 'string' || typeof loadSpec['path'] !== 'string')
      throw new ServiceError('internal', `sub-task ${id} succeeded and left no output`);
    const file = join(workDirectory, 'output-of-sub-task');
    await storage.pull({ type: loadSpec['type'], path: loadSpec['path'] }, file);
    const output: unknown = deserialize(await readFile(file));
    await rm(file);
    return output;
  }

  /** Unique to the task and to what is to be done. */
  #specIdOf(type: SubTaskType, fields: SubTaskFields): string {
    const readable = this.#dataSource.replace(/[/\\\s\p{Cc}]/gu, '-').slice(0, 80);
    const hash = createHash('sha256').update(stringifyJson([this.#context.taskId, type, fields]));
    return `${type}_${readable}_${hash.digest('hex').slice(0, 24)}`;
  }
}
