import type { ExpressionRequest, Fields } from './case.js';

/** The scan by which an expression is asked for: as a virtual column of `nasty`, or of inline rows. */
export function expressionQuery(request: ExpressionRequest): Fields {
  const virtualColumns = [{ type: 'expression', name: 'v0', expression: request.expression }];
  const intervals = ['0001-01-01/+10000-01-01'];
  if (request.columns === undefined) {
    return { queryType: 'scan', dataSource: 'nasty', intervals, virtualColumns, columns: ['id', 'v0'], resultFormat: 'compactedList' };
  }
  const columns = [{ name: '__time', type: 'LONG', value: 0 }, ...request.columns];
  return {
    queryType: 'scan',
    dataSource: {
      type: 'inline',
      columnNames: columns.map(({ name }) => name),
      columnTypes: columns.map(({ type }) => type),
      rows: [columns.map(({ value }) => value)],
    },
    intervals,
    virtualColumns,
    columns: ['v0'],
    resultFormat: 'compactedList',
  };
}
