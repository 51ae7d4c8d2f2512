// The supervisors that compact datasources: their specs and versions.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import type { Database, Queries } from '../../metadata/database.js';
import { type Fence, fencedTransaction } from '../../metadata/leadership.js';
import { type Author, audit } from '../../metadata/settings.js';
import { writeSupervisor } from '../../metadata/supervisors.js';
import type { ReadTask } from '../overlord/submission.js';
import type { SupervisorSummary } from '../rpc/services.js';
import type { ClusterCompactionConfig } from './cluster-config.js';
import { taskPayload } from './compaction-config.js';
import {
  activeCompactionSupervisors,
  COMPACTION_SUPERVISOR,
  type CompactionSupervisor,
  compactionDocument,
  parseCompactionSupervisor,
} from './compaction-supervisor.js';

export interface CompactionSupervisorsOptions {
  readonly database: Database;
  readonly fence: () => Fence;
  readonly readTask: ReadTask;
  /** Called after each change. */
  readonly changed: () => void;
  readonly now: () => number;
  readonly cluster: () => Promise<ClusterCompactionConfig>;
}

/** Reads and changes them in the metadata store; the Coordinator's duty keeps to those that are not suspended. */
export class CompactionSupervisors {
  readonly #options: CompactionSupervisorsOptions;

  constructor(options: CompactionSupervisorsOptions) {
    this.#options = options;
  }

  list(): Promise<readonly CompactionSupervisor[]> {
    return activeCompactionSupervisors(this.#options.database);
  }

  async find(id: string): Promise<CompactionSupervisor | undefined> {
    return (await this.list()).find((each) => each.id === id);
  }

  async summaries(): Promise<readonly SupervisorSummary[]> {
    return (await this.list()).map((each) => ({
      id: each.id,
      dataSource: each.config.dataSource,
      state: stateOf(each),
      detailedState: stateOf(each),
      healthy: true,
      type: COMPACTION_SUPERVISOR,
      source: '',
      suspended: each.suspended,
      spec: compactionDocument(each),
    }));
  }

  /**
   * Creates one, or gives it another spec.
   * @param authorize  throws for a sender that may not
   * @throws ServiceError `input_invalid` or `unsupported` for what could not be kept to
   */
  async submit(value: unknown, author: Author, authorize: (sent: CompactionSupervisor) => void): Promise<string> {
    const sent = parseCompactionSupervisor(value);
    authorize(sent);
    const { readTask, cluster } = this.#options;
    await readTask(taskPayload(sent.config, (await cluster()).engine, null));
    await this.#change((queries) => this.#write(queries, sent, compactionDocument(sent), author));
    return sent.id;
  }

  /**
   * Suspends or resumes the newest spec there is, which may be newer than the one that the caller has read.
   * @throws ServiceError `input_invalid` when it is so already, `not_found` when it was terminated meanwhile
   */
  async setSuspended(id: string, suspended: boolean, author: Author): Promise<CompactionSupervisor> {
    return this.#change(async (queries) => {
      const newest = (await activeCompactionSupervisors(queries)).find((each) => each.id === id);
      if (newest === undefined) throw new ServiceError('not_found', `[${id}] does not exist`);
      if (newest.suspended === suspended)
        throw new ServiceError('input_invalid', `[${id}] is already ${suspended ? 'suspended' : 'running'}`);
      const changed = { ...newest, suspended };
      await this.#write(queries, changed, compactionDocument(changed), author);
      return changed;
    });
  }

  /** Removes it; its history stays. */
  async terminate(supervisor: CompactionSupervisor, author: Author): Promise<void> {
    await this.#change((queries) => this.#write(queries, supervisor, null, author));
  }

  async #change<Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> {
    const { database, fence, changed } = this.#options;
    const result = await fencedTransaction(database, fence(), work);
    changed();
    return result;
  }

  async #write(
    queries: Queries,
    { id, config }: CompactionSupervisor,
    document: Readonly<Record<string, unknown>> | null,
    author: Author,
  ): Promise<void> {
    const nowMs = this.#options.now();
    const text = document === null ? null : stringifyJson(document);
    await writeSupervisor(queries, { id, dataSource: config.dataSource, document: text }, nowMs);
    await audit(queries, { type: 'supervisor', key: id }, author, text ?? 'null', nowMs);
  }
}

export function stateOf({ suspended }: CompactionSupervisor): 'RUNNING' | 'SUSPENDED' {
  return suspended ? 'SUSPENDED' : 'RUNNING';
}
