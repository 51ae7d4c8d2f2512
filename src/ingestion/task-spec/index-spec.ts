// Reads the `spec` of an `index_parallel` or `index` task.

import { ETERNITY, type Interval } from '../../base/instant.js';
import { condenseIntervals } from '../../base/interval.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { bucketsOf } from '../../model/granularity.js';
import type { PublishRequest } from '../../model/publication.js';
import type { InputFormat } from '../format/format-kind.js';
import { parseInputFormat } from '../format/input-format.js';
import { parseInputSource } from '../source/input-source.js';
import type { InputSource } from '../source/source-kind.js';
import { type DataSchema, type GranularitySpec, parseDataSchema } from './data-schema.js';
import { parseTuningConfig, type TuningConfig } from './tuning-config.js';

/** The `spec` of an `index_parallel` or `index` task. */
export interface IndexSpec {
  /** Whether sub-tasks may do the work. */
  readonly isParallel: boolean;
  readonly dataSchema: DataSchema;
  readonly inputSource: InputSource;
  /** null: the source needs none. */
  readonly inputFormat: InputFormat | null;
  readonly appendToExisting: boolean;
  /** Replaces all of `granularitySpec.intervals`, also the chunks that get no row. */
  readonly dropExisting: boolean;
  readonly tuning: TuningConfig;
  /** Spec with defaults written out. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** @throws ServiceError `input_invalid` or `unsupported` naming the field */
export function parseIndexSpec(fields: ObjectReader, taskType: 'index_parallel' | 'index'): IndexSpec {
  fields.accept(['dataSchema', 'ioConfig', 'tuningConfig']);
  const io = fields.object('ioConfig');
  io.accept(['inputSource', 'inputFormat', 'appendToExisting', 'dropExisting', 'firehose']);
  io.type(['index_parallel', 'index'], { otherwise: taskType });
  if (io.has('firehose')) throw io.unsupported('firehose', 'give an inputSource and an inputFormat');
  const appendToExisting = io.boolean('appendToExisting', false);
  const dropExisting = io.boolean('dropExisting', false);
  const dataSchema = parseDataSchema(fields.object('dataSchema'));
  if (appendToExisting && dropExisting) throw io.invalid('dropExisting', 'cannot be true with appendToExisting');
  if (dropExisting && dataSchema.granularity.intervals.length === 0)
    throw io.invalid('dropExisting', 'needs granularitySpec.intervals, which it replaces');
  const tuning = parseTuningConfig(fields.optionalObject('tuningConfig'), taskType);
  if (appendToExisting && tuning.partitions.kind !== 'dynamic')
    throw io.invalid('appendToExisting', 'cannot be true with hashed, single_dim or range partitions, which divide a whole chunk');
  const inputSource = parseInputSource(io.object('inputSource'));
  // Public specs name a format beside sources that have none; it is checked, and nothing is left for it to do.
  if (!inputSource.needsFormat && io.has('inputFormat')) parseInputFormat(io.object('inputFormat'));
  return {
    isParallel: taskType === 'index_parallel',
    dataSchema,
    inputSource,
    inputFormat: inputSource.needsFormat ? parseInputFormat(io.object('inputFormat')) : null,
    appendToExisting,
    dropExisting,
    tuning,
    source: {
      dataSchema: fields.raw('dataSchema'),
      ioConfig: {
        type: taskType,
        inputSource: io.raw('inputSource'),
        inputFormat: io.raw('inputFormat'),
        appendToExisting,
        dropExisting,
      },
      tuningConfig: { type: taskType, ...(fields.optionalObject('tuningConfig')?.members ?? {}) },
    },
  };
}

/** The widest publish the spec may lead to. */
export function publishModeOf({ appendToExisting, dataSchema }: IndexSpec): PublishRequest['mode'] {
  if (appendToExisting) return { kind: 'append' };
  const { intervals } = dataSchema.granularity;
  return { kind: 'replace', intervals: intervals.length === 0 ? [ETERNITY] : alignedIntervals(dataSchema.granularity) };
}

/** The intervals of a spec widened to whole segments. */
export function alignedIntervals({ intervals, segmentGranularity }: GranularitySpec): readonly Interval[] {
  const buckets = bucketsOf(segmentGranularity);
  return condenseIntervals(intervals.map(({ start, end }) => ({ start: buckets.floor(start), end: buckets.next(end - 1) })));
}
