// Automatic compaction, as the Coordinator has it: configurations, the duty, its times.

import type { Fence } from '../../metadata/leadership.js';
import type { RoleOptions } from '../role-options.js';
import { toServiceError } from '../rpc/message.js';
import { Ticker } from '../ticker.js';
import type { ClusterCompactionConfig } from './cluster-config.js';
import { CompactionConfigs } from './compaction-configs.js';
import { CompactionDuty, type CompactionDutyOptions } from './compaction-duty.js';
import { type CompactionReport, type IntervalStatus, intervalStatus } from './snapshot.js';

export interface CompactionOptions extends RoleOptions, Omit<CompactionDutyOptions, 'configs'> {
  readonly fence: () => Fence;
  readonly periodMs: number;
}

/** Runs the duty while its Coordinator leads: now and then, and when something has changed. */
export class Compaction {
  readonly configs: CompactionConfigs;
  readonly #duty: CompactionDuty;
  readonly #ticker: Ticker;

  constructor(options: CompactionOptions) {
    const { database, fence, readTask, now, log } = options;
    this.configs = new CompactionConfigs({ database, fence, readTask, changed: () => this.wake(), now });
    this.#duty = new CompactionDuty({ ...options, configs: { all: () => this.configs.inEffect() } });
    this.#ticker = new Ticker(
      () => this.#duty.run(),
      options.periodMs,
      (error) => {
        const { code, message } = toServiceError(error);
        if (code !== 'not_leader') log(`coordinator compaction: ${code}: ${message}`);
      },
      options.clock,
    );
  }

  start(): void {
    this.#duty.reset();
    void this.#ticker.start();
  }

  stop(): Promise<void> {
    return this.#ticker.stop();
  }

  wake(): void {
    this.#ticker.wake();
  }

  /** @param dataSource  whose intervals are listed; null: of none */
  report(dataSource: string | null): CompactionReport {
    return { snapshots: this.#duty.snapshots(), intervals: dataSource === null ? [] : this.#duty.intervals(dataSource) };
  }

  /** The intervals of all datasources as they would be under a configuration, those that wait in the order of their tasks. */
  async simulate(cluster: ClusterCompactionConfig): Promise<readonly IntervalStatus[]> {
    return (await this.#duty.simulate(cluster)).map(intervalStatus);
  }
}
