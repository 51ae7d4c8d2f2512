// Segment metadata analysis, from the footer of a file.

import type { Interval } from '../base/instant.js';
import { parseJson } from '../base/json.js';
import { granularityJson, nextBucketStart, parseGranularity } from '../model/granularity.js';
import { TIME_COLUMN } from '../model/schema.js';
import type { ColumnAnalysis, SegmentAnalysis, SegmentDescriptor } from '../model/segment.js';
import { segmentIdText } from '../model/segment-id.js';
import { type Footer, type SegmentDescription, type StoredColumn, storedBytes } from './format.js';

/**
 * The segmentMetadata analysis of a segment, from its footer alone. Parts that are not among `analyses` are null, empty
 * or 0; sizes are bytes in the file.
 */
export function analyzeFooter(
  footer: Footer,
  descriptor: SegmentDescriptor,
  columns: readonly string[] | 'all',
  analyses: readonly string[],
): SegmentAnalysis {
  const has = (analysis: string): boolean => analyses.includes(analysis);
  const description = parseJson(footer.description) as SegmentDescription;
  const chosen = footer.columns.filter(({ name }) => columns === 'all' || columns.includes(name));
  return {
    id: segmentIdText(descriptor.id),
    intervals: has('interval') ? [dataInterval(footer, description, descriptor.id.interval)] : [],
    columns: Object.fromEntries(chosen.map((column) => [column.name, analyzeColumn(column, has)])),
    sizeBytes: has('size') ? descriptor.sizeBytes : 0,
    numRows: footer.rowCount,
    aggregators: has('aggregators') ? byName(description.aggregators) : null,
    timestampSpec: has('timestampSpec') ? description.timestampSpec : null,
    queryGranularity: has('queryGranularity') ? granularityOf(description) : null,
    rollup: has('rollup') ? description.rollup : null,
  };
}

function granularityOf({ queryGranularity }: SegmentDescription): unknown {
  return queryGranularity === null ? null : granularityJson(parseGranularity(queryGranularity, 'queryGranularity'));
}

/** The interval of the rows, as Druid tells it: from the start of the time chunk to the end of the last bucket of `queryGranularity`. */
function dataInterval({ columns }: Footer, { queryGranularity }: SegmentDescription, { start }: Interval): Interval {
  const time = columns.find(({ name }) => name === TIME_COLUMN);
  if (time?.kind !== 'number' || time.max === null) return { start, end: start };
  return { start, end: nextBucketStart(parseGranularity(queryGranularity ?? 'none', 'queryGranularity'), Number(time.max)) };
}

function analyzeColumn(column: StoredColumn, has: (analysis: string) => boolean): ColumnAnalysis {
  const isText = column.kind === 'string';
  // Arrays, JSON and sketches are stored in a notation of our own, so their extremes would mean nothing to a client.
  const isString = isText && (column.type ?? 'STRING') === 'STRING';
  return {
    type: column.type ?? 'STRING',
    hasMultipleValues: isText && column.ends !== null,
    hasNulls: isText ? column.hasNulls : column.nulls !== null,
    sizeBytes: has('size') ? storedBytes(column) : 0,
    cardinality: isString ? (has('cardinality') ? column.dictionary.count : 0) : null,
    // Null comes before every string.
    minValue: has('minmax') && isString && !column.hasNulls ? column.min : null,
    maxValue: has('minmax') && isString ? column.max : null,
    errorMessage: null,
  };
}

/** Aggregators in their JSON form, keyed by their names. */
function byName(aggregators: readonly unknown[] | null): Readonly<Record<string, unknown>> | null {
  if (aggregators === null) return null;
  const named: [string, unknown][] = [];
  for (const aggregator of aggregators) {
    if (typeof aggregator === 'object' && aggregator !== null && 'name' in aggregator) named.push([String(aggregator.name), aggregator]);
  }
  return Object.fromEntries(named);
}
