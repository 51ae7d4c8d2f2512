// Chooses how many groups of tasks read a stream, by how far they are behind.

import type { AutoScalerConfig, CostScaler, LagScaler } from '../../../ingestion/stream/auto-scaler-config.js';
import type { SupervisorSpec } from '../../../ingestion/stream/supervisor-spec.js';
import { toServiceError } from '../../rpc/message.js';
import { Ticker } from '../../ticker.js';
import type { Lag } from './stream-view.js';

export interface ScaledSupervisor {
  now(): number;
  lag(): Lag | null;
  taskCount(): number;
  partitionCount(): number;
  /** Whether it reads, and no group publishes. */
  mayScale(): boolean;
  scale(count: number): Promise<void>;
  log(line: string): void;
}

export class AutoScaler {
  readonly #config: AutoScalerConfig;
  readonly #supervisor: ScaledSupervisor;
  readonly #ticker: Ticker;
  /** Lags since the last change, oldest first. */
  #lags: number[] = [];
  #startedMs = 0;
  #lookedMs = 0;
  #scaledMs = Number.NEGATIVE_INFINITY;

  constructor(config: AutoScalerConfig, supervisor: ScaledSupervisor) {
    this.#config = config;
    this.#supervisor = supervisor;
    const periodMs = config.strategy === 'lagBased' ? config.collectionIntervalMs : config.actionPeriodMs;
    this.#ticker = new Ticker(
      () => this.look(),
      periodMs,
      (error) => supervisor.log(toServiceError(error).message),
    );
  }

  /** null: the spec has none that is enabled. */
  static of({ io }: SupervisorSpec, supervisor: ScaledSupervisor): AutoScaler | null {
    return io.autoScaler?.isEnabled === true ? new AutoScaler(io.autoScaler, supervisor) : null;
  }

  start(): void {
    this.#startedMs = this.#supervisor.now();
    void this.#ticker.start();
  }

  stop(): void {
    void this.#ticker.stop();
  }

  /** Notes the lag, and changes the number of groups when it is time to. */
  async look(): Promise<void> {
    const config = this.#config;
    const now = this.#supervisor.now();
    const lag = this.#supervisor.lag();
    if (config.strategy === 'lagBased') {
      if (now - this.#startedMs < config.startDelayMs) return;
      this.#lags.push(Math.max(0, lag === null ? 0 : { SUM: lag.sum, MAX: lag.max, AVERAGE: lag.average }[config.lagAggregate]));
      this.#lags = this.#lags.slice(-Math.ceil(config.collectionRangeMs / config.collectionIntervalMs));
      if (now - this.#startedMs < config.startDelayMs + config.collectionRangeMs) return;
    }
    if (now - this.#lookedMs < config.actionPeriodMs || !this.#supervisor.mayScale()) return;
    this.#lookedMs = now;
    const place = { taskCount: this.#supervisor.taskCount(), partitionCount: this.#supervisor.partitionCount() };
    const wanted = config.strategy === 'lagBased' ? countByLag(config, this.#lags, place) : countByCost(config, lag, place);
    if (wanted === null || wanted === place.taskCount || now - this.#scaledMs < config.minTriggerMs) return;
    if (config.strategy === 'costBased' && wanted < place.taskCount && now - this.#scaledMs < config.minScaleDownDelayMs) return;
    await this.#supervisor.scale(wanted);
    this.#scaledMs = now;
    this.#lags = [];
  }
}

interface Place {
  readonly taskCount: number;
  readonly partitionCount: number;
}

/** Number of groups by the share of lags beyond two thresholds; null: as they are. */
export function countByLag(config: LagScaler, lags: readonly number[], { taskCount, partitionCount }: Place): number | null {
  if (partitionCount === 0 || lags.length === 0) return null;
  const [least, most] = [Math.min(config.taskCountMin, partitionCount), Math.min(config.taskCountMax, partitionCount)];
  if (taskCount < least || taskCount > most) return Math.min(most, Math.max(least, taskCount));
  const share = (fits: (lag: number) => boolean): number => lags.filter(fits).length / lags.length;
  if (share((lag) => lag >= config.scaleOutThreshold) >= config.scaleOutFraction)
    return taskCount === most ? null : Math.min(taskCount + config.scaleOutStep, most);
  if (share((lag) => lag <= config.scaleInThreshold) >= config.scaleInFraction)
    return taskCount === least ? null : Math.max(taskCount - config.scaleInStep, least);
  return null;
}

/** Records that a task is taken to read in a second, where nothing was measured. */
const ASSUMED_RATE = 1000;
/** Partitions of a task may become this many more or fewer in one step, with `useTaskCountBoundaries`. */
const STEP_PARTITIONS = 2;

/**
 * Number of groups with the least cost: the time to catch up, and the share of time in which tasks would wait, each by its weight. More
 * tasks catch up sooner and wait more.
 */
export function countByCost(config: CostScaler, lag: Lag | null, { taskCount, partitionCount }: Place): number | null {
  if (partitionCount === 0 || lag === null) return null;
  const [least, most] = [Math.min(config.taskCountMin, partitionCount), Math.min(config.taskCountMax, partitionCount)];
  if (config.highLagThreshold > 0 && lag.average > config.highLagThreshold) return most === taskCount ? null : most;
  const costOf = (count: number): number => {
    const catchUp = lag.sum / (count * ASSUMED_RATE);
    const idle = lag.sum === 0 ? 1 - least / count : Math.max(0, 1 - catchUp / (config.actionPeriodMs / 1000)) * (1 - least / count);
    return config.lagWeight * (catchUp / (config.actionPeriodMs / 1000)) + config.idleWeight * idle;
  };
  const perTask = Math.ceil(partitionCount / taskCount);
  let best = Math.min(most, Math.max(least, taskCount));
  for (let count = least; count <= most; count++) {
    if (config.useTaskCountBoundaries && Math.abs(Math.ceil(partitionCount / count) - perTask) > STEP_PARTITIONS) continue;
    if (costOf(count) < costOf(best) - Number.EPSILON) best = count;
  }
  return best === taskCount ? null : best;
}
