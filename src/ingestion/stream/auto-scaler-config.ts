// Reads the `autoScalerConfig` of a supervisor.

import type { ObjectReader } from '../../base/json-reader.js';
import { durationMs, numberOf } from './duration.js';

type LagAggregate = 'SUM' | 'MAX' | 'AVERAGE';

interface ScalerBounds {
  readonly isEnabled: boolean;
  readonly taskCountMin: number;
  readonly taskCountMax: number;
  readonly taskCountStart: number | null;
  /** Shortest time between two changes. */
  readonly minTriggerMs: number;
  /** Share of the tasks that may stop at once; null: as `stopTaskCount` says. */
  readonly stopTaskCountRatio: number | null;
  readonly actionPeriodMs: number;
}

export interface LagScaler extends ScalerBounds {
  readonly strategy: 'lagBased';
  readonly collectionIntervalMs: number;
  readonly collectionRangeMs: number;
  readonly startDelayMs: number;
  readonly scaleOutThreshold: number;
  readonly scaleInThreshold: number;
  readonly scaleOutFraction: number;
  readonly scaleInFraction: number;
  readonly scaleOutStep: number;
  readonly scaleInStep: number;
  readonly lagAggregate: LagAggregate;
}

export interface CostScaler extends ScalerBounds {
  readonly strategy: 'costBased';
  readonly lagWeight: number;
  readonly idleWeight: number;
  readonly useTaskCountBoundaries: boolean;
  /** Mean lag of a partition at which all tasks are asked for; negative: none. */
  readonly highLagThreshold: number;
  readonly minScaleDownDelayMs: number;
  readonly scaleDownDuringTaskRolloverOnly: boolean;
}

export type AutoScalerConfig = LagScaler | CostScaler;

const COMMON = [
  'enableTaskAutoScaler',
  'taskCountMin',
  'taskCountMax',
  'taskCountStart',
  'minTriggerScaleActionFrequencyMillis',
  'autoScalerStrategy',
  'stopTaskCountRatio',
  'scaleActionPeriodMillis',
];
const LAG = [
  'lagCollectionIntervalMillis',
  'lagCollectionRangeMillis',
  'scaleActionStartDelayMillis',
  'scaleOutThreshold',
  'scaleInThreshold',
  'triggerScaleOutFractionThreshold',
  'triggerScaleInFractionThreshold',
  'scaleOutStep',
  'scaleInStep',
  'lagAggregate',
];
const COST = [
  'lagWeight',
  'idleWeight',
  'useTaskCountBoundaries',
  'highLagThreshold',
  'minScaleDownDelay',
  'scaleDownDuringTaskRolloverOnly',
];

/** @throws ServiceError naming the field */
export function parseAutoScaler(fields: ObjectReader): AutoScalerConfig {
  const strategy = fields.choice('autoScalerStrategy', ['lagBased', 'costBased'], 'lagBased');
  fields.accept([...COMMON, ...(strategy === 'lagBased' ? LAG : COST)]);
  const integer = (key: string, otherwise: number, min = 0): number => fields.optionalInteger(key, min) ?? otherwise;
  const isEnabled = fields.boolean('enableTaskAutoScaler', false);
  const taskCountMin = isEnabled ? countOf(fields, 'taskCountMin') : integer('taskCountMin', 1, 1);
  const taskCountMax = isEnabled ? countOf(fields, 'taskCountMax') : integer('taskCountMax', taskCountMin, 1);
  if (taskCountMax < taskCountMin) throw fields.invalid('taskCountMax', `${taskCountMax} is below taskCountMin, ${taskCountMin}`);
  const taskCountStart = fields.optionalInteger('taskCountStart', 1) ?? null;
  if (taskCountStart !== null && (taskCountStart < taskCountMin || taskCountStart > taskCountMax))
    throw fields.invalid('taskCountStart', `${taskCountStart} is not between taskCountMin and taskCountMax`);
  const ratio = fields.has('stopTaskCountRatio') ? numberOf(fields, 'stopTaskCountRatio', 1, Number.MIN_VALUE, 1) : null;
  const bounds = {
    isEnabled,
    taskCountMin,
    taskCountMax,
    taskCountStart,
    minTriggerMs: integer('minTriggerScaleActionFrequencyMillis', 600_000),
    stopTaskCountRatio: ratio,
  };
  if (strategy === 'costBased')
    return {
      ...bounds,
      strategy,
      actionPeriodMs: integer('scaleActionPeriodMillis', 600_000, 1),
      lagWeight: numberOf(fields, 'lagWeight', 0.25, 0),
      idleWeight: numberOf(fields, 'idleWeight', 0.75, 0),
      useTaskCountBoundaries: fields.boolean('useTaskCountBoundaries', false),
      highLagThreshold: numberOf(fields, 'highLagThreshold', -1, -Number.MAX_VALUE),
      minScaleDownDelayMs: durationMs(fields, 'minScaleDownDelay') ?? 1_800_000,
      scaleDownDuringTaskRolloverOnly: fields.boolean('scaleDownDuringTaskRolloverOnly', false),
    };
  return {
    ...bounds,
    strategy,
    actionPeriodMs: integer('scaleActionPeriodMillis', 60_000, 1),
    collectionIntervalMs: integer('lagCollectionIntervalMillis', 30_000, 1),
    collectionRangeMs: integer('lagCollectionRangeMillis', 600_000, 1),
    startDelayMs: integer('scaleActionStartDelayMillis', 300_000),
    scaleOutThreshold: numberOf(fields, 'scaleOutThreshold', 6_000_000, 0),
    scaleInThreshold: numberOf(fields, 'scaleInThreshold', 1_000_000, 0),
    scaleOutFraction: numberOf(fields, 'triggerScaleOutFractionThreshold', 0.3, 0, 1),
    scaleInFraction: numberOf(fields, 'triggerScaleInFractionThreshold', 0.9, 0, 1),
    scaleOutStep: integer('scaleOutStep', 2, 1),
    scaleInStep: integer('scaleInStep', 1, 1),
    lagAggregate: fields.choice('lagAggregate', ['SUM', 'MAX', 'AVERAGE'], 'SUM'),
  };
}

function countOf(fields: ObjectReader, key: string): number {
  const count = fields.optionalInteger(key, 1);
  if (count === undefined) throw fields.mismatch(key, 'a number of tasks of at least 1');
  return count;
}
