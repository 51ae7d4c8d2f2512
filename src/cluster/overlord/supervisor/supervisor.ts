// Reads a stream by tasks: divides its partitions, keeps tasks running, and has them publish.

import { type LongTimer, SYSTEM_CLOCK, startLongTimer } from '../../../base/clock/clock.js';
import { ServiceError } from '../../../base/errors.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import { fencedTransaction } from '../../../metadata/leadership.js';
import { countResets, findOffsets, resetOffsets } from '../../../metadata/stream-offsets.js';
import type { CheckpointRequest, OffsetsLost, ParseErrorEntry } from '../../../model/stream/control.js';
import { advance, compareOffsets, type Offsets, type StreamPosition, sameOffsets, startAfter } from '../../../model/stream/offsets.js';
import { toServiceError } from '../../rpc/message.js';
import { Ticker } from '../../ticker.js';
import { adoptTasks, agreeOnCheckpoints } from './adoption.js';
import { AutoScaler } from './auto-scaler.js';
import { checkpointGroup } from './checkpoint.js';
import type { SupervisorHost } from './contract.js';
import { forgetOffsets, startOf } from './start-offsets.js';
import { StreamTasks } from './stream-tasks.js';
import { groupOf, type Lag, StreamView } from './stream-view.js';
import { SupervisorState } from './supervisor-state.js';
import { sequenceName, TaskGroup } from './task-group.js';
import { TaskGroups } from './task-groups.js';

export class Supervisor {
  readonly spec: SupervisorSpec;
  readonly state: SupervisorState;
  readonly groups: TaskGroups;
  readonly stream: StreamView;
  readonly tasks: StreamTasks;
  readonly #host: SupervisorHost;
  readonly #ticker: Ticker;
  readonly #offsetTicker: Ticker;
  readonly #scaler: AutoScaler | null;
  /** Partitions by the group that reads them. */
  #partitionsOf = new Map<number, string[]>();
  #taskCount: number;
  #turn: Promise<unknown> = Promise.resolve();
  #starting: LongTimer | undefined;
  #isStopped = false;
  readonly #idle: { endsBefore: Offsets | null; activeMs: number };

  /** @param rescaled  told of a number of tasks that the autoscaler has chosen */
  constructor(spec: SupervisorSpec, host: SupervisorHost, rescaled: (taskCount: number) => Promise<void> = async () => undefined) {
    this.spec = spec;
    this.#host = host;
    this.#taskCount = spec.io.taskCount;
    this.state = new SupervisorState(spec.suspended, () => host.now());
    this.tasks = new StreamTasks(spec, host);
    this.stream = new StreamView(spec, host);
    const { completionTimeoutMs, taskDurationMs, periodMs } = spec.io;
    this.groups = new TaskGroups({ host, tasks: this.tasks, state: this.state, completionTimeoutMs, taskDurationMs });
    this.#ticker = new Ticker(
      () => this.#inTurn(() => this.#run()),
      periodMs,
      (error) => this.#log(error),
    );
    const { offsetFetchPeriodMs } = spec.tuning;
    this.#offsetTicker = new Ticker(
      () => this.refreshOffsets(),
      offsetFetchPeriodMs,
      (error) => this.#log(error),
    );
    this.#scaler = AutoScaler.of(spec, {
      now: () => host.now(),
      lag: () => this.lag(),
      taskCount: () => this.#taskCount,
      partitionCount: () => this.stream.partitions.length,
      mayScale: () => !this.spec.suspended && !this.state.isIdle && this.groups.publishing.length === 0,
      scale: (count) => this.#inTurn(() => this.#scale(count, rescaled)),
      log: (line) => host.log(`supervisor ${spec.id}: ${line}`),
    });
    this.#idle = { endsBefore: null, activeMs: host.now() };
  }

  get taskCount(): number {
    return this.#taskCount;
  }

  get partitionCount(): number {
    return this.stream.partitions.length;
  }

  /** Begins after the delay of the spec. */
  start(): void {
    const begin = (): void => {
      void this.#ticker.start().then(() => (this.#isStopped ? undefined : this.#offsetTicker.start()));
      this.#scaler?.start();
    };
    this.#starting = startLongTimer(SYSTEM_CLOCK, begin, this.spec.io.startDelayMs);
  }

  /** One run, at once; for tests, and before the first of the ticker. */
  async runOnce(): Promise<void> {
    await this.#inTurn(() => this.#run());
  }

  /** A task has changed: looks now. */
  wake(): void {
    this.#ticker.wake();
  }

  /** Ends with its tasks going on: another Overlord leads. */
  async leave(): Promise<void> {
    this.#isStopped = true;
    this.#starting?.clear();
    this.#scaler?.stop();
    await Promise.all([this.#ticker.stop(), this.#offsetTicker.stop()]);
    await this.#turn.catch(() => undefined);
    await this.stream.close();
  }

  /** Has its tasks publish, and ends. */
  async stop(): Promise<void> {
    this.state.propose('STOPPING');
    await this.#inTurn(() => this.#endAll()).catch((error: unknown) => this.#log(error));
    await this.leave();
  }

  /** Has groups publish before their time. */
  handOff(groupIds: readonly number[]): void {
    for (const group of groupIds.flatMap((id) => this.groups.reading.get(id) ?? [])) group.handsOffEarly = true;
    this.wake();
  }

  /** Forgets the stored offsets, and what is read since. */
  async reset(): Promise<void> {
    await this.#inTurn(async () => {
      await this.#transaction((queries) => resetOffsets(queries, this.spec.id, this.spec.dataSource, null));
      await this.#killAll('the offsets of the supervisor were reset');
    });
    this.wake();
  }

  /** Stores other offsets for some partitions. */
  async resetOffsets(position: StreamPosition): Promise<void> {
    const { id, dataSource, io } = this.spec;
    if (position.stream !== io.source.stream)
      throw new ServiceError('input_invalid', `partitions.stream: found ${position.stream}, but the supervisor reads ${io.source.stream}`);
    if (position.offsets.size === 0) throw new ServiceError('input_invalid', 'partitions.partitionOffsetMap: names no partition');
    await this.#inTurn(async () => {
      await this.#transaction(async (queries) => {
        const stored = await findOffsets(queries, id);
        await resetOffsets(queries, id, dataSource, advance(stored ?? null, startAfter(position)));
      });
      // Sequences have other names from now on, those of other groups too.
      await this.#killAll('the offsets of the supervisor were set');
    });
    this.wake();
  }

  /** Ends the sequence that a group reads. */
  async checkpoint({ taskGroupId, start, taskId, finish }: CheckpointRequest): Promise<void> {
    await this.#inTurn(async () => {
      const group = this.groups.reading.get(taskGroupId);
      if (group === undefined || !group.tasks.has(taskId)) return;
      const [, last] = group.lastCheckpoint;
      // Another replica has asked before.
      if (!sameOffsets(last, start.offsets)) return;
      await this.groups.refresh();
      if (finish) return this.groups.end(group);
      const ends = await checkpointGroup(group, false, this);
      if (ends === null) {
        this.groups.reading.delete(taskGroupId);
        this.groups.forget(group.partitions);
      } else group.addCheckpoint(ends);
    });
    this.wake();
  }

  /** Offsets that a task was to read are gone. */
  async offsetsLost({ taskId, lost }: OffsetsLost): Promise<void> {
    await this.#inTurn(async () => {
      if (!this.groups.has(taskId)) return;
      const places = [...lost.offsets].map(([partition, offset]) => `${offset} of partition ${partition}`).join(', ');
      this.state.note(new ServiceError('input_unreadable', `the stream does not have offset ${places} any more`), true);
      if (!this.spec.tuning.resetOffsetAutomatically) return;
      await forgetOffsets(lost.offsets.keys(), this.#parts);
      await this.groups.killOver(new Set(lost.offsets.keys()), 'offsets that it was to read are gone');
    });
    this.wake();
  }

  /** The furthest that tasks which read are, by partition. */
  currentOffsets(): Offsets {
    const furthest = new Map<string, string>();
    for (const group of this.groups.reading.values())
      for (const { offsets } of group.tasks.values())
        for (const [partition, offset] of offsets ?? []) {
          const known = furthest.get(partition);
          if (known === undefined || compareOffsets(known, offset) < 0) furthest.set(partition, offset);
        }
    return furthest;
  }

  lag(): Lag | null {
    return this.stream.lag(this.currentOffsets());
  }

  /** Asks stream and tasks where they are. */
  async refreshOffsets(): Promise<void> {
    await Promise.all([
      this.stream.lookAtEnds(this.currentOffsets()),
      ...[...this.groups.reading.values()].flatMap(({ tasks }) =>
        [...tasks.values()].map(async (task) => {
          if (task.record?.state === 'RUNNING')
            task.offsets = await this.tasks
              .glance(task.record)
              .offsets()
              .catch(() => task.offsets);
        }),
      ),
    ]);
  }

  /** Newest rows that could not be read, of all tasks. */
  async parseErrors(): Promise<readonly ParseErrorEntry[]> {
    const records = this.groups
      .all()
      .flatMap(({ tasks }) => [...tasks.values()].flatMap(({ record }) => (record?.state === 'RUNNING' ? [record] : [])));
    const lists = await Promise.all(
      records.map((record) =>
        this.tasks
          .glance(record)
          .parseErrors()
          .catch(() => []),
      ),
    );
    const newest = lists.flat().sort((left, right) => right.timeOfExceptionMs - left.timeOfExceptionMs);
    return newest.slice(0, this.spec.tuning.maxSavedParseExceptions);
  }

  async #run(): Promise<void> {
    if (this.#isStopped) return;
    try {
      await this.#steps();
    } catch (error) {
      if (toServiceError(error).code === 'not_leader') throw error;
      this.state.note(error);
      this.#log(error);
    } finally {
      this.state.runEnded();
    }
  }

  async #steps(): Promise<void> {
    const { state, groups, spec } = this;
    state.propose('CONNECTING_TO_STREAM');
    if (!(await this.#dividePartitions()) && !state.hasRun) return;
    state.propose('DISCOVERING_INITIAL_TASKS');
    const resets = await countResets(this.#host.database, spec.id);
    await adoptTasks({
      tasks: this.tasks,
      groups,
      state,
      groupOf: (partition) => this.#groupOf(partition),
      sizeOf: (group) => this.#partitionsOf.get(group)?.length ?? 0,
      nameOf: ({ start, times }) => sequenceName(spec, start, times, resets),
      completesByMs: () => this.#host.now() + spec.io.completionTimeoutMs,
    });
    await groups.refresh();
    await groups.endLong({ early: false, stopsMax: this.#stopsMax });
    await groups.checkPublishing();
    await groups.checkReading();
    await this.#lookIfIdle();
    if (state.detailed === 'STOPPING' || state.isIdle) return;
    if (spec.suspended) return this.#endAll();
    state.propose('CREATING_TASKS');
    await this.#createTasks(resets);
  }

  /** False: the stream did not tell its partitions. */
  async #dividePartitions(): Promise<boolean> {
    try {
      await this.stream.look();
    } catch (error) {
      this.state.note(error, true);
      return false;
    }
    this.#divide();
    return true;
  }

  #divide(): void {
    this.#partitionsOf = new Map();
    for (const partition of this.stream.open) {
      const group = this.#groupOf(partition) ?? 0;
      this.#partitionsOf.set(group, [...(this.#partitionsOf.get(group) ?? []), partition]);
    }
  }

  #groupOf(partition: string): number | undefined {
    const position = this.stream.partitions.indexOf(partition);
    return position < 0 ? undefined : groupOf(partition, position, this.spec, this.#taskCount);
  }

  get #stopsMax(): number {
    const { autoScaler, stopTaskCount } = this.spec.io;
    const ratio = autoScaler?.isEnabled === true ? autoScaler.stopTaskCountRatio : null;
    if (ratio !== null) return Math.max(1, Math.floor(ratio * this.#taskCount));
    return stopTaskCount ?? this.#taskCount;
  }

  async #createTasks(resets: number): Promise<void> {
    const { spec, groups } = this;
    const stored = await findOffsets(this.#host.database, spec.id);
    for (const group of [...groups.reading.values()]) {
      if (group.tasks.size >= spec.io.replicas) continue;
      const isBehindOthers = groups.publishing.some((each) => each.sharesPartitions(group.partitions));
      if (await agreeOnCheckpoints(group, stored, isBehindOthers, this)) continue;
      groups.reading.delete(group.id);
      if (!isBehindOthers) groups.forget(group.partitions);
    }
    for (const [id, partitions] of this.#partitionsOf) {
      if (groups.reading.has(id)) continue;
      const start = await startOf(partitions, stored, this.groups.next, { ...this.#parts, stream: this.stream });
      if (start.offsets.size === 0) continue;
      const times = this.#messageTimes();
      groups.reading.set(id, new TaskGroup(id, start, times, sequenceName(spec, start, times, resets)));
    }
    for (const group of groups.reading.values())
      for (let missing = spec.io.replicas - group.tasks.size; missing > 0; missing--) {
        try {
          group.add(await this.tasks.submit(group));
        } catch (error) {
          if (toServiceError(error).code === 'not_leader') throw error;
          this.state.note(error);
          break;
        }
      }
  }

  #messageTimes(): { readonly minimum: number | null; readonly maximum: number | null } {
    const { lateRejectionFrom, lateRejectionMs, earlyRejectionMs, taskDurationMs } = this.spec.io;
    const now = this.#host.now();
    return {
      minimum: lateRejectionFrom ?? (lateRejectionMs === null ? null : now - lateRejectionMs),
      maximum: earlyRejectionMs === null ? null : now + taskDurationMs + earlyRejectionMs,
    };
  }

  /** A stream that nothing is written to for long, and that is read to its end, needs no tasks. */
  async #lookIfIdle(): Promise<void> {
    const { idle } = this.spec.io;
    if (!idle.isEnabled || this.spec.suspended) return;
    await this.refreshOffsets();
    const ends = this.stream.latest;
    const stored = (await findOffsets(this.#host.database, this.spec.id))?.offsets ?? new Map<string, string>();
    const before = this.#idle.endsBefore ?? stored;
    const isRead = [...ends].every(([partition, end]) => {
      const at = this.currentOffsets().get(partition) ?? stored.get(partition);
      return at !== undefined && compareOffsets(at, end) >= 0;
    });
    if (!sameOffsets(before, ends) || !isRead) {
      this.#idle.activeMs = this.#host.now();
      if (this.state.isIdle) this.state.propose('RUNNING');
    } else if (this.#host.now() - this.#idle.activeMs > idle.inactiveAfterMs) this.state.propose('IDLE');
    this.#idle.endsBefore = ends;
  }

  /** Has all tasks publish. */
  async #endAll(): Promise<void> {
    await this.groups.refresh();
    await this.groups.endLong({ early: true, stopsMax: Number.POSITIVE_INFINITY });
  }

  async #killAll(reason: string): Promise<void> {
    await this.groups.killOver(new Set(this.groups.all().flatMap(({ partitions }) => [...partitions])), reason);
    this.groups.next.clear();
  }

  async #scale(count: number, rescaled: (taskCount: number) => Promise<void>): Promise<void> {
    if (this.#isStopped || count === this.#taskCount) return;
    this.#host.log(`supervisor ${this.spec.id}: ${this.#taskCount} → ${count} groups of tasks`);
    await this.#endAll();
    this.#taskCount = count;
    this.#divide();
    await rescaled(count);
    this.wake();
  }

  get #parts(): { readonly spec: SupervisorSpec; readonly host: SupervisorHost } {
    return { spec: this.spec, host: this.#host };
  }

  #transaction<Result>(work: Parameters<typeof fencedTransaction<Result>>[2]): Promise<Result> {
    return fencedTransaction(this.#host.database, this.#host.fence(), work);
  }

  /** Runs and requests change the same groups: one after the other. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #log(error: unknown): void {
    this.#host.log(`supervisor ${this.spec.id}: ${toServiceError(error).message}`);
  }
}
