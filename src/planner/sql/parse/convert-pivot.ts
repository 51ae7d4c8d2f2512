// Converts PIVOT and UNPIVOT.

import type { Conversion } from './conversion.js';
import type { PivotClause } from './pivot-clauses.js';
import type { SqlExpression, SqlRelation } from './syntax.js';
import type { TokenRange } from './token-range.js';

/** A table with the PIVOT and UNPIVOT that stand behind it; `at`: where it begins. */
export function withPivots(conversion: Conversion, table: SqlRelation, at: number): SqlRelation {
  const clauses = conversion.pivots.get(at) ?? [];
  return clauses.reduce(
    (input, clause) => (clause.kind === 'pivot' ? pivot(conversion, input, clause) : unpivot(conversion, input, clause)),
    table,
  );
}

function pivot(conversion: Conversion, input: SqlRelation, clause: Extract<PivotClause, { kind: 'pivot' }>): SqlRelation {
  return {
    kind: 'pivot',
    at: clause.at,
    input,
    aggregates: conversion.selectItems(clause.aggregates),
    axes: listOf(conversion, clause.axes),
    values: clause.values.map(({ expression, literals, name }) => ({ expressions: literals ?? listOf(conversion, expression), name })),
    columnNames: null,
    alias: null,
  };
}

function unpivot(conversion: Conversion, input: SqlRelation, clause: Extract<PivotClause, { kind: 'unpivot' }>): SqlRelation {
  const names = (range: TokenRange): readonly string[] =>
    listOf(conversion, range).map((expression) => {
      const [name, second] = expression.kind === 'name' ? expression.path : [];
      if (name === undefined || second !== undefined)
        throw conversion.source.error('sql_invalid', expression.at, 'UNPIVOT takes the name of a column here');
      return name;
    });
  return {
    kind: 'unpivot',
    at: clause.at,
    input,
    includesNulls: clause.includesNulls,
    measures: names(clause.measures),
    axes: names(clause.axes),
    items: clause.columns.map((item) => ({
      columns: listOf(conversion, item.names),
      labels: item.label === null ? null : listOf(conversion, item.label),
    })),
    columnNames: null,
    alias: null,
  };
}

/** `a`, or `(a, b)`. */
function listOf(conversion: Conversion, range: TokenRange): readonly SqlExpression[] {
  const [item, second] = conversion.selectItems(range);
  if (item === undefined || second !== undefined || item.alias !== null)
    throw conversion.source.error('sql_invalid', item?.expression.at ?? 0, 'expected one expression, or several in parentheses');
  return item.expression.kind === 'row' ? item.expression.elements : [item.expression];
}
