// Groups of tasks of a supervisor: those that read, and those that publish.

import { findTask } from '../../../metadata/tasks.js';
import { compareOffsets, type Offsets } from '../../../model/stream/offsets.js';
import { checkpointGroup, killOthers } from './checkpoint.js';
import type { SupervisorHost } from './contract.js';
import type { StreamTasks } from './stream-tasks.js';
import type { SupervisorState } from './supervisor-state.js';
import type { TaskGroup } from './task-group.js';

interface TaskGroupsOptions {
  readonly host: SupervisorHost;
  readonly tasks: StreamTasks;
  readonly state: SupervisorState;
  readonly completionTimeoutMs: number;
  readonly taskDurationMs: number;
}

export class TaskGroups {
  /** Groups that read, by number. */
  readonly reading = new Map<number, TaskGroup>();
  /** Oldest first. */
  publishing: TaskGroup[] = [];
  /** Ends of groups that publish: the next ones begin there. For other partitions the stored offsets count. */
  readonly next = new Map<string, string>();
  readonly #options: TaskGroupsOptions;

  constructor(options: TaskGroupsOptions) {
    this.#options = options;
  }

  has(taskId: string): boolean {
    return this.all().some(({ tasks }) => tasks.has(taskId));
  }

  all(): readonly TaskGroup[] {
    return [...this.reading.values(), ...this.publishing];
  }

  /** Looks at the records of all tasks, and asks those that run when they began. */
  async refresh(): Promise<void> {
    const { host, tasks } = this.#options;
    for (const group of this.all())
      await Promise.all(
        [...group.tasks.values()].map(async (task) => {
          const record = await findTask(host.database, task.id);
          if (record === undefined) {
            group.tasks.delete(task.id);
            return;
          }
          task.record = record;
          // A task that starts does not answer yet.
          if (record.state === 'RUNNING')
            task.startMs ??= await tasks
              .glance(record)
              .startTime()
              .catch(() => null);
        }),
      );
  }

  /**
   * Has groups publish that have read for long enough, or that were asked to.
   * @param early     all of them
   * @param stopsMax  groups that may be publishing, beside those that were asked to
   */
  async endLong({ early, stopsMax }: { readonly early: boolean; readonly stopsMax: number }): Promise<void> {
    const { host, taskDurationMs } = this.#options;
    const now = host.now();
    const byAge = [...this.reading.values()].sort((left, right) => left.startedMs(now) - right.startedMs(now));
    let stopped = 0;
    for (const group of byAge) {
      const isDue = group.startedMs(now) + taskDurationMs < now && this.publishing.length + stopped < stopsMax;
      if (!early && !group.handsOffEarly && !isDue) continue;
      stopped++;
      await this.end(group);
    }
  }

  /** Has a group publish; one that cannot is given up, and its rows are read again. */
  async end(group: TaskGroup): Promise<void> {
    const { host, tasks, state, completionTimeoutMs } = this.#options;
    const ends = await checkpointGroup(group, true, { tasks, state });
    this.reading.delete(group.id);
    if (ends === null) {
      this.forget(group.partitions);
      return;
    }
    group.completesByMs = host.now() + completionTimeoutMs;
    this.publishing.push(group);
    this.continueAt(ends);
  }

  /** Takes over ends of tasks that publish, where they are further than what is known. */
  continueAt(ends: Offsets): void {
    for (const [partition, offset] of ends) {
      const known = this.next.get(partition);
      if (known === undefined || compareOffsets(known, offset) < 0) this.next.set(partition, offset);
    }
  }

  forget(partitions: Iterable<string>): void {
    for (const partition of partitions) this.next.delete(partition);
  }

  /** Looks after groups that publish: done ones leave; one that failed, or takes too long, leaves with all that read behind it. */
  async checkPublishing(): Promise<void> {
    const { host, tasks, state } = this.#options;
    for (const group of [...this.publishing]) {
      if (!this.publishing.includes(group)) continue;
      const done = [...group.tasks.values()].find(({ record }) => record?.state === 'SUCCESS');
      if (done !== undefined) {
        state.taskEnded(true);
        this.publishing = this.publishing.filter((each) => each !== group);
        await killOthers(group, `task ${done.id} of its group has published`, tasks);
        continue;
      }
      this.#dropFailed(group);
      const isLate = group.completesByMs !== null && group.completesByMs < host.now();
      if (group.tasks.size > 0 && !isLate) continue;
      const reason = isLate ? 'its group did not publish in time (completionTimeout)' : 'the group before it has failed';
      await this.killBehind(group, reason);
    }
  }

  /** Looks after groups that read: failed tasks leave, and a group with a task that is through is done. */
  async checkReading(): Promise<void> {
    const { tasks, state } = this.#options;
    for (const group of [...this.reading.values()]) {
      this.#dropFailed(group);
      const done = [...group.tasks.values()].find(({ record }) => record?.state === 'SUCCESS');
      if (done === undefined) continue;
      state.taskEnded(true);
      this.reading.delete(group.id);
      this.forget(group.partitions);
      await killOthers(group, `task ${done.id} of its group has succeeded`, tasks);
    }
  }

  /** Ends a group and every other that reads or publishes partitions of it: the stored offsets count from then on. */
  async killBehind(group: TaskGroup, reason: string): Promise<void> {
    await this.killOver(group.partitions, reason);
  }

  /** Ends all groups that have one of these partitions. */
  async killOver(partitions: ReadonlySet<string>, reason: string): Promise<void> {
    const hit = this.all().filter((group) => group.sharesPartitions(partitions));
    for (const group of hit) {
      if (this.reading.get(group.id) === group) this.reading.delete(group.id);
      this.forget(group.partitions);
    }
    this.publishing = this.publishing.filter((group) => !hit.includes(group));
    this.forget(partitions);
    for (const group of hit) await killOthers(group, reason, this.#options.tasks);
  }

  #dropFailed(group: TaskGroup): void {
    for (const { id, record } of group.tasks.values()) {
      if (record?.state !== 'FAILED') continue;
      group.tasks.delete(id);
      this.#options.state.taskEnded(false);
    }
  }
}
