// Runs requests to the sampler, each in a process of its own.

import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CancelSignal } from '../base/cancel-signal.js';
import { ServiceError } from '../base/errors.js';
import type { TaskCalls } from '../ingestion/contract.js';
import { TIMEOUT_MS_MAX } from '../ingestion/sampler/sample-spec.js';
import type { SamplerReport } from '../ingestion/sampler/sampler.js';
import type { TaskSettings } from './middlemanager/task-messages.js';
import { TaskProcess } from './middlemanager/task-process.js';
import { queryForTask } from './middlemanager/task-query.js';
import type { Peers } from './rpc/peers.js';

export interface SamplingOptions {
  readonly peers: Pick<Peers, 'all' | 'hosts'>;
  /** Removed at the start: each sample has a directory of its own below it. */
  readonly workDirectory: string;
  readonly settings: Omit<TaskSettings, 'workDirectory' | 'peers'>;
  readonly taskEntry: URL;
  /** The limits of a request; throws for one that is wrong. */
  readonly limitsOf: (body: Uint8Array) => Promise<{ readonly timeoutMs: number }>;
  readonly now: () => number;
}

/** Samples under way at a time: each is a process. */
const SAMPLES_MAX = 4;
const HEAP_BYTES = 768 * 2 ** 20;
/** Time that a sample has beyond its own limit, for starting and for what cannot be broken off. */
const GRACE_MS = 15_000;
const BROKER_WAIT_MS = 5000;

/**
 * Reads samples of inputs as tasks read inputs: in a process of its own, under the same rules, without a slot, a lock or a row
 * in the metadata store. What it costs is bounded in number, time, heap and bytes.
 */
export class Sampling {
  readonly #options: SamplingOptions;
  readonly #running = new Set<Promise<TaskProcess>>();
  #stopping = false;

  constructor(options: SamplingOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await rm(this.#options.workDirectory, { recursive: true, force: true });
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all([...this.#running].map((starting) => starting.then((process) => process.stop()).catch(() => undefined)));
  }

  /**
   * The text of the answer to a request.
   * @param signal  aborted when nobody waits for the answer any more
   * @throws ServiceError of the request, the spec or the input; `capacity_exceeded`, `timeout`, `cancelled`; `resource_limit`
   *   for a process that died
   */
  async sample(body: Uint8Array, signal: CancelSignal): Promise<string> {
    if (this.#stopping) throw new ServiceError('unavailable', 'this process is stopping');
    // A request that is wrong costs no process.
    const { timeoutMs } = await this.#options.limitsOf(body);
    if (this.#stopping) throw new ServiceError('cancelled', 'the sample was broken off');
    if (this.#running.size >= SAMPLES_MAX)
      throw new ServiceError('capacity_exceeded', `${SAMPLES_MAX} samples are being read already; try again later`);
    const sampleId = `sample_${randomUUID()}`;
    const workDirectory = join(this.#options.workDirectory, sampleId);
    const starting = this.#start(sampleId, workDirectory, body);
    this.#running.add(starting);
    const deadline = AbortSignal.timeout((timeoutMs === 0 ? TIMEOUT_MS_MAX : timeoutMs) + GRACE_MS);
    try {
      const process = await starting;
      const stop = (): void => void process.stop();
      for (const each of [signal, deadline]) each.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      const outcome = await process.outcome;
      for (const each of [signal, deadline]) each.removeEventListener('abort', stop);
      const { answer, errorCode } = outcome.report as SamplerReport;
      if (answer !== undefined) return answer;
      if (deadline.aborted) throw new ServiceError('timeout', 'the sample could not be read within its timeoutMs');
      if (signal.aborted || this.#stopping) throw new ServiceError('cancelled', 'the sample was broken off');
      throw new ServiceError(errorCode ?? 'resource_limit', outcome.errorMessage ?? 'the sample could not be read');
    } finally {
      this.#running.delete(starting);
      await rm(workDirectory, { recursive: true, force: true });
    }
  }

  async #start(taskId: string, workDirectory: string, payload: Uint8Array): Promise<TaskProcess> {
    const { peers, settings, taskEntry, now } = this.#options;
    await mkdir(workDirectory, { recursive: true });
    return TaskProcess.start({
      program: 'sampler',
      taskId,
      attempt: 1,
      parentId: null,
      payload,
      settings: { ...settings, maxHeapBytes: Math.min(HEAP_BYTES, settings.maxHeapBytes), workDirectory, peers: peers.hosts() },
      logFile: join(workDirectory, 'log'),
      entry: taskEntry,
      calls: NO_CALLS,
      serving: () => undefined,
      liveChanged: () => undefined,
      publish: async () => {
        throw new ServiceError('internal', 'a sample publishes nothing');
      },
      visibleSegments: async () => {
        throw new ServiceError('internal', 'a sample compacts nothing');
      },
      query: (query, signal) =>
        queryForTask(query, { taskId, peers, pinned: null, waitMs: BROKER_WAIT_MS, deadlineMs: now() + TIMEOUT_MS_MAX, signal }),
    });
  }
}

const noCall = async (): Promise<never> => {
  throw new ServiceError('internal', 'a sample has no other tasks');
};
const NO_CALLS: TaskCalls = {
  submit: noCall,
  list: noCall,
  documents: noCall,
  look: noCall,
  stop: noCall,
  claim: noCall,
  ended: noCall,
  allocate: noCall,
  served: noCall,
  seen: noCall,
  checkpoint: noCall,
  offsetsLost: noCall,
};
