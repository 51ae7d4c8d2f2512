// Finds running tasks that their workers have never heard of.

import type { TaskRecord } from '../../metadata/tasks.js';
import type { WorkerStatus } from '../rpc/services.js';

const keyOf = ({ id, attempts }: Pick<TaskRecord, 'id' | 'attempts'>): string => `${id} ${attempts}`;

/**
 * Finds runs that were recorded and then got lost on their way: the leader that recorded them ended before it told the worker, or could
 * reach neither the worker nor, after that, the metadata store. The worker is there, so nobody misses it, and its task would stay where it is for ever.
 */
export class UnheardRuns {
  /** Runs that their workers have heard of: those end them, or are missed themselves. */
  readonly #heard = new Set<string>();

  /** A worker has said that it runs a task. */
  heard(taskId: string, attempts: number): void {
    this.#heard.add(keyOf({ id: taskId, attempts }));
  }

  /**
   * @param running  tasks that run on workers which are there
   * @param workers  asks the workers, after the tasks were read: one that ended meanwhile is unknown to its worker, and is not running any more either
   */
  async find(running: readonly TaskRecord[], workers: () => Promise<readonly WorkerStatus[]>): Promise<readonly TaskRecord[]> {
    const there = new Set(running.map(keyOf));
    for (const key of this.#heard) if (!there.has(key)) this.#heard.delete(key);
    const open = running.filter((task) => !this.#heard.has(keyOf(task)));
    if (open.length === 0) return [];
    const answers = await workers();
    return open.filter((task) => {
      const worker = answers.find(({ host, session }) => host === task.workerHost && session === task.workerSession);
      // One that does not answer may run it, and one of an earlier version does not tell what it still has to report.
      if (worker?.endingTasks === undefined) return false;
      if (!worker.runningTasks.includes(task.id) && !worker.endingTasks.includes(task.id)) return true;
      this.heard(task.id, task.attempts);
      return false;
    });
  }
}
