// Reads the query types that do not aggregate: scan, search, timeBoundary, metadata.

import { ServiceError } from '../../../base/errors.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { parseGranularity } from '../../../model/granularity.js';
import type {
  AnalysisType,
  DataSourceMetadataQuery,
  ScanQuery,
  SearchQuery,
  SegmentMetadataQuery,
  TimeBoundaryQuery,
} from '../../../model/query.js';
import { TIME_COLUMN } from '../../../model/schema.js';
import { readLeaf } from '../aggregator/aggregation.js';
import type { ColumnTypes } from '../column/column-types.js';
import { VirtualColumns } from '../column/columns.js';
import { readDimensionSpec, refuseStructured } from '../column/dimension.js';
import { readFilter, readOrdering } from '../filter/filter.js';
import { readSearchTest } from '../filter/search-test.js';
import { readChoice, readQueriedTime } from '../reader.js';

/** The query types that do not aggregate: rows, values, bounds and descriptions. */
export function readScan(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes): ScanQuery {
  const { columns: _, ...leaf } = readLeaf(reader, dataSource, tableTypes);
  const names = reader.strings('columns');
  const order = reader.choice('order', ['none', 'ascending', 'descending'], 'none');
  const orderBy = reader.list('orderBy', (value, path) => readScanOrder(reader.reader(value, path)));
  if (order !== 'none' && orderBy.length > 0) throw new ServiceError('query_invalid', 'order and orderBy exclude each other; found both');
  const [first, second] = orderBy;
  const byTime = first?.column === TIME_COLUMN && second === undefined ? (first.descending ? 'descending' : 'ascending') : null;
  if (reader.boolean('legacy', false)) throw new ServiceError('unsupported', 'legacy: the legacy form of scan is not supported');
  return {
    queryType: 'scan',
    ...leaf,
    columns: names.length === 0 ? null : names,
    timeOrder: order === 'none' ? byTime : order,
    orderBy: byTime === null ? orderBy : [],
    offset: reader.optionalInteger('offset', 0) ?? 0,
    limit: reader.optionalInteger('limit', 1) ?? null,
    batchSize: reader.optionalInteger('batchSize', 1) ?? 20_480,
    resultFormat: reader.choice('resultFormat', ['list', 'compactedList'], 'list'),
  };
}

function readScanOrder(reader: ObjectReader): ScanQuery['orderBy'][number] {
  const order = {
    column: reader.string('columnName'),
    descending: reader.choice('order', ['ascending', 'descending', 'asc', 'desc'], 'ascending').startsWith('desc'),
  };
  reader.end();
  return order;
}

const SEARCH_LIMIT = 1000;

export function readSearch(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes): SearchQuery {
  const { columns, ...leaf } = readLeaf(reader, dataSource, tableTypes);
  const dimensions = reader.list('searchDimensions', (value, path) => {
    const dimension = readDimensionSpec(value, path, reader, columns);
    refuseStructured(dimension, path, columns);
    return dimension;
  });
  const sort = reader.optionalObject('sort');
  const ordering = sort === undefined ? 'lexicographic' : readOrdering(sort, 'type');
  sort?.end();
  return {
    queryType: 'search',
    ...leaf,
    granularity: parseGranularity(reader.raw('granularity') ?? 'all', 'granularity'),
    dimensions: dimensions.length === 0 ? null : dimensions,
    tests: readSearchTest(reader.object('query')),
    ordering,
    limit: reader.optionalInteger('limit', 1) ?? SEARCH_LIMIT,
  };
}

export function readTimeBoundary(reader: ObjectReader, dataSource: string, tableTypes: ColumnTypes): TimeBoundaryQuery {
  const columns = new VirtualColumns(tableTypes);
  columns.read(reader);
  return {
    queryType: 'timeBoundary',
    dataSource,
    ...(readQueriedTime(reader, 'intervals') ?? { intervals: null }),
    filter: reader.has('filter') ? readFilter(reader.object('filter'), columns) : null,
    virtualColumns: columns.list,
    bound: reader.has('bound') ? reader.choice<'minTime' | 'maxTime'>('bound', ['minTime', 'maxTime'], undefined) : null,
  };
}

const ANALYSIS_TYPES: readonly AnalysisType[] = [
  'cardinality',
  'minmax',
  'size',
  'interval',
  'timestampSpec',
  'queryGranularity',
  'aggregators',
  'rollup',
  'projections',
];

function readAnalysisType(value: unknown, path: string): AnalysisType {
  return readChoice(value, path, ANALYSIS_TYPES);
}

export function readSegmentMetadata(reader: ObjectReader, dataSource: string): SegmentMetadataQuery {
  const include = reader.optionalObject('toInclude');
  const kind = include?.choice('type', ['all', 'none', 'list'], undefined) ?? 'all';
  const names = kind === 'list' && include !== undefined ? include.strings('columns') : [];
  include?.end();
  const analysisTypes = reader.list('analysisTypes', (value, path) => readAnalysisType(value, path));
  reader.boolean('usingDefaultInterval', false);
  const lenientMerge = reader.boolean('lenientAggregatorMerge', false);
  return {
    queryType: 'segmentMetadata',
    ...readAllRows(reader, dataSource),
    analysisTypes: reader.has('analysisTypes') ? analysisTypes : ['cardinality', 'interval', 'minmax'],
    toInclude: kind === 'list' ? { kind, names } : { kind },
    merge: reader.boolean('merge', false),
    aggregatorMergeStrategy: reader.choice(
      'aggregatorMergeStrategy',
      ['strict', 'lenient', 'earliest', 'latest'],
      lenientMerge ? 'lenient' : 'strict',
    ),
  };
}

export function readDataSourceMetadata(reader: ObjectReader, dataSource: string): DataSourceMetadataQuery {
  return { queryType: 'dataSourceMetadata', ...readAllRows(reader, dataSource) };
}

/** The rows of a datasource in some intervals, whatever is in them. */
function readAllRows(reader: ObjectReader, dataSource: string): Omit<DataSourceMetadataQuery, 'queryType'> {
  return { dataSource, ...(readQueriedTime(reader, 'intervals') ?? { intervals: null }), filter: null, virtualColumns: [] };
}
