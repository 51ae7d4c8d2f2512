// The compaction configuration of a datasource.

import { ServiceError } from '../../base/errors.js';
import { ETERNITY, type Interval } from '../../base/instant.js';
import { formatInterval } from '../../base/interval.js';
import { stringifyJson } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { type Period, parsePeriod } from '../../base/time.js';
import { type Granularity, parseGranularity } from '../../model/granularity.js';

export type CompactionEngine = 'native' | 'msq';
const ENGINES = ['native', 'msq'] as const;

type JsonObject = Readonly<Record<string, unknown>>;

/** A configuration as it is stored and shown, its defaults written out. */
export interface CompactionConfig {
  readonly dataSource: string;
  readonly taskPriority: number;
  readonly inputSegmentSizeBytes: number;
  readonly maxRowsPerSegment: number | null;
  readonly skipOffsetFromLatest: string;
  readonly tuningConfig: JsonObject | null;
  readonly granularitySpec: JsonObject | null;
  readonly dimensionsSpec: JsonObject | null;
  readonly metricsSpec: readonly unknown[] | null;
  readonly transformSpec: JsonObject | null;
  readonly projections: null;
  readonly ioConfig: JsonObject | null;
  /** null: that of the cluster. */
  readonly engine: CompactionEngine | null;
  readonly taskContext: JsonObject | null;
}

const TASK_PRIORITY = 25;
/** Some 100 TB, as documented: no bound. */
const INPUT_SEGMENT_SIZE_BYTES = 100_000_000_000_000;
const SKIP_OFFSET = 'P1D';

/**
 * Reads a configuration as far as that goes without reading it as a task: `taskPayload` of it must be accepted, too.
 * @throws ServiceError `input_invalid` or `unsupported` naming the field
 */
export function parseCompactionConfig(fields: ObjectReader): CompactionConfig {
  fields.type(['inline'], { otherwise: 'inline', documented: ['catalog'] });
  const dataSource = fields.string('dataSource');
  if (dataSource === '') throw fields.mismatch('dataSource', 'the name of a datasource');
  const object = (key: string): JsonObject | null => fields.optionalObject(key)?.members ?? null;
  const config: CompactionConfig = {
    dataSource,
    taskPriority: fields.optionalInteger('taskPriority', -(2 ** 31), 2 ** 31 - 1) ?? TASK_PRIORITY,
    inputSegmentSizeBytes: fields.optionalInteger('inputSegmentSizeBytes', 0) ?? INPUT_SEGMENT_SIZE_BYTES,
    maxRowsPerSegment: fields.optionalInteger('maxRowsPerSegment', 1) ?? null,
    skipOffsetFromLatest: fields.optionalString('skipOffsetFromLatest') ?? SKIP_OFFSET,
    tuningConfig: object('tuningConfig'),
    granularitySpec: object('granularitySpec'),
    dimensionsSpec: object('dimensionsSpec'),
    metricsSpec: fields.has('metricsSpec') ? fields.array('metricsSpec') : null,
    transformSpec: object('transformSpec'),
    projections: null,
    ioConfig: object('ioConfig'),
    engine: fields.has('engine') ? fields.choice('engine', ENGINES) : null,
    taskContext: object('taskContext'),
  };
  if (fields.array('projections').length > 0) throw fields.unsupported('projections', 'segments have no projections');
  const period = parsePeriod(config.skipOffsetFromLatest);
  if (period === undefined || period.months < 0 || period.days < 0 || period.milliseconds < 0)
    throw fields.mismatch('skipOffsetFromLatest', 'an ISO 8601 period such as P1D');
  const io = fields.optionalObject('ioConfig');
  io?.accept(['dropExisting']);
  const context = fields.optionalObject('taskContext');
  if (context?.boolean('storeCompactionState', true) === false)
    throw context.unsupported('storeCompactionState', 'an interval would be compacted again and again');
  fields.end();
  return config;
}

export function skipOffsetOf({ skipOffsetFromLatest }: CompactionConfig): Period {
  const period = parsePeriod(skipOffsetFromLatest);
  if (period === undefined) throw new ServiceError('internal', `skipOffsetFromLatest was not checked: ${skipOffsetFromLatest}`);
  return period;
}

/** null: time chunks stay as they are. */
export function segmentGranularityOf({ granularitySpec }: CompactionConfig): Granularity | null {
  const written = granularitySpec?.['segmentGranularity'] ?? null;
  return written === null ? null : parseGranularity(written, 'granularitySpec.segmentGranularity', 'input_invalid');
}

export interface CompactionTask {
  readonly id: string;
  readonly interval: Interval;
}

/** JSON of the task that compacts an interval by a configuration; without a task, of one over all time, to be checked. */
export function taskPayload(config: CompactionConfig, engine: CompactionEngine, task: CompactionTask | null): string {
  const { dataSource, taskPriority, maxRowsPerSegment, granularitySpec, dimensionsSpec, metricsSpec, transformSpec, ioConfig } = config;
  const optional = { granularitySpec, dimensionsSpec, metricsSpec, transformSpec };
  return stringifyJson({
    type: 'compact',
    ...(task === null ? {} : { id: task.id }),
    dataSource,
    ioConfig: { type: 'compact', inputSpec: { type: 'interval', interval: formatInterval(task?.interval ?? ETERNITY) }, ...ioConfig },
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== null)),
    tuningConfig: { type: 'index_parallel', ...(maxRowsPerSegment === null ? {} : { maxRowsPerSegment }), ...config.tuningConfig },
    compactionRunner: { type: config.engine ?? engine },
    context: { ...config.taskContext, priority: taskPriority, storeCompactionState: true },
  });
}
