// Reads the payload of a sub-task.

import { isRecord } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import type { PartitionKey } from '../../model/segment.js';
import { type DataSchema, parseDataSchema } from '../task-spec/data-schema.js';
import { type IndexSpec, parseIndexSpec } from '../task-spec/index-spec.js';
import { parseTuningConfig, type TuningConfig } from '../task-spec/tuning-config.js';
import type { SubTaskType } from './sub-task-types.js';

/** Place of a file in deep storage. */
export interface LoadSpec {
  readonly type: string;
  readonly path: string;
}

/** Parts of a chunk: buckets of a hash, or the keys at which ranges begin, the first range apart. */
export type ChunkParts = number | readonly PartitionKey[];

/** Payload of a sub-task, which only its supervisor task writes. */
export type SubTaskSpec = ReadSpec | MergeSpec;

/** Reads a split. */
export interface ReadSpec {
  readonly type: Exclude<SubTaskType, 'partial_index_generic_merge'>;
  readonly spec: IndexSpec;
  /** Parts by the text of the interval of the chunk; null: the spec says how many. */
  readonly parts: ReadonlyMap<string, ChunkParts> | null;
}

/** Merges what others have read of some parts of chunks. */
export interface MergeSpec {
  readonly type: 'partial_index_generic_merge';
  readonly dataSchema: DataSchema;
  readonly tuning: TuningConfig;
  readonly partitionLocations: readonly LoadSpec[];
}

const NAMES = ['id', 'groupId', 'resource', 'context', 'dataSource', 'supervisorTaskId', 'subtaskSpecId', 'numAttempts', 'spec'];

/** @throws ServiceError `input_invalid` naming the field */
export function parseSubTask(fields: ObjectReader, type: SubTaskType): SubTaskSpec {
  fields.string('supervisorTaskId');
  if (type !== 'partial_index_generic_merge') {
    fields.accept([...NAMES, 'intervalToParts']);
    return { type, spec: parseIndexSpec(fields.object('spec'), 'index_parallel'), parts: parseParts(fields) };
  }
  fields.accept(NAMES);
  const spec = fields.object('spec');
  const locations = spec.object('ioConfig').objects('partitionLocations');
  return {
    type,
    dataSchema: parseDataSchema(spec.object('dataSchema')),
    tuning: parseTuningConfig(spec.optionalObject('tuningConfig'), 'index_parallel'),
    partitionLocations: locations.map((location) => ({ type: location.string('type'), path: location.string('path') })),
  };
}

export function dataSourceOf(subTask: SubTaskSpec): string {
  return (subTask.type === 'partial_index_generic_merge' ? subTask.dataSchema : subTask.spec.dataSchema).dataSource;
}

function parseParts(fields: ObjectReader): ReadonlyMap<string, ChunkParts> | null {
  const written = fields.optionalObject('intervalToParts');
  if (written === undefined) return null;
  const isKey = (key: unknown): key is PartitionKey => Array.isArray(key) && key.every((each) => each === null || typeof each === 'string');
  return new Map(
    written.keys().map((interval): [string, ChunkParts] => {
      const parts = written.raw(interval);
      if (typeof parts === 'number') return [interval, parts];
      if (Array.isArray(parts) && parts.every(isKey)) return [interval, parts];
      throw written.mismatch(interval, 'a number of buckets, or the keys of ranges');
    }),
  );
}

/** The spec as the interface prints it. */
export function writtenSpec(fields: ObjectReader): Readonly<Record<string, unknown>> {
  const spec = fields.raw('spec');
  return isRecord(spec) ? spec : {};
}
