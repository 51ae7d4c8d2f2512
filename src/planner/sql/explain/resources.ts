// Resources of a statement beside the tables that it reads.

import { isRecord } from '../../../base/json.js';
import { dataSource, EXTERNAL, type ResourceAction } from '../../../model/access/resource.js';
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
  return [...read, { resource: target.kind === 'export' ? EXTERNAL : dataSource(target.dataSource), action: 'WRITE' }];
}

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
  return externalsOf(source).flatMap(({ inputSource }): readonly ResourceAction[] => [
    { resource: EXTERNAL, action: 'READ' },
    ...resourcesOfInput(inputSource),
  ]);
}

/** The datasources that an input source of native specs reads. */
export function resourcesOfInput(inputSource: unknown): readonly ResourceAction[] {
  if (!isRecord(inputSource)) return [];
  const { type, dataSource: name, delegates } = inputSource;
  if (type === 'combining' && Array.isArray(delegates)) return delegates.flatMap(resourcesOfInput);
  return type === 'druid' && typeof name === 'string' ? [{ resource: dataSource(name), action: 'READ' }] : [];
}
