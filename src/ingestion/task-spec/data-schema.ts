// Reads the `dataSchema` of a task.

import { ServiceError } from '../../base/errors.js';
import type { EpochMs, Interval } from '../../base/instant.js';
import { condenseIntervals, parseInterval } from '../../base/interval.js';
import { describeValue } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseInstant } from '../../base/time.js';
import { parseExpression } from '../../expression/parse.js';
import type { Expression } from '../../model/expression.js';
import type { Filter } from '../../model/filter.js';
import { bucketsOf, type Granularity, granularityName, parseGranularity } from '../../model/granularity.js';
import { type ColumnType, JSON_TYPE, parseColumnType, TIME_COLUMN } from '../../model/schema.js';
import { type ColumnPlan, columnPlan } from '../builder/run-buffer.js';
import { type TimestampParser, timestampParser } from '../column/timestamp.js';
import { acceptWithInert, INERT_KEYS } from './inert-keys.js';
import { type Metric, parseMetric } from './metric.js';
import { filterOf } from './native-parts.js';
import { parseSpatialDimensions, type SpatialDimension, spatialColumn, withSpatialTransforms } from './spatial.js';

export interface DataSchema {
  readonly dataSource: string;
  readonly timestamp: TimestampSpec;
  readonly dimensions: DimensionsSpec;
  readonly metrics: readonly Metric[];
  readonly granularity: GranularitySpec;
  readonly transforms: readonly { readonly name: string; readonly expression: Expression }[];
  readonly filter: Filter | null;
  /** The spec as sent; all but dimensions is kept in segment files. */
  readonly source: {
    readonly aggregators: readonly unknown[];
    readonly timestampSpec: unknown;
    readonly queryGranularity: unknown;
    readonly dimensions: readonly unknown[];
  };
}

interface TimestampSpec {
  readonly column: string;
  readonly parser: TimestampParser;
  /** Stands in for a null; null: such a row cannot be parsed. */
  readonly missingValue: EpochMs | null;
}

interface DimensionsSpec {
  readonly declared: readonly ColumnPlan[];
  /** Columns nobody declared: left out, taken as strings, or typed by their values. */
  readonly discovery: 'none' | 'STRING' | 'AUTO';
  readonly exclusions: readonly string[];
  /** Spatial dimensions among the declared ones. */
  readonly spatial: readonly SpatialDimension[];
}

export interface GranularitySpec {
  readonly segmentGranularity: Granularity;
  readonly queryGranularity: Granularity;
  readonly rollup: boolean;
  /** Sorted, disjoint; empty: all times. */
  readonly intervals: readonly Interval[];
}

export function parseDataSchema(fields: ObjectReader): DataSchema {
  fields.accept([
    'dataSource',
    'timestampSpec',
    'dimensionsSpec',
    'metricsSpec',
    'granularitySpec',
    'transformSpec',
    'projections',
    'parser',
  ]);
  for (const key of ['projections', 'parser']) if (fields.has(key)) throw fields.unsupported(key);
  const timestamp = parseTimestampSpec(fields.object('timestampSpec'));
  const metrics = fields.objects('metricsSpec').map((each) => parseMetric(each));
  const dimensions = parseDimensionsSpec(fields.object('dimensionsSpec'), timestamp, metrics);
  checkNames(fields, dimensions.declared, metrics);
  const transformSpec = fields.optionalObject('transformSpec');
  transformSpec?.accept(['transforms', 'filter']);
  return {
    dataSource: parseDataSource(fields, 'dataSource'),
    timestamp,
    dimensions,
    metrics,
    granularity: parseGranularitySpec(fields.optionalObject('granularitySpec')),
    transforms: withSpatialTransforms(transformSpec?.objects('transforms').map(parseTransform) ?? [], dimensions.spatial),
    filter: transformSpec === undefined ? null : filterOf(transformSpec, 'filter'),
    source: {
      aggregators: fields.array('metricsSpec'),
      timestampSpec: fields.raw('timestampSpec') ?? null,
      queryGranularity: fields.optionalObject('granularitySpec')?.raw('queryGranularity') ?? 'none',
      dimensions: fields.object('dimensionsSpec').array('dimensions'),
    },
  };
}

/** A name that files, paths and ids can carry. */
export function parseDataSource(fields: ObjectReader, key: string): string {
  const name = fields.string(key);
  if (name.trim() === '' || name.startsWith('.') || /[/\\\u0000-\u001f\u007f]/.test(name))
    throw fields.invalid(key, `expected a name without slashes, control characters or a leading dot, found ${JSON.stringify(name)}`);
  return name;
}

function parseTimestampSpec(fields: ObjectReader): TimestampSpec {
  fields.accept(['column', 'format', 'missingValue']);
  const missing = fields.raw('missingValue') ?? null;
  const missingValue = typeof missing === 'number' ? missing : typeof missing === 'string' ? parseInstant(missing) : null;
  if (missingValue === undefined || (missing !== null && missingValue === null))
    throw fields.invalid('missingValue', `expected an instant, found ${describeValue(missing)}`);
  return {
    column: fields.optionalString('column') ?? 'timestamp',
    parser: timestampParser(fields.optionalString('format') ?? 'auto', fields.at('format')),
    missingValue,
  };
}

function parseDimensionsSpec(fields: ObjectReader, timestamp: TimestampSpec, metrics: readonly Metric[]): DimensionsSpec {
  fields.accept([
    'dimensions',
    'dimensionExclusions',
    'includeAllDimensions',
    'useSchemaDiscovery',
    'spatialDimensions',
    'forceSegmentSortByTime',
  ]);
  if (!fields.boolean('forceSegmentSortByTime', true))
    throw fields.unsupported('forceSegmentSortByTime', 'segments are sorted by __time first');
  const spatial = parseSpatialDimensions(fields);
  const plain = fields.array('dimensions').flatMap((value, position) => {
    if (typeof value === 'string') return [columnPlan(value, 'STRING')];
    const element = fields.reader(fields.array('dimensions')[position], `${fields.at('dimensions')}[${position}]`);
    return element.raw('type') === 'spatial' ? [] : [parseDimension(element)];
  });
  const declared = [...plain, ...spatial.map(spatialColumn)];
  const exclusions = fields.strings('dimensionExclusions');
  const excluded = new Set(exclusions);
  const both = declared.find(({ name }) => excluded.has(name));
  if (both !== undefined) throw fields.invalid('dimensionExclusions', `"${both.name}" is among the dimensions too`);
  const useSchemaDiscovery = fields.boolean('useSchemaDiscovery', false);
  const includesAll = fields.boolean('includeAllDimensions', false) || plain.length === 0;
  // Inputs of the timestamp and of metrics are not stored again.
  const used = [
    timestamp.column,
    TIME_COLUMN,
    ...metrics.flatMap(({ name, inputs }) => [name, ...inputs.flatMap(({ field, isConsumed }) => (isConsumed ? [field] : []))]),
  ];
  return {
    declared,
    // Discovery by values adds to what is declared; that of strings only where it is asked for, or nothing is.
    discovery: useSchemaDiscovery ? 'AUTO' : includesAll ? 'STRING' : 'none',
    exclusions: [...exclusions, ...used, ...spatial.flatMap(({ parts }) => parts)],
    spatial,
  };
}

const DIMENSION_TYPES = ['string', 'long', 'float', 'double', 'auto', 'json'] as const;
/** Types that `auto` may be told to store, whatever it finds. */
const CAST_TYPES: ReadonlySet<ColumnType> = new Set([
  'STRING',
  'LONG',
  'FLOAT',
  'DOUBLE',
  'ARRAY<STRING>',
  'ARRAY<LONG>',
  'ARRAY<DOUBLE>',
  JSON_TYPE,
]);

export function parseDimension(fields: ObjectReader): ColumnPlan {
  const type = fields.type(DIMENSION_TYPES, { otherwise: 'string', documented: ['timestamp'] });
  const name = fields.string('name');
  if (fields.has('maxStringLength'))
    throw fields.unsupported('maxStringLength', 'cut strings by a transform, such as substring(name, 0, 100)');
  const keys = ['name', 'multiValueHandling', 'maxStringLength'];
  acceptWithInert(fields, type === 'auto' ? [...keys, 'castToType'] : keys, INERT_KEYS.dimension);
  // It means nothing for types other than string, but clients send it with all of them.
  const handling = fields.optionalString('multiValueHandling')?.toUpperCase() ?? 'SORTED_ARRAY';
  if (handling !== 'SORTED_ARRAY' && handling !== 'SORTED_SET' && handling !== 'ARRAY')
    throw fields.invalid('multiValueHandling', `expected SORTED_ARRAY, SORTED_SET, ARRAY, found "${handling}"`);
  if (type === 'json') return columnPlan(name, JSON_TYPE);
  const cast = parseCast(fields);
  // Only a dimension of type string holds several strings a row.
  if (cast !== null) return columnPlan(name, cast, 'SINGLE');
  return columnPlan(name, type.toUpperCase() as ColumnPlan['type'], handling);
}

function parseCast(fields: ObjectReader): ColumnType | null {
  const text = fields.optionalString('castToType');
  if (text === undefined) return null;
  const type = parseColumnType(text);
  if (type === undefined || !CAST_TYPES.has(type))
    throw fields.invalid('castToType', `expected ${[...CAST_TYPES].join(', ')}, found "${text}"`);
  return type;
}

export function checkNames(fields: ObjectReader, dimensions: readonly ColumnPlan[], metrics: readonly Metric[]): void {
  const names = new Set<string>();
  for (const { name } of [...dimensions, ...metrics]) {
    if (names.has(name)) throw fields.invalid('', `two columns are called "${name}"`);
    names.add(name);
  }
  if (names.has(TIME_COLUMN)) throw fields.invalid('dimensionsSpec', `${TIME_COLUMN} is always there and cannot be declared`);
}

function parseGranularitySpec(fields: ObjectReader | undefined): GranularitySpec {
  const day = parseGranularity('day', 'segmentGranularity');
  if (fields === undefined) return { segmentGranularity: day, queryGranularity: { kind: 'none' }, rollup: true, intervals: [] };
  fields.accept(['segmentGranularity', 'queryGranularity', 'rollup', 'intervals']);
  fields.type(['uniform'], { otherwise: 'uniform', documented: ['arbitrary'] });
  const segmentGranularity = fields.has('segmentGranularity')
    ? parseGranularity(fields.raw('segmentGranularity'), fields.at('segmentGranularity'), 'input_invalid')
    : day;
  const queryGranularity = fields.has('queryGranularity')
    ? parseGranularity(fields.raw('queryGranularity'), fields.at('queryGranularity'), 'input_invalid')
    : { kind: 'none' as const };
  if (segmentGranularity.kind === 'none') throw fields.unsupported('segmentGranularity', 'a segment for every millisecond');
  if (!fitsInto(queryGranularity, segmentGranularity)) {
    throw fields.invalid(
      'queryGranularity',
      `${granularityName(queryGranularity)} buckets do not fit into segments of ${granularityName(segmentGranularity)}; expected a finer or equal granularity`,
    );
  }
  const texts = typeof fields.raw('intervals') === 'string' ? [fields.string('intervals')] : fields.strings('intervals');
  const intervals = texts.map((text) => {
    const interval = parseInterval(text);
    if (interval === undefined || interval.start === interval.end)
      throw fields.invalid('intervals', `expected intervals such as 2015-09-12/2015-09-13, found "${text}"`);
    return interval;
  });
  return { segmentGranularity, queryGranularity, rollup: fields.boolean('rollup', true), intervals: condenseIntervals(intervals) };
}

/** Instants of a leap and a common year, in winter and summer, whose segments' bounds must be bucket bounds. */
const PROBES: readonly EpochMs[] = [
  '2012-02-29T13:37:11.123Z',
  '2013-07-15T01:02:03.004Z',
  '2021-12-31T23:59:59.999Z',
  '1999-10-31T05:06:07.008Z',
].map((text) => parseInstant(text) ?? 0);

export function fitsInto(query: Granularity, segment: Granularity): boolean {
  if (query.kind === 'none') return true;
  if (query.kind === 'all') return false;
  if (segment.kind === 'all') return true;
  return PROBES.every((probe) => {
    const start = bucketsOf(segment).floor(probe);
    return bucketsOf(query).floor(start) === start;
  });
}

function parseTransform(fields: ObjectReader): { readonly name: string; readonly expression: Expression } {
  fields.type(['expression']);
  fields.accept(['name', 'expression']);
  const text = fields.string('expression');
  try {
    return { name: fields.string('name'), expression: parseExpression(text) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'query_invalid') throw error;
    throw fields.invalid('expression', error.message);
  }
}
