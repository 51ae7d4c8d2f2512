// The Overlord's configuration of workers: how it chooses one for a task.

import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import type { Queries } from '../../metadata/database.js';
import { readConfig } from '../../metadata/settings.js';

/** The Overlord's dynamic configuration, as the interface spells it. */
export interface WorkerConfig {
  readonly type: 'default';
  readonly selectStrategy: SelectStrategy;
  readonly autoScaler: null;
}

/** Rule by which a worker is chosen for a task. */
export interface SelectStrategy {
  readonly type: (typeof STRATEGIES)[number];
  readonly affinityConfig?: AffinityConfig;
  readonly workerCategorySpec?: WorkerCategorySpec;
  readonly taskLimits?: TaskLimits;
}

/** Hosts that are kept for tasks of a datasource. */
export interface AffinityConfig {
  readonly affinity: Readonly<Record<string, readonly string[]>>;
  /** Tasks of these datasources wait for their own workers rather than take others. */
  readonly strong: boolean;
}

/** Categories of workers by the type of the task. */
export interface WorkerCategorySpec {
  readonly categoryMap: Readonly<Record<string, CategoryConfig>>;
  /** Tasks wait for a worker of their category rather than take another. */
  readonly strong: boolean;
}

interface CategoryConfig {
  readonly defaultCategory: string | null;
  /** Category by datasource, and by the supervisor of a stream. */
  readonly categoryAffinity: Readonly<Record<string, string>>;
  readonly supervisorIdCategoryAffinity: Readonly<Record<string, string>>;
}

/** Slots of the whole cluster that tasks of a type may take. */
export interface TaskLimits {
  readonly maxSlotCountByType: Readonly<Record<string, number>>;
  readonly maxSlotRatioByType: Readonly<Record<string, number>>;
}

/** The name it is stored and audited under. */
export const WORKER_CONFIG_NAME = 'worker.config';
const WORKER_CONFIG_DEFAULTS: WorkerConfig = { type: 'default', selectStrategy: { type: 'equalDistribution' }, autoScaler: null };

const WITH_AFFINITY = ['equalDistribution', 'fillCapacity', 'equalDistributionWithAffinity', 'fillCapacityWithAffinity'] as const;
const WITH_CATEGORIES = ['equalDistributionWithCategorySpec', 'fillCapacityWithCategorySpec'] as const;
const STRATEGIES = [...WITH_AFFINITY, ...WITH_CATEGORIES] as const;

/** The stored configuration, or the defaults. */
export async function readWorkerConfig(queries: Queries): Promise<WorkerConfig> {
  return (await readConfig(queries, WORKER_CONFIG_NAME, parseWorkerConfig)) ?? WORKER_CONFIG_DEFAULTS;
}

/** @throws ServiceError `input_invalid` naming the field; `unsupported` for scripts and for auto-scaling */
export function parseWorkerConfig(value: unknown): WorkerConfig {
  const config = new ObjectReader(value, '', readContextOf('input_invalid', 'worker configuration'));
  config.accept(['type', 'selectStrategy', 'autoScaler']);
  const type = config.type(['default'], { otherwise: 'default' });
  if (config.has('autoScaler')) throw config.unsupported('autoScaler', 'workers are not started or ended by the Overlord; leave it out');
  const written = config.optionalObject('selectStrategy');
  return { type, selectStrategy: written === undefined ? WORKER_CONFIG_DEFAULTS.selectStrategy : parseStrategy(written), autoScaler: null };
}

function parseStrategy(strategy: ObjectReader): SelectStrategy {
  const type = strategy.type(STRATEGIES, { otherwise: 'equalDistribution', documented: ['javascript'] });
  const byCategory = WITH_CATEGORIES.some((each) => each === type);
  strategy.accept(byCategory ? ['workerCategorySpec', 'taskLimits'] : ['affinityConfig', 'taskLimits']);
  const affinity = strategy.optionalObject('affinityConfig');
  if (affinity === undefined && type.endsWith('WithAffinity')) throw strategy.mismatch('affinityConfig', 'an object');
  const categories = strategy.optionalObject('workerCategorySpec');
  const limits = strategy.optionalObject('taskLimits');
  return {
    type,
    ...(affinity === undefined ? {} : { affinityConfig: parseAffinity(affinity) }),
    ...(categories === undefined ? {} : { workerCategorySpec: parseCategories(categories) }),
    ...(limits === undefined ? {} : { taskLimits: parseLimits(limits) }),
  };
}

function parseAffinity(config: ObjectReader): AffinityConfig {
  config.accept(['affinity', 'strong']);
  return { affinity: entries(config, 'affinity', (hosts, key) => hosts.strings(key)), strong: config.boolean('strong', false) };
}

function parseCategories(spec: ObjectReader): WorkerCategorySpec {
  spec.accept(['categoryMap', 'strong']);
  const categoryMap = entries(spec, 'categoryMap', (categories, key) => {
    const category = categories.object(key);
    category.accept(['defaultCategory', 'categoryAffinity', 'supervisorIdCategoryAffinity']);
    const byName = (field: string) => entries(category, field, (names, name) => names.string(name));
    return {
      defaultCategory: category.optionalString('defaultCategory') ?? null,
      categoryAffinity: byName('categoryAffinity'),
      supervisorIdCategoryAffinity: byName('supervisorIdCategoryAffinity'),
    };
  });
  return { categoryMap, strong: spec.boolean('strong', false) };
}

function parseLimits(limits: ObjectReader): TaskLimits {
  limits.accept(['maxSlotCountByType', 'maxSlotRatioByType']);
  return {
    maxSlotCountByType: entries(limits, 'maxSlotCountByType', (counts, type) => {
      const count = counts.optionalInteger(type, 0);
      if (count === undefined) throw counts.mismatch(type, 'an integer of at least 0');
      return count;
    }),
    maxSlotRatioByType: entries(limits, 'maxSlotRatioByType', (ratios, type) => {
      const ratio = ratios.raw(type);
      if (typeof ratio !== 'number' || !(ratio > 0 && ratio <= 1)) throw ratios.mismatch(type, 'a number above 0 and at most 1');
      return ratio;
    }),
  };
}

/** An object whose keys are names from outside; absent means empty. */
function entries<Value>(
  reader: ObjectReader,
  field: string,
  read: (object: ObjectReader, key: string) => Value,
): Readonly<Record<string, Value>> {
  const object = reader.optionalObject(field);
  return object === undefined ? {} : Object.fromEntries(object.keys().map((key) => [key, read(object, key)]));
}
