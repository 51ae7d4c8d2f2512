// Segment metadata analysis, from the footer of a file.

import { parseJson } from '../base/json.js';
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
    intervals: has('interval') ? [descriptor.id.interval] : [],
    columns: Object.fromEntries(chosen.map((column) => [column.name, analyzeColumn(column, has)])),
    sizeBytes: has('size') ? descriptor.sizeBytes : 0,
    numRows: footer.rowCount,
    aggregators: has('aggregators') ? byName(description.aggregators) : null,
    timestampSpec: has('timestampSpec') ? description.timestampSpec : null,
    queryGranularity: has('queryGranularity') ? description.queryGranularity : null,
    rollup: has('rollup') ? description.rollup : null,
  };
}

function analyzeColumn(column: StoredColumn, has: (analysis: string) => boolean): ColumnAnalysis {
  const isText = column.kind === 'string';
  // The texts of arrays, JSON and sketches are this service's own: nobody could read their extremes.
  const isString = isText && (column.type ?? 'STRING') === 'STRING';
  const parse = (value: string | null): string | number | bigint | null =>
    value === null || isText ? value : column.type === 'LONG' ? BigInt(value) : Number(value);
  return {
    type: column.type ?? 'STRING',
    hasMultipleValues: isText && column.ends !== null,
    hasNulls: isText ? column.hasNulls : column.nulls !== null,
    sizeBytes: has('size') ? storedBytes(column) : 0,
    cardinality: isString ? (has('cardinality') ? column.dictionary.count : 0) : null,
    minValue: has('minmax') && isString === isText ? parse(column.min) : null,
    maxValue: has('minmax') && isString === isText ? parse(column.max) : null,
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
