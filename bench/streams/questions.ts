import type { Shape } from './shapes.js';

/**
 * Native queries over all rows of a shape: the sum of each number, and the same by each value of its first string.
 * The first one counts, as `rows`, those that were read, also where rollup has made fewer of them.
 */
export function questionsOf(dataSource: string, { dimensions, metrics = [] }: Shape): readonly object[] {
  const all = { dataSource, intervals: ['2023-01-01/2024-01-01'], granularity: 'all', context: { useCache: false, populateCache: false } };
  const [key] = dimensions.filter((each) => typeof each === 'string');
  const counts = metrics.find(({ type }) => type === 'count');
  const aggregations = [
    counts === undefined ? { type: 'count', name: 'rows' } : { type: 'longSum', name: 'rows', fieldName: counts.name },
    ...dimensions.flatMap((each) => (typeof each === 'string' ? [] : [{ type: 'longSum', name: each.name, fieldName: each.name }])),
    ...metrics.flatMap(({ type, name }) => (type === 'count' ? [] : [{ type, name, fieldName: name }])),
  ];
  const limitSpec = { type: 'default', columns: [{ dimension: key, direction: 'ascending' }] };
  return [
    { ...all, queryType: 'timeseries', aggregations },
    { ...all, queryType: 'groupBy', dimensions: [key], aggregations, limitSpec },
  ];
}

/** Rows of answers, without the words around them. */
export function saidBy(answers: readonly unknown[]): unknown {
  return (answers as readonly { readonly result?: unknown; readonly event?: unknown }[][]).map((rows) =>
    rows.map(({ result, event }) => result ?? event),
  );
}
