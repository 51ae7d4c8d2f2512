// Reads a native query of any type.

import { ServiceError } from '../../../base/errors.js';
import { ObjectReader, readContextOf } from '../../../base/json-reader.js';
import { own } from '../../../base/names.js';
import { nearestName } from '../../../base/nearest-name.js';
import { isStateColumn } from '../../../model/aggregate-state.js';
import type { Query } from '../../../model/query.js';
import type { RowSource } from '../../../model/row-source.js';
import type { KnownTables } from '../../plan.js';
import { rowSourceColumns } from '../../row-source-columns.js';
import { mergedColumns } from '../aggregator/aggregator.js';
import type { ColumnTypes } from '../column/column-types.js';
import { type QueryContext, readContext } from '../context.js';
import { UNSUPPORTED_QUERY_TYPES } from '../names.js';
import { readSource, sourceName, tablesOf } from './datasource.js';
import { readGroupBy } from './group-by.js';
import type { ParsedQuery } from './parsed-query.js';
import { timedRows } from './row-times.js';
import { readDataSourceMetadata, readScan, readSearch, readSegmentMetadata, readTimeBoundary } from './rows.js';
import { readTimeseries } from './timeseries.js';
import { readTopN } from './topn.js';

type ReadQuery = (reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes, context: QueryContext) => Query;

/** The specification and existing clients spell two of the types differently; both are read. */
const QUERY_TYPES: Readonly<Record<string, ReadQuery>> = {
  timeseries: readTimeseries,
  topN: readTopN,
  groupBy: readGroupBy,
  scan: readScan,
  search: readSearch,
  timeBoundary: readTimeBoundary,
  timeBoundaries: readTimeBoundary,
  segmentMetadata: readSegmentMetadata,
  dataSourceMetadata: readDataSourceMetadata,
  datasourceMetadata: readDataSourceMetadata,
};

/**
 * The JSON body of a native query to a typed query.
 * @param lenient  unknown keys are accepted and listed, as for requests under the alias name
 * @param tables   say which columns are numbers; an unknown table or column is not an error
 * @throws ServiceError `query_invalid` or `unsupported`, naming the field
 */
export function parseQuery(body: unknown, lenient: boolean, tables: KnownTables): ParsedQuery {
  return readQuery(new ObjectReader(body, '', readContextOf('query_invalid', 'query', lenient)), tables, 0);
}

/** @param depth  how many datasources the query lies inside of */
function readQuery(reader: ObjectReader, tables: KnownTables, depth: number): ParsedQuery {
  const type = reader.string('queryType');
  const read = Object.hasOwn(QUERY_TYPES, type) ? own(QUERY_TYPES, type) : undefined;
  if (read === undefined) {
    if (UNSUPPORTED_QUERY_TYPES.includes(type))
      throw new ServiceError('unsupported', `${reader.at('queryType')}: "${type}" is not supported`);
    const nearest = nearestName(type, Object.keys(QUERY_TYPES));
    throw new ServiceError(
      'query_invalid',
      `${reader.at('queryType')}: unknown query type "${type}"${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}; accepted: ${Object.keys(QUERY_TYPES).join(', ')}`,
    );
  }
  const rows = readSource(reader.raw('dataSource'), reader.at('dataSource'), reader, {
    tables,
    depth,
    merged: mergedColumns(reader),
    parseQuery: (inner, innerDepth) => readQuery(inner, tables, innerDepth),
  });
  const source = timedRows(rows, tables);
  const dataSource = sourceName(source);
  const context = readContext(reader);
  const types = new Map(
    tablesOf(source, tables)
      .table(dataSource)
      ?.columns.map((column) => [column.name, column.type]),
  );
  const query = read(reader, dataSource, (name) => types.get(name), context);
  reader.end();
  if (source.kind !== 'table' && (query.queryType === 'segmentMetadata' || query.queryType === 'dataSourceMetadata'))
    throw new ServiceError(
      'unsupported',
      `${reader.at('dataSource')}: a ${query.queryType} query of anything but one table is not supported`,
    );
  if (source.kind !== 'table' && query.segments !== undefined)
    throw new ServiceError('unsupported', `${reader.at('intervals')}: segments of anything but one table are not supported`);
  return { query: source === rows ? query : namingColumns(query, rows, tables), source, context, ignoredKeys: reader.context.ignoredKeys };
}

/** A scan that asks for all columns gives those that the rows had before they were given a time. */
function namingColumns(query: Query, rows: RowSource, tables: KnownTables): Query {
  if (query.queryType !== 'scan' || query.columns !== null) return query;
  const columns = [...rowSourceColumns(rows, tables), ...query.virtualColumns].map(({ name }) => name);
  return { ...query, columns: [...new Set(columns)].filter((name) => !isStateColumn(name)) };
}
