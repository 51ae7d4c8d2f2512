// The Overlord's configuration of workers, and how it chooses one for a task.

import { ServiceError } from '../../base/errors.js';
import { describeValue, isRecord } from '../../base/json.js';
import type { Queries } from '../../metadata/database.js';
import { readConfig } from '../../metadata/settings.js';

/** Strategy by which the Overlord chooses a worker: the emptiest one, or the fullest one that still has a free slot. */
export type SelectStrategy = 'equalDistribution' | 'fillCapacity';

/** The Overlord's dynamic configuration, as the interface spells it. */
export interface WorkerConfig {
  readonly type: 'default';
  readonly selectStrategy: { readonly type: SelectStrategy | `${SelectStrategy}WithCategorySpec`; readonly workerCategorySpec?: unknown };
  readonly autoScaler: null;
}

/** The name it is stored and audited under. */
export const WORKER_CONFIG_NAME = 'worker.config';
const WORKER_CONFIG_DEFAULTS: WorkerConfig = { type: 'default', selectStrategy: { type: 'equalDistribution' }, autoScaler: null };

const STRATEGIES = ['equalDistribution', 'fillCapacity', 'equalDistributionWithCategorySpec', 'fillCapacityWithCategorySpec'] as const;

/** The stored configuration, or the defaults. */
export async function readWorkerConfig(queries: Queries): Promise<WorkerConfig> {
  const stored = await readConfig(queries, WORKER_CONFIG_NAME, (value) => {
    if (!isRecord(value)) throw new ServiceError('input_invalid', `found ${describeValue(value)}, expected an object`);
    return parseWorkerConfig(new Map(Object.entries(value)));
  });
  return stored ?? WORKER_CONFIG_DEFAULTS;
}

export function strategyOf({ selectStrategy }: WorkerConfig): SelectStrategy {
  return selectStrategy.type.startsWith('fillCapacity') ? 'fillCapacity' : 'equalDistribution';
}

/** @throws ServiceError `input_invalid` naming the field; `unsupported` for categories of workers and for auto-scaling */
export function parseWorkerConfig(fields: ReadonlyMap<string, unknown>): WorkerConfig {
  refuseStrangers(fields, ['type', 'selectStrategy', 'autoScaler'], '');
  const type = fields.get('type') ?? 'default';
  if (type !== 'default') throw new ServiceError('input_invalid', `type: found ${describeValue(type)}, expected "default"`);
  const autoScaler = fields.get('autoScaler') ?? null;
  if (autoScaler !== null)
    throw new ServiceError('unsupported', 'autoScaler: workers are not started or ended by the Overlord; leave it out or null');
  const written = fields.get('selectStrategy') ?? WORKER_CONFIG_DEFAULTS.selectStrategy;
  if (typeof written !== 'object' || written === null || Array.isArray(written))
    throw new ServiceError('input_invalid', `selectStrategy: found ${describeValue(written)}, expected an object`);
  const strategy = new Map<string, unknown>(Object.entries(written));
  const name = STRATEGIES.find((each) => each === strategy.get('type'));
  if (name === undefined)
    throw new ServiceError(
      'input_invalid',
      `selectStrategy.type: found ${describeValue(strategy.get('type'))}, expected one of ${STRATEGIES.join(', ')}`,
    );
  refuseStrangers(strategy, name.endsWith('WithCategorySpec') ? ['type', 'workerCategorySpec'] : ['type'], 'selectStrategy.');
  const spec = strategy.get('workerCategorySpec') ?? null;
  if (spec === null) return { type, selectStrategy: { type: name }, autoScaler };
  checkCategories(spec);
  return { type, selectStrategy: { type: name, workerCategorySpec: spec }, autoScaler };
}

/** All workers are of one category, so only a spec that names none can be kept to. */
function checkCategories(spec: unknown): void {
  const path = 'selectStrategy.workerCategorySpec';
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec))
    throw new ServiceError('input_invalid', `${path}: found ${describeValue(spec)}, expected an object`);
  const fields = new Map<string, unknown>(Object.entries(spec));
  refuseStrangers(fields, ['categoryMap', 'strong'], `${path}.`);
  const categories = fields.get('categoryMap') ?? {};
  if (typeof categories !== 'object' || Array.isArray(categories))
    throw new ServiceError('input_invalid', `${path}.categoryMap: found ${describeValue(categories)}, expected an object`);
  if (Object.keys(categories).length > 0)
    throw new ServiceError('unsupported', `${path}.categoryMap: workers have no categories yet; expected an empty object`);
  const strong = fields.get('strong') ?? false;
  if (typeof strong !== 'boolean')
    throw new ServiceError('input_invalid', `${path}.strong: found ${describeValue(strong)}, expected true or false`);
}

function refuseStrangers(fields: ReadonlyMap<string, unknown>, known: readonly string[], path: string): void {
  const stranger = [...fields.keys()].find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new ServiceError('input_invalid', `${path}${stranger}: unknown field; accepted are ${known.join(', ')}`);
}
