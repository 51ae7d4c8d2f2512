// The compaction configuration of the cluster: slots, engine, and which interval comes first.

import type { Interval } from '../../base/instant.js';
import { parseInterval } from '../../base/interval.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { CompactionEngine } from './compaction-config.js';

/** Intervals that an order may list: each candidate is looked for among them. */
const ELIGIBLE_MAX = 1000;

export type CompactionPolicy =
  | { readonly type: 'newestSegmentFirst'; readonly priorityDatasource?: string }
  | {
      readonly type: 'fixedIntervalOrder';
      readonly eligibleCandidates: readonly { readonly datasource: string; readonly interval: string }[];
    }
  | {
      readonly type: 'mostFragmentedFirst';
      readonly minUncompactedCount: number;
      readonly minUncompactedBytes: number;
      readonly maxAverageUncompactedBytesPerSegment: number;
      readonly priorityDatasource?: string;
    };

/** The configuration as it is stored and shown. */
export interface ClusterCompactionConfig {
  readonly compactionTaskSlotRatio: number;
  readonly maxCompactionTaskSlots: number;
  readonly compactionPolicy: CompactionPolicy;
  /** Whether a client asks for supervisors; they compact in either case. */
  readonly useSupervisors: boolean;
  readonly engine: CompactionEngine;
  readonly storeCompactionStatePerSegment: true;
}

const SLOTS_MAX = 2 ** 31 - 1;

export const CLUSTER_DEFAULTS: ClusterCompactionConfig = {
  compactionTaskSlotRatio: 0.1,
  maxCompactionTaskSlots: SLOTS_MAX,
  compactionPolicy: { type: 'newestSegmentFirst' },
  useSupervisors: false,
  engine: 'native',
  storeCompactionStatePerSegment: true,
};

/**
 * Fields that are left out keep their value of `current`.
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export function parseClusterConfig(fields: ObjectReader, current = CLUSTER_DEFAULTS): ClusterCompactionConfig {
  if (!fields.boolean('storeCompactionStatePerSegment', true))
    throw fields.unsupported('storeCompactionStatePerSegment', 'each segment says how it was made; expected true');
  const config: ClusterCompactionConfig = {
    ...current,
    compactionTaskSlotRatio: ratioOf(fields, current.compactionTaskSlotRatio),
    maxCompactionTaskSlots: fields.optionalInteger('maxCompactionTaskSlots', 0, SLOTS_MAX) ?? current.maxCompactionTaskSlots,
    compactionPolicy: fields.has('compactionPolicy') ? parsePolicy(fields.object('compactionPolicy')) : current.compactionPolicy,
    useSupervisors: fields.boolean('useSupervisors', current.useSupervisors),
    engine: fields.has('engine') ? fields.choice('engine', ['native', 'msq']) : current.engine,
  };
  fields.end();
  return config;
}

function ratioOf(fields: ObjectReader, otherwise: number): number {
  const value = fields.raw('compactionTaskSlotRatio') ?? otherwise;
  const ratio = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof ratio !== 'number' || !(ratio >= 0 && ratio <= 1)) throw fields.mismatch('compactionTaskSlotRatio', 'a number from 0 to 1');
  return ratio;
}

function parsePolicy(fields: ObjectReader): CompactionPolicy {
  const type = fields.type(['newestSegmentFirst', 'fixedIntervalOrder', 'mostFragmentedFirst']);
  const priorityDatasource = fields.optionalString('priorityDatasource') ?? '';
  const priority = priorityDatasource === '' ? {} : { priorityDatasource };
  if (type === 'newestSegmentFirst') {
    fields.accept(['priorityDatasource']);
    return { type, ...priority };
  }
  if (type === 'fixedIntervalOrder') {
    fields.accept(['eligibleCandidates']);
    if (fields.array('eligibleCandidates').length > ELIGIBLE_MAX)
      throw fields.invalid('eligibleCandidates', `expected at most ${ELIGIBLE_MAX} intervals`);
    return { type, eligibleCandidates: fields.objects('eligibleCandidates').map(parseEligible) };
  }
  fields.accept([
    'minUncompactedCount',
    'minUncompactedBytes',
    'maxAverageUncompactedBytesPerSegment',
    'minUncompactedBytesPercentForFullCompaction',
    'minUncompactedRowsPercentForFullCompaction',
    'priorityDatasource',
  ]);
  for (const key of ['minUncompactedBytesPercentForFullCompaction', 'minUncompactedRowsPercentForFullCompaction'])
    if ((fields.optionalInteger(key, 0, 99) ?? 0) > 0) throw fields.unsupported(key, 'an interval is compacted as a whole; expected 0');
  return {
    type,
    minUncompactedCount: fields.optionalInteger('minUncompactedCount', 1) ?? 100,
    minUncompactedBytes: bytesOf(fields, 'minUncompactedBytes', 10 * 2 ** 20),
    maxAverageUncompactedBytesPerSegment: Math.max(1, bytesOf(fields, 'maxAverageUncompactedBytesPerSegment', 2 ** 31)),
    ...priority,
  };
}

function parseEligible(fields: ObjectReader): { datasource: string; interval: string } {
  fields.accept(['datasource', 'interval']);
  const interval = fields.string('interval');
  if (parseInterval(interval) === undefined) throw fields.mismatch('interval', 'an interval such as 2015-09-12/2015-09-13');
  return { datasource: fields.string('datasource'), interval };
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ...['K', 'M', 'G', 'T', 'P'].flatMap((unit, position): [string, number][] => [
    [unit, 1000 ** (position + 1)],
    [`${unit}I`, 1024 ** (position + 1)],
  ]),
]);

/** A number of bytes, or one with a unit, such as 10MiB. */
function bytesOf(fields: ObjectReader, key: string, otherwise: number): number {
  const value = fields.raw(key) ?? otherwise;
  const [, digits, unit] = /^(\d+)\s*([KMGTP]?i?)B?$/i.exec(String(value)) ?? [];
  const factor = UNITS.get((unit ?? '').toUpperCase());
  if (digits === undefined || factor === undefined) throw fields.mismatch(key, 'a number of bytes such as 10485760 or 10MiB');
  return Number(digits) * factor;
}

/** Intervals of `fixedIntervalOrder`, which were checked when they were stored. */
export function eligibleInterval(written: string): Interval {
  return parseInterval(written) ?? { start: 0, end: 0 };
}
