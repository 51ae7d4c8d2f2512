import { parseQuery } from '../../../../src/planner/native/query/query.js';
import type { KnownTables } from '../../../../src/planner/plan.js';

const tables: KnownTables = {
  table: (name) =>
    name !== 'wiki'
      ? undefined
      : {
          interval: { start: Date.UTC(2015, 8, 12), end: Date.UTC(2015, 8, 13) },
          columns: [
            { name: '__time', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'page', type: 'STRING', multiValue: false, hasNulls: true },
            { name: 'added', type: 'LONG', multiValue: false, hasNulls: false },
            { name: 'price', type: 'DOUBLE', multiValue: false, hasNulls: false },
          ],
        },
};
export const parse = (body: unknown, lenient = false) => parseQuery(body, lenient, tables);

export const timeseries = {
  queryType: 'timeseries',
  dataSource: 'wiki',
  intervals: '2015-09-12/2015-09-13',
  granularity: 'hour',
  aggregations: [{ type: 'count', name: 'rows' }],
};
export const topN = { ...timeseries, queryType: 'topN', dimension: 'page', metric: 'rows', threshold: 5 };
export const groupBy = { ...timeseries, queryType: 'groupBy', dimensions: ['page'] };
export const scan = { queryType: 'scan', dataSource: 'wiki', intervals: ['2015-09-12/P1D'] };
export const filtered = (filter: unknown) => ({ ...timeseries, filter });
export const aggregated = (aggregation: unknown) => ({ ...timeseries, aggregations: [aggregation] });
export const posted = (postAggregation: unknown) => ({ ...timeseries, postAggregations: [postAggregation] });
