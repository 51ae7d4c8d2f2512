// Kill tasks: remove the files and metadata of unused segments.

import { ServiceError } from '../../base/errors.js';
import type { Interval } from '../../base/instant.js';
import { parseInterval } from '../../base/interval.js';
import { describeValue, isRecord } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { TaskDescription } from '../../ingestion/contract.js';

/** The type of tasks that remove unused segments for good. They run at the Overlord: there is nothing to compute. */
export const KILL_TASK = 'kill';
const KEYS = ['type', 'id', 'groupId', 'dataSource', 'interval', 'context'];

export function isKillPayload(payload: unknown): payload is Readonly<Record<string, unknown>> {
  return isRecord(payload) && payload['type'] === KILL_TASK;
}

/** @throws ServiceError `input_invalid` naming the field */
export function parseKillPayload(payload: Readonly<Record<string, unknown>>): { readonly dataSource: string; readonly interval: Interval } {
  const { dataSource, interval } = payload;
  if (typeof dataSource !== 'string' || dataSource === '') throw refuse('dataSource', dataSource, 'the name of a datasource');
  const parsed = typeof interval === 'string' ? parseInterval(interval) : undefined;
  if (parsed === undefined) throw refuse('interval', interval, 'an interval such as 2015-09-12/2015-09-13');
  return { dataSource, interval: parsed };
}

/** Description of a kill task, like `validateTask` for other types: it locks its interval. */
export function describeKillTask(payload: Readonly<Record<string, unknown>>): TaskDescription {
  const stranger = Object.keys(payload).find((key) => !KEYS.includes(key));
  if (stranger !== undefined) throw refuse(stranger, own(payload, stranger), `only ${KEYS.join(', ')} in a kill task`);
  const { dataSource, interval } = parseKillPayload(payload);
  const textOrNull = (name: 'id' | 'groupId'): string | null => {
    const value = payload[name] ?? null;
    if (value !== null && typeof value !== 'string') throw refuse(name, value, 'a string');
    return value;
  };
  const context = payload['context'] ?? {};
  if (!isRecord(context)) throw refuse('context', context, 'an object');
  return {
    type: KILL_TASK,
    dataSource,
    id: textOrNull('id'),
    groupId: textOrNull('groupId'),
    context,
    mode: { kind: 'replace', intervals: [interval] },
    spec: { interval: payload['interval'] },
  };
}

function refuse(field: string, found: unknown, accepted: string): ServiceError {
  return new ServiceError('input_invalid', `${field}: found ${describeValue(found)}, expected ${accepted}`);
}
