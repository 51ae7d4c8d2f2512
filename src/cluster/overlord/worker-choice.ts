// Chooses a worker for a task.

import { own } from '../../base/names.js';
import type { TaskRecord } from '../../metadata/tasks.js';
import type { SelectStrategy, TaskLimits } from './worker-config.js';

/** A worker that tasks may be given to; `slots` are its free ones. */
export interface FreeWorker {
  readonly host: string;
  readonly session: string;
  readonly category: string;
  slots: number;
}

/** Slots of all workers, and those that running tasks take by their type. */
export interface SlotUse {
  readonly total: number;
  readonly byType: ReadonlyMap<string, number>;
}

type Task = Pick<TaskRecord, 'type' | 'dataSource'>;

/** The worker that a task is given to; undefined when none that it may take has a free slot. */
export function chooseWorker(task: Task, workers: readonly FreeWorker[], use: SlotUse, strategy: SelectStrategy): FreeWorker | undefined {
  const { affinityConfig, workerCategorySpec, taskLimits } = strategy;
  if (taskLimits !== undefined && (use.byType.get(task.type) ?? 0) >= slotLimit(task.type, use.total, taskLimits)) return undefined;
  const pick = strategy.type.startsWith('fillCapacity') ? fullest : emptiest;

  if (affinityConfig !== undefined) {
    const kept = new Set(Object.values(affinityConfig.affinity).flat());
    const hosts = own(affinityConfig.affinity, task.dataSource);
    const preferred = hosts === undefined ? undefined : pick(workers.filter(({ host }) => hosts.includes(host)));
    if (preferred !== undefined || (hosts !== undefined && affinityConfig.strong)) return preferred;
    return pick(workers.filter(({ host }) => !kept.has(host)));
  }
  if (workerCategorySpec !== undefined) {
    const config = own(workerCategorySpec.categoryMap, task.type);
    const category = config && (own(config.categoryAffinity, task.dataSource) ?? config.defaultCategory);
    if (category !== undefined && category !== null) {
      const preferred = pick(workers.filter((worker) => worker.category === category));
      if (preferred !== undefined || workerCategorySpec.strong) return preferred;
    }
  }
  return pick(workers);
}

/** The lower of both limits; a share of the slots is at least one. */
function slotLimit(type: string, total: number, { maxSlotCountByType, maxSlotRatioByType }: TaskLimits): number {
  const ratio = own(maxSlotRatioByType, type);
  const share = ratio === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(ratio * total));
  return Math.min(own(maxSlotCountByType, type) ?? Number.POSITIVE_INFINITY, share);
}

function emptiest(workers: readonly FreeWorker[]): FreeWorker | undefined {
  return byFreeSlots(workers)[0];
}

function fullest(workers: readonly FreeWorker[]): FreeWorker | undefined {
  return byFreeSlots(workers).at(-1);
}

function byFreeSlots(workers: readonly FreeWorker[]): readonly FreeWorker[] {
  return workers.filter(({ slots }) => slots > 0).toSorted((a, b) => b.slots - a.slots);
}
