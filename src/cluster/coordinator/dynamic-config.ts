// The Coordinator's dynamic configuration: its fields, defaults and checks.

import { ServiceError } from '../../base/errors.js';
import { describeValue, isRecord } from '../../base/json.js';
import { nearestName } from '../../base/nearest-name.js';

/** The name it is stored and audited under. */
export const DYNAMIC_CONFIG_NAME = 'coordinator.config';

const NONE: readonly string[] = [];
const INTEGER_MAX = 2 ** 31 - 1;

export const DYNAMIC_CONFIG_DEFAULTS = {
  millisToWaitBeforeDeleting: 900_000,
  maxSegmentsToMove: 100,
  replicantLifetime: 15,
  replicationThrottleLimit: 500,
  balancerComputeThreads: 1,
  killDataSourceWhitelist: NONE,
  killTaskSlotRatio: 0.1,
  maxKillTaskSlots: INTEGER_MAX,
  killPendingSegmentsSkipList: NONE,
  maxSegmentsInNodeLoadingQueue: 500,
  decommissioningNodes: NONE,
  pauseCoordination: false,
  replicateAfterLoadTimeout: false,
  useRoundRobinSegmentAssignment: true,
  smartSegmentLoading: true,
};

/**
 * The Coordinator's dynamic configuration, flat, as the interface spells it. Under `smartSegmentLoading`, which is
 * always on here, the Coordinator chooses by itself what the limits on queues, throttles and threads would say: they are kept and
 * shown, as documented. `maxSegmentsToMove` is an upper bound of what it chooses.
 */
export type DynamicConfig = Readonly<typeof DYNAMIC_CONFIG_DEFAULTS>;

/** A stored document. @throws ServiceError like `mergeDynamicConfig` */
export function parseDynamicConfig(stored: unknown): DynamicConfig {
  if (!isRecord(stored)) throw new ServiceError('input_invalid', `found ${describeValue(stored)}, expected an object`);
  return mergeDynamicConfig(
    DYNAMIC_CONFIG_DEFAULTS,
    new Map(Object.entries(stored).map(([name, value]) => [name, withinBounds(name, value)])),
  );
}

/** Earlier versions took and stored integers of any size. */
function withinBounds(name: string, value: unknown): unknown {
  return Number.isInteger(value) ? Math.min(Math.max(Number(value), 0), largestOf(name)) : value;
}

/** Largest integer of a field: times are 64 bits wide, as far as JSON numbers are exact, everything else 32. */
function largestOf(name: string): number {
  return name === 'millisToWaitBeforeDeleting' ? Number.MAX_SAFE_INTEGER : INTEGER_MAX;
}

/**
 * @throws ServiceError `input_invalid` for an unknown field, a value of another type than the default has, or a number out of bounds,
 *   `unsupported` for smartSegmentLoading=false
 */
export function mergeDynamicConfig(current: DynamicConfig, changes: ReadonlyMap<string, unknown>): DynamicConfig {
  const known = new Map<string, number | boolean | readonly string[]>(Object.entries(DYNAMIC_CONFIG_DEFAULTS));
  const read = new Map<string, unknown>();
  for (const [name, written] of changes) {
    const fallback = known.get(name);
    if (fallback === undefined) {
      const nearest = nearestName(name, [...known.keys()]);
      throw new ServiceError('input_invalid', `${name}: unknown field${nearest === undefined ? '' : `; did you mean ${nearest}?`}`);
    }
    const value = LISTS_AS_TEXT.has(name) && typeof written === 'string' ? namesOf(written) : written;
    const isRatio = name === 'killTaskSlotRatio';
    const accepted = isRatio
      ? 'a number from 0 to 1'
      : typeof fallback === 'number'
        ? `an integer from 0 to ${largestOf(name)}`
        : typeof fallback === 'boolean'
          ? 'true or false'
          : 'an array of strings';
    const fits =
      typeof fallback === 'object'
        ? Array.isArray(value) && value.every((each) => typeof each === 'string')
        : typeof fallback === 'number'
          ? isRatio
            ? typeof value === 'number' && value >= 0 && value <= 1
            : Number.isInteger(value) && Number(value) >= 0 && Number(value) <= largestOf(name)
          : typeof value === 'boolean';
    if (name === 'smartSegmentLoading' && value === false)
      throw new ServiceError(
        'unsupported',
        'smartSegmentLoading: false is not supported; the Coordinator always chooses these limits by itself',
      );
    if (!fits) throw new ServiceError('input_invalid', `${name}: found ${describeValue(value)}, expected ${accepted}`);
    read.set(name, value);
  }
  return { ...current, ...Object.fromEntries(read) };
}

/** Lists of names that may be written as text with commas. */
const LISTS_AS_TEXT: ReadonlySet<string> = new Set(['killDataSourceWhitelist', 'killPendingSegmentsSkipList']);

function namesOf(text: string): readonly string[] {
  return text.split(',').flatMap((name) => (name.trim() === '' ? [] : [name.trim()]));
}
