// Kill tasks: remove the files and metadata of unused segments.

import type { EpochMs, Interval } from '../../base/instant.js';
import { parseInterval } from '../../base/interval.js';
import { isRecord } from '../../base/json.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { parseInstant } from '../../base/time.js';
import type { TaskDescription } from '../../ingestion/contract.js';

/** The type of tasks that remove unused segments for good. They run at the Overlord: there is nothing to compute. */
export const KILL_TASK = 'kill';
const KEYS = [
  'id',
  'groupId',
  'resource',
  'dataSource',
  'interval',
  'versions',
  'batchSize',
  'limit',
  'maxUsedStatusLastUpdatedTime',
  'context',
];
const BATCH_SIZE = 100;
/** Segments that are removed in one transaction. */
const BATCH_SIZE_MAX = 10_000;

/** Payload of a kill task. */
export interface KillSpec {
  readonly dataSource: string;
  readonly interval: Interval;
  /** null: of any version. */
  readonly versions: readonly string[] | null;
  /** Segments that are removed in one transaction. */
  readonly batchSize: number;
  /** Segments that are removed at most; null: all. */
  readonly limit: number | null;
  /** Segments that became unused later are kept; null: none is kept for that. */
  readonly unusedByMs: EpochMs | null;
}

export function isKillPayload(payload: unknown): payload is Readonly<Record<string, unknown>> {
  return isRecord(payload) && payload['type'] === KILL_TASK;
}

/** @throws ServiceError `input_invalid` naming the field */
export function parseKillPayload(payload: Readonly<Record<string, unknown>>): KillSpec {
  const fields = new ObjectReader(payload, '', readContextOf('input_invalid', 'the kill task'));
  if (fields.has('markAsUnused')) throw fields.unsupported('markAsUnused', 'mark the segments unused first');
  fields.accept(KEYS);
  const interval = parseInterval(fields.string('interval'));
  if (interval === undefined) throw fields.mismatch('interval', 'an interval such as 2015-09-12/2015-09-13');
  const dataSource = fields.string('dataSource');
  if (dataSource === '') throw fields.mismatch('dataSource', 'the name of a datasource');
  return {
    dataSource,
    interval,
    versions: fields.has('versions') ? fields.strings('versions') : null,
    batchSize: fields.optionalInteger('batchSize', 1, BATCH_SIZE_MAX) ?? BATCH_SIZE,
    limit: fields.optionalInteger('limit', 1) ?? null,
    unusedByMs: fields.has('maxUsedStatusLastUpdatedTime') ? readInstant(fields, 'maxUsedStatusLastUpdatedTime') : null,
  };
}

/** Description of a kill task, like `validateTask` for other types: it locks its interval. */
export function describeKillTask(payload: Readonly<Record<string, unknown>>): TaskDescription {
  const { dataSource, interval, versions, batchSize, limit } = parseKillPayload(payload);
  const fields = new ObjectReader(payload, '', readContextOf('input_invalid', 'the kill task'));
  return {
    type: KILL_TASK,
    dataSource,
    id: fields.optionalString('id') ?? null,
    groupId: fields.optionalString('groupId') ?? null,
    context: fields.optionalObject('context')?.members ?? {},
    mode: { kind: 'replace', intervals: [interval] },
    spec: {
      interval: payload['interval'],
      versions,
      batchSize,
      limit,
      maxUsedStatusLastUpdatedTime: payload['maxUsedStatusLastUpdatedTime'] ?? null,
    },
  };
}

function readInstant(fields: ObjectReader, key: string): EpochMs {
  const value = fields.raw(key);
  const instant = typeof value === 'number' ? value : typeof value === 'string' ? parseInstant(value) : undefined;
  if (instant === undefined || !Number.isSafeInteger(instant)) throw fields.mismatch(key, 'an instant such as 2015-09-12T00:00:00Z');
  return instant;
}
