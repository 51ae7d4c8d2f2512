// Checks who may see or end a task.

import { isRecord, parseJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import type { TaskDescription } from '../../ingestion/contract.js';
import type { TaskRecord } from '../../metadata/tasks.js';
import { type Caller, demand, permitsWhole, refuseAccess } from '../../model/access/authorizer.js';
import { type Action, dataSource } from '../../model/access/resource.js';
import { resourcesOfInput, resourcesOfStream } from '../../planner/sql/explain/resources.js';
import { demandDataSource, demandOwner } from './readable.js';

/** Datasource that tasks name which write to none: their rows are for who sent the statement. */
export const SELECT_DATA_SOURCE = '__query_select';

/** @throws ServiceError `forbidden` unless the caller has the right to the task's datasource, or to results of its own */
export function authorizeTask(caller: Caller, task: Pick<TaskRecord, 'dataSource'>, payload: string, action: Action): void {
  if (task.dataSource === SELECT_DATA_SOURCE) demandOwner(caller, submitterOf(payload), action);
  else demandDataSource(caller, task.dataSource, action);
}

/** The user who sent a statement that runs as a task; null for one without. */
export function submitterOf(payload: string): string | null {
  const document: unknown = parseJson(payload);
  const spec = isRecord(document) ? document['spec'] : undefined;
  const user = isRecord(spec) ? spec['user'] : undefined;
  return typeof user === 'string' ? user : null;
}

/** A payload for this caller: the schema that a statement brings tells nothing of datasources that the caller may not read as a whole. */
export function payloadFor(caller: Caller, payload: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const spec = memberOf(payload, 'spec');
  const schema = memberOf(spec, 'schema');
  if (caller.isUnrestricted || !isRecord(spec) || !isRecord(schema)) return payload;
  const readableOf = (byName: unknown): object =>
    Object.fromEntries(Object.entries(byName ?? {}).filter(([name]) => permitsWhole(caller, dataSource(name), 'READ')));
  return { ...payload, spec: { ...spec, schema: { ...schema, tables: readableOf(schema['tables']), policies: {} } } };
}

/** @throws ServiceError `forbidden` unless the caller may write the task's datasource and use whatever else it names */
export function authorizeSubmission(caller: Caller, { dataSource: written, resources = [], isReadOnly, spec }: TaskDescription): void {
  if (caller.isUnrestricted) return;
  if (isReadOnly !== true) demandDataSource(caller, written, 'WRITE');
  demand(caller, resources);
  // Results are for the user that the task names.
  if ((spec['user'] ?? caller.identity.user) !== caller.identity.user) refuseAccess();
}

/** @throws ServiceError `forbidden` unless the caller may read what a request to the sampler reads */
export function authorizeSample(caller: Caller, body: Uint8Array): void {
  if (caller.isUnrestricted) return;
  const request: unknown = parseJson(Buffer.from(body).toString('utf8'));
  const type = memberOf(request, 'type');
  if (type === 'kafka' || type === 'kinesis') return demand(caller, resourcesOfStream(type));
  demand(caller, resourcesOfInput(memberOf(memberOf(memberOf(request, 'spec'), 'ioConfig'), 'inputSource')));
}

function memberOf(value: unknown, name: string): unknown {
  return isRecord(value) ? own(value, name) : undefined;
}
