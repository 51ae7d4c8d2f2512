// The supervisors of an Overlord that leads: their specs, versions and lives.

import { ServiceError } from '../../../base/errors.js';
import { parseJson, stringifyJson } from '../../../base/json.js';
import { parseSupervisorSpec, type SupervisorSpec, supervisorDocument } from '../../../ingestion/stream/supervisor-spec.js';
import { fencedTransaction } from '../../../metadata/leadership.js';
import { type Author, audit } from '../../../metadata/settings.js';
import { activeSupervisors, type SupervisorVersion, supervisorHistory, writeSupervisor } from '../../../metadata/supervisors.js';
import type { CheckpointRequest, OffsetsLost } from '../../../model/stream/control.js';
import { ID_PREFIX, isCompactionSpec } from '../../compaction/compaction-supervisor.js';
import { toServiceError } from '../../rpc/message.js';
import type { SupervisorSummary } from '../../rpc/services.js';
import type { SupervisorHost } from './contract.js';
import { shownDocument, withStoredSecrets } from './shown-spec.js';
import { Supervisor } from './supervisor.js';

export interface SubmitOptions {
  readonly onlyIfChanged: boolean;
  /** Throws `forbidden` for a spec that its sender may not submit. */
  authorize(spec: SupervisorSpec): void;
}

export class Supervisors {
  readonly #host: SupervisorHost;
  readonly #active = new Map<string, Supervisor>();
  /** Documents as they are stored, with their secrets. */
  readonly #documents = new Map<string, Readonly<Record<string, unknown>>>();
  /** Ends of supervisors that others have replaced, by id. */
  readonly #ending = new Map<string, Promise<void>>();
  /** Changes of a supervisor follow one another, by id. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #generation = 0;

  constructor(host: SupervisorHost) {
    this.#host = host;
  }

  /** Starts the supervisors that are stored. */
  async gained(): Promise<void> {
    const generation = ++this.#generation;
    for (const version of await activeSupervisors(this.#host.database)) {
      try {
        const document = parseJson(version.document ?? '{}');
        // The Coordinator keeps to those that compact.
        if (isCompactionSpec(document)) continue;
        const spec = parseSupervisorSpec(document);
        if (generation === this.#generation && !this.#active.has(spec.id)) this.#begin(spec);
      } catch (error) {
        this.#host.log(`supervisor ${version.id} cannot be read: ${toServiceError(error).message}`);
      }
    }
  }

  /** Leaves tasks to the Overlord that leads from now on. */
  async lost(): Promise<void> {
    this.#generation++;
    const left = [...this.#active.values()];
    this.#active.clear();
    await Promise.all([...left.map((each) => each.leave()), ...this.#ending.values()]);
  }

  find(id: string): Supervisor | undefined {
    return this.#active.get(id);
  }

  /** @throws ServiceError `not_found` */
  get(id: string): Supervisor {
    const found = this.#active.get(id);
    if (found === undefined) throw new ServiceError('not_found', `[${id}] does not exist`);
    return found;
  }

  list(): readonly SupervisorSummary[] {
    return [...this.#active.values()].map(({ spec, state }) => ({
      id: spec.id,
      dataSource: spec.dataSource,
      state: state.basic,
      detailedState: state.detailed,
      healthy: state.isHealthy,
      type: spec.kind,
      source: spec.io.source.stream,
      suspended: spec.suspended,
      spec: this.shown(spec.id),
    }));
  }

  /** The spec of a supervisor as it is shown. */
  shown(id: string): Readonly<Record<string, unknown>> {
    return shownDocument(supervisorDocument(this.get(id).spec));
  }

  /**
   * Creates a supervisor, or gives it another spec: its tasks publish, and others read on from there.
   * With `onlyIfChanged` nothing happens when the spec is that of today.
   */
  async submit(value: unknown, author: Author, { onlyIfChanged, authorize }: SubmitOptions): Promise<string> {
    const sent = parseSupervisorSpec(value);
    if (sent.id.startsWith(ID_PREFIX))
      throw new ServiceError('input_invalid', `id: those that begin with ${ID_PREFIX} are of supervisors that compact`);
    authorize(sent);
    return this.#inTurn(sent.id, async () => {
      const spec = parseSupervisorSpec(withStoredSecrets(supervisorDocument(sent), this.#documents.get(sent.id)));
      const isSame = stringifyJson(supervisorDocument(spec)) === stringifyJson(this.#documents.get(spec.id) ?? null);
      if (!(onlyIfChanged && isSame)) await this.#store(spec, author);
      return spec.id;
    });
  }

  /** @throws ServiceError `not_found`, `input_invalid` when it is so already */
  async setSuspended(id: string, suspended: boolean, author: Author): Promise<void> {
    await this.#inTurn(id, async () => {
      const spec = this.#stored(id);
      if (spec.suspended === suspended)
        throw new ServiceError('input_invalid', `[${id}] is already ${suspended ? 'suspended' : 'running'}`);
      await this.#store({ ...spec, suspended }, author);
    });
  }

  /** Has its tasks publish, and removes it; its history stays. @throws ServiceError `not_found` */
  async terminate(id: string, author: Author): Promise<void> {
    await this.#inTurn(id, async () => {
      const supervisor = this.get(id);
      const { dataSource } = supervisor.spec;
      if (!(await this.#write({ id, dataSource, document: null }, author))) return;
      this.#active.delete(id);
      this.#documents.delete(id);
      this.#end(supervisor);
    });
  }

  /** All versions of a supervisor, or of all of them; newest first. */
  history(id: string | null): Promise<readonly SupervisorVersion[]> {
    return supervisorHistory(this.#host.database, id);
  }

  /** A task has begun or ended: whose it may be looks at once. */
  taskChanged(dataSource: string): void {
    for (const supervisor of this.#active.values()) if (supervisor.spec.dataSource === dataSource) supervisor.wake();
  }

  checkpoint(request: CheckpointRequest): void {
    this.#beside(request.supervisorId, (supervisor) => supervisor.checkpoint(request));
  }

  offsetsLost(lost: OffsetsLost): void {
    this.#beside(lost.supervisorId, (supervisor) => supervisor.offsetsLost(lost));
  }

  /** Work that a task asks for, and does not wait for. */
  #beside(id: string, work: (supervisor: Supervisor) => Promise<void>): void {
    const supervisor = this.get(id);
    work(supervisor).catch((error: unknown) => this.#host.log(`supervisor ${id}: ${toServiceError(error).message}`));
  }

  /** The spec as it is stored, with the number of groups that an autoscaler has chosen. @throws ServiceError `not_found` */
  #stored(id: string): SupervisorSpec {
    const { spec } = this.get(id);
    const document = this.#documents.get(id);
    return document === undefined ? spec : parseSupervisorSpec(document);
  }

  async #store(spec: SupervisorSpec, author: Author): Promise<void> {
    const document = supervisorDocument(spec);
    if (!(await this.#write({ id: spec.id, dataSource: spec.dataSource, document: stringifyJson(document) }, author))) return;
    this.#begin(spec, this.#active.get(spec.id));
  }

  /** Writes a version; false: this Overlord leads no more since, or leads anew, and goes by what the next leader finds. */
  async #write(version: Omit<SupervisorVersion, 'createdMs'>, author: Author): Promise<boolean> {
    const { database, now } = this.#host;
    const generation = this.#generation;
    await fencedTransaction(database, this.#host.fence(), async (queries) => {
      await writeSupervisor(queries, version, now());
      const payload =
        version.document === null ? 'null' : stringifyJson(shownDocument(parseJson(version.document) as Readonly<Record<string, unknown>>));
      await audit(queries, { type: 'supervisor', key: version.id }, author, payload, now());
    });
    return generation === this.#generation;
  }

  #inTurn<Result>(id: string, change: () => Promise<Result>): Promise<Result> {
    const turn = (this.#turns.get(id) ?? Promise.resolve()).then(change);
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(id, over);
    void over.then(() => {
      if (this.#turns.get(id) === over) this.#turns.delete(id);
    });
    return turn;
  }

  /** Starts a supervisor once the one before it has had its tasks publish. */
  #begin(spec: SupervisorSpec, before?: Supervisor): void {
    const supervisor = new Supervisor(spec, this.#host, (taskCount) => this.#rescaled(spec.id, taskCount));
    this.#active.set(spec.id, supervisor);
    this.#documents.set(spec.id, supervisorDocument(spec));
    if (before !== undefined) this.#end(before);
    const earlier = this.#ending.get(spec.id) ?? Promise.resolve();
    void earlier.then(() => {
      if (this.#active.get(spec.id) === supervisor) supervisor.start();
    });
  }

  #end(supervisor: Supervisor): void {
    const { id } = supervisor.spec;
    const ended = (this.#ending.get(id) ?? Promise.resolve()).then(() => supervisor.stop());
    this.#ending.set(id, ended);
    void ended.then(() => {
      if (this.#ending.get(id) === ended) this.#ending.delete(id);
    });
  }

  /** Stores the number of groups that an autoscaler has chosen, so that the next Overlord begins with it. */
  async #rescaled(id: string, taskCount: number): Promise<void> {
    await this.#inTurn(id, async () => {
      if (!this.#active.has(id)) return;
      const stored = this.#stored(id);
      const { source } = stored;
      const document = supervisorDocument({ ...stored, source: { ...source, ioConfig: { ...source.ioConfig, taskCount } } });
      if (await this.#write({ id, dataSource: stored.dataSource, document: stringifyJson(document) }, SCALER))
        this.#documents.set(id, document);
    });
  }
}

const SCALER: Author = { author: 'autoscaler', comment: 'taskCount', ip: '' };
