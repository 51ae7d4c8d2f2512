// Resources of a statement beside the tables that it reads.

import { isRecord } from '../../../base/json.js';
import { dataSource, EXTERNAL, externalOf, type Resource, type ResourceAction } from '../../../model/access/resource.js';
import { externalsOf, type RowSource } from '../../../model/row-source.js';
import type { ExportTarget, IngestionTarget, PlannedStatement } from '../../../model/statement.js';

/** Datasources and files that a statement reads from outside, and what it writes. The tables that it reads are checked while it is planned. */
export function resourcesOf(statement: PlannedStatement): readonly ResourceAction[] {
  if (statement.kind === 'explain') return statement.resources;
  return statement.kind === 'select' ? resourcesRead(statement.source) : resourcesOfQuery(statement.query.source, statement);
}

/** @param target  null: of a SELECT */
export function resourcesOfQuery(source: RowSource, target: IngestionTarget | ExportTarget | null): readonly ResourceAction[] {
  const read = resourcesRead(source);
  if (target === null) return read;
  if (target.kind !== 'export') return [...read, { resource: dataSource(target.dataSource), action: 'WRITE' }];
  return [...read, { resource: externalOf(EXPORT_TYPE), action: 'WRITE', unlessSecured: EXTERNAL }];
}

/** The only place that rows are exported to: files of this machine. */
const EXPORT_TYPE = 'local';

/** Sources of kept plans are asked about each time that they run. */
const readBySource = new WeakMap<RowSource, readonly ResourceAction[]>();

function resourcesRead(source: RowSource): readonly ResourceAction[] {
  let read = readBySource.get(source);
  if (read === undefined) {
    read = resourcesOfExternals(source);
    readBySource.set(source, read);
  }
  return read;
}

function resourcesOfExternals(source: RowSource): readonly ResourceAction[] {
  return externalsOf(source).flatMap(({ inputSource }) => resourcesOfInput(inputSource, EXTERNAL));
}

/**
 * Resources of an input source of native specs: its type and those of its delegates, and the datasource that it reads.
 * @param unlessSecured  resource that reading it takes where types are not asked about; left out: none, as in a task of its own
 */
export function resourcesOfInput(inputSource: unknown, unlessSecured: Resource | null = null): readonly ResourceAction[] {
  // One without a type is refused where it is read; nobody is spared a right by writing it wrongly.
  const { type, dataSource: name, delegates } = isRecord(inputSource) ? inputSource : {};
  if (type === 'combining' && Array.isArray(delegates) && delegates.length > 0)
    return delegates.flatMap((each) => resourcesOfInput(each, unlessSecured));
  const read: ResourceAction = { resource: externalOf(String(type)), action: 'READ', unlessSecured };
  return type === 'druid' && typeof name === 'string' ? [read, { resource: dataSource(name), action: 'READ' }] : [read];
}

/** Resources of a stream that a task, a supervisor or the sampler reads. */
export function resourcesOfStream(kind: string): readonly ResourceAction[] {
  return [{ resource: externalOf(kind), action: 'READ', unlessSecured: null }];
}
