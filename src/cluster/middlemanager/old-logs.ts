// Removes logs of tasks that are too old.

import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DeepStorage } from '../../storage/contract.js';
import type { OldTasksSettings } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import { Ticker } from '../ticker.js';

interface OldLogsOptions {
  readonly logDirectory: string;
  /** Logs of ended tasks, of all workers; null: there are none. */
  readonly logStorage: Pick<DeepStorage, 'type' | 'list' | 'remove'> | null;
  /** null: all are kept. */
  readonly oldTasks: OldTasksSettings | null;
  /** Names of the logs of tasks that run here. */
  readonly inUse: () => ReadonlySet<string>;
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** Longest time that a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Logs of a worker that age out. */
export class OldLogs {
  readonly #options: OldLogsOptions;
  readonly #ticker: Ticker | null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OldLogsOptions) {
    this.#options = options;
    const { oldTasks, log } = options;
    const failed = (error: unknown): void => log(`logs of tasks: ${toServiceError(error).message}`);
    this.#ticker =
      oldTasks === null ? null : new Ticker(() => this.#remove(oldTasks), Math.min(oldTasks.delayMs, LONGEST_TIMER_MS), failed);
  }

  start(): void {
    const { oldTasks } = this.#options;
    if (oldTasks === null) return;
    this.#timer = setTimeout(() => void this.#ticker?.start(), Math.min(oldTasks.initialDelayMs, LONGEST_TIMER_MS));
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#ticker?.stop();
  }

  /** Removes the logs that nobody has written to for so long. */
  async #remove({ retainMs }: OldTasksSettings): Promise<void> {
    const { logDirectory, logStorage, inUse, now, log } = this.#options;
    const beforeMs = now() - retainMs;
    let removed = 0;
    for await (const { name } of await opendir(logDirectory)) {
      const file = join(logDirectory, name);
      // Another worker that shares the folder may have removed it.
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }));
      if (mtimeMs >= beforeMs || !name.endsWith('.log') || inUse().has(name)) continue;
      await rm(file, { force: true });
      removed++;
    }
    if (logStorage !== null)
      for await (const { path, modifiedMs } of logStorage.list()) {
        if (modifiedMs >= beforeMs || inUse().has(path)) continue;
        await logStorage.remove({ type: logStorage.type, path });
        removed++;
      }
    if (removed > 0) log(`removed ${removed} logs of tasks that are too old`);
  }
}
