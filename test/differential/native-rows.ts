import type { Fields, Json } from './case.js';

/** Comparable part of a native answer: the rows of all blocks of a scan, the parts of metadata that do not depend on file formats. */
export function rowsOfNative(query: Fields, answer: Json): Json {
  const { queryType } = query;
  if (!Array.isArray(answer)) return answer;
  if (queryType === 'scan') return (answer as Fields[]).flatMap((block) => block['events'] as Json[]);
  if (queryType === 'segmentMetadata') return (answer as Fields[]).map(analysisOf);
  return answer;
}

function analysisOf(analysis: Fields): Json {
  const columns = Object.entries((analysis['columns'] ?? {}) as { readonly [name: string]: Fields }).map(([name, column]) => {
    const { type, typeSignature, hasMultipleValues, hasNulls, cardinality, minValue, maxValue, errorMessage } = column;
    return [name, { type, typeSignature, hasMultipleValues, hasNulls, cardinality, minValue, maxValue, errorMessage }] as const;
  });
  const { intervals, numRows, aggregators, timestampSpec, queryGranularity, rollup } = analysis;
  return { intervals, numRows, aggregators, timestampSpec, queryGranularity, rollup, columns: Object.fromEntries(columns) } as Json;
}
