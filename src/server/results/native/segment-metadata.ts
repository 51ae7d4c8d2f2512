// Writes results of segmentMetadata queries.

import { condenseIntervals, formatInterval } from '../../../base/interval.js';
import { stringifyJson } from '../../../base/json.js';
import type { SegmentMetadataQuery } from '../../../model/query.js';
import type { ColumnAnalysis, SegmentAnalysis } from '../../../model/segment.js';
import { TextPieces } from './text-stream.js';

/** One entry per segment, or with `merge` one for all of them; what was not analysed is null. */
export async function* writeSegmentMetadata(query: SegmentMetadataQuery, analyses: readonly SegmentAnalysis[]): AsyncIterable<string> {
  const entries = query.merge && analyses.length > 0 ? [mergeAnalyses(analyses, query.aggregatorMergeStrategy)] : analyses;
  const pieces = new TextPieces();
  let separator = '[';
  for (const entry of entries) {
    pieces.add(`${separator}{"id":${stringifyJson(entry.id)},"intervals":${stringifyJson(intervalsOf(entry, query))},"columns":{`);
    separator = '';
    for (const [name, column] of Object.entries(entry.columns)) {
      pieces.add(`${separator}${stringifyJson(name)}:${stringifyJson(columnShape(column))}`);
      separator = ',';
      if (pieces.isFull) yield await pieces.take();
    }
    pieces.add(`},${stringifyJson(restOf(entry, query)).slice(1)}`);
    separator = ',';
  }
  pieces.add(separator === '[' ? '[]' : ']');
  yield pieces.rest();
}

function intervalsOf({ intervals }: SegmentAnalysis, { analysisTypes }: SegmentMetadataQuery): readonly string[] | null {
  return analysisTypes.includes('interval') ? intervals.map(formatInterval) : null;
}

/** The fields of the answer after its columns. */
function restOf(analysis: SegmentAnalysis, { analysisTypes }: SegmentMetadataQuery): unknown {
  const asked = new Set(analysisTypes);
  return {
    size: analysis.sizeBytes,
    numRows: analysis.numRows,
    aggregators: asked.has('aggregators') ? analysis.aggregators : null,
    timestampSpec: asked.has('timestampSpec') ? (analysis.timestampSpec ?? null) : null,
    queryGranularity: asked.has('queryGranularity') ? (analysis.queryGranularity ?? null) : null,
    rollup: asked.has('rollup') ? analysis.rollup : null,
    // Segments have none.
    ...(asked.has('projections') ? { projections: null } : {}),
  };
}

function columnShape(column: ColumnAnalysis): unknown {
  const { type, hasMultipleValues, hasNulls, sizeBytes, cardinality, minValue, maxValue, errorMessage } = column;
  return {
    typeSignature: type,
    type: legacyName(type),
    hasMultipleValues,
    hasNulls,
    size: sizeBytes,
    cardinality,
    minValue,
    maxValue,
    errorMessage,
  };
}

/** The older name of a type: of arrays without what they hold, of others only that. */
function legacyName(type: string): string {
  return type.startsWith('ARRAY<') ? 'ARRAY' : (/^COMPLEX<(.*)>$/.exec(type)?.[1] ?? type);
}

/** The id is `merged` unless there is one; what differs between segments and cannot be joined becomes null or a column's error. */
function mergeAnalyses(analyses: readonly SegmentAnalysis[], strategy: SegmentMetadataQuery['aggregatorMergeStrategy']): SegmentAnalysis {
  // The order of columns is that of the latest segment, which comes last.
  const columns = new Map<string, ColumnAnalysis>();
  for (const analysis of analyses.toReversed()) {
    for (const [name, column] of Object.entries(analysis.columns)) {
      const known = columns.get(name);
      columns.set(name, known === undefined ? column : mergeColumns(known, column));
    }
  }
  const sum = (read: (analysis: SegmentAnalysis) => number): number => analyses.reduce((total, analysis) => total + read(analysis), 0);
  const [first] = analyses;
  return {
    id: analyses.length === 1 && first !== undefined ? first.id : 'merged',
    intervals: condenseIntervals(analyses.flatMap(({ intervals }) => intervals)),
    columns: Object.fromEntries(columns),
    sizeBytes: sum(({ sizeBytes }) => sizeBytes),
    numRows: sum(({ numRows }) => numRows),
    aggregators: mergeAggregators(analyses, strategy),
    timestampSpec: sameOrNull(analyses.map(({ timestampSpec }) => timestampSpec)),
    queryGranularity: sameOrNull(analyses.map(({ queryGranularity }) => queryGranularity)),
    rollup: sameOrNull(analyses.map(({ rollup }) => rollup)),
  };
}

function mergeColumns(a: ColumnAnalysis, b: ColumnAnalysis): ColumnAnalysis {
  if (a.errorMessage !== null) return a;
  if (b.errorMessage !== null) return b;
  if (a.type !== b.type) {
    const [first = '', second = ''] = [a.type, b.type].sort();
    return {
      type: 'STRING',
      hasMultipleValues: false,
      hasNulls: false,
      sizeBytes: 0,
      cardinality: null,
      minValue: null,
      maxValue: null,
      errorMessage: `error:cannot_merge_diff_types: [${first}] and [${second}]`,
    };
  }
  return {
    type: a.type,
    hasMultipleValues: a.hasMultipleValues || b.hasMultipleValues,
    hasNulls: a.hasNulls || b.hasNulls,
    sizeBytes: a.sizeBytes + b.sizeBytes,
    // Two segments may have the same values, so only the larger number is certain.
    cardinality: a.cardinality === null || b.cardinality === null ? null : Math.max(a.cardinality, b.cardinality),
    minValue: a.minValue === null || b.minValue === null ? null : a.minValue < b.minValue ? a.minValue : b.minValue,
    maxValue: a.maxValue === null || b.maxValue === null ? (a.maxValue ?? b.maxValue) : a.maxValue > b.maxValue ? a.maxValue : b.maxValue,
    errorMessage: null,
  };
}

function sameOrNull<Value>(values: readonly Value[]): Value | null {
  const [first] = values;
  return first !== undefined && values.every((value) => stringifyJson(value) === stringifyJson(first)) ? first : null;
}

/** strict: all or nothing; lenient: what conflicts is null by name; earliest, latest: of segments in time order, the first or last. */
function mergeAggregators(
  analyses: readonly SegmentAnalysis[],
  strategy: SegmentMetadataQuery['aggregatorMergeStrategy'],
): SegmentAnalysis['aggregators'] {
  const byTime = [...analyses].sort((a, b) => (a.intervals[0]?.start ?? 0) - (b.intervals[0]?.start ?? 0));
  const lists = (strategy === 'latest' ? byTime.reverse() : byTime).map(({ aggregators }) => aggregators);
  if (strategy === 'strict' && lists.includes(null)) return null;
  const merged = new Map<string, unknown>();
  for (const list of lists) {
    for (const [name, aggregator] of Object.entries(list ?? {})) {
      const known = merged.get(name);
      const conflicts = known !== undefined && stringifyJson(known) !== stringifyJson(aggregator);
      if (conflicts && strategy === 'strict') return null;
      if (conflicts && strategy === 'lenient') merged.set(name, null);
      else if (!merged.has(name)) merged.set(name, aggregator);
    }
  }
  // A segment alone without aggregators says {}, several of them null.
  return merged.size === 0 && (lists.length > 1 || lists[0] === null) ? null : Object.fromEntries(merged);
}
