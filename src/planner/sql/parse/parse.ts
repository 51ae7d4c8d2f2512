// Entry of the SQL parser: statement text → our syntax tree.

import type { Conversion } from './conversion.js';
import { convertExpression } from './convert-expression.js';
import { convertQuery } from './convert-query.js';
import { type Node, parseCst } from './cst.js';
import { takePivots } from './pivot-clauses.js';
import { refuseByName } from './refused-clauses.js';
import { rewrite } from './rewrite.js';
import type { SourceText } from './source-text.js';
import { statementClauses } from './statement-clauses.js';
import type { SelectItem, SqlExpression, SqlQuery, SqlStatement } from './syntax.js';
import type { TokenRange } from './token-range.js';
import { TokenStream } from './token-stream.js';

/**
 * SQL text → our own syntax tree.
 * @throws ServiceError `sql_invalid` with the position; `unsupported` for what Dolmen does not do
 */
export function parseSql(source: SourceText): SqlStatement {
  const stream = new TokenStream(source);
  refuseByName(stream);
  const { explain, query, ingestion } = statementClauses(stream);
  const { byTable: pivots, lists } = takePivots(stream);
  const marks = rewrite(stream, lists);
  const parameters = new Map<number, number>();
  for (const [index, token] of stream.tokens.entries()) if (stream.is(index, '?')) parameters.set(token.start, parameters.size);

  const convert = <Result>(range: TokenRange, prefix: string, then: (conversion: Conversion, node: Node) => Result): Result => {
    const text = stream.parserText(range.from, range.to, prefix);
    const conversion: Conversion = {
      source,
      text,
      marks,
      parameters,
      named: new Map(),
      withClauses: new Map(),
      pivots,
      selectItems,
      expression: convertExpression,
      query: convertQuery,
    };
    return then(conversion, parseCst(source, text));
  };
  function selectItems(range: TokenRange): readonly SelectItem[] {
    const query = convert<SqlQuery>(range, 'SELECT ', convertQuery);
    const isBare = query.kind === 'select' && Object.entries(query).every(([clause, value]) => ITEMS_ONLY.has(clause) || isEmpty(value));
    if (!isBare) throw source.error('sql_invalid', stream.start(range.from), 'expected expressions, found more of a query');
    return query.items;
  }
  const parsedQuery = convert<SqlQuery>(query, '', convertQuery);
  const parameterCount = parameters.size;
  if (ingestion === null) return { kind: 'select', explained: explain, parameterCount, query: parsedQuery };

  if (ingestion.kind === 'export')
    return {
      kind: 'export',
      explained: explain,
      parameterCount,
      at: stream.start(ingestion.from),
      destination: ingestion.destination,
      query: parsedQuery,
    };

  const expression = (range: TokenRange): SqlExpression => {
    const [item, second] = selectItems(range);
    if (item === undefined || second !== undefined || item.alias !== null)
      throw source.error('sql_invalid', stream.start(range.from), 'expected one expression');
    return item.expression;
  };
  const { partitionedBy, overwrite } = ingestion;
  const unit =
    partitionedBy.to - partitionedBy.from === 1 && stream.isWord(partitionedBy.from) ? stream.text(partitionedBy.from) : undefined;
  const words = partitionedBy.to - partitionedBy.from === 2 && stream.is(partitionedBy.from, 'ALL', 'TIME') ? 'ALL' : unit;
  return {
    kind: ingestion.kind,
    explained: explain,
    parameterCount,
    at: stream.start(ingestion.from),
    target: ingestion.target,
    overwrite: overwrite === null || overwrite === 'all' ? overwrite : expression(overwrite),
    partitionedBy: words === undefined ? expression(partitionedBy) : { kind: 'unit', at: stream.start(partitionedBy.from), unit: words },
    clusteredBy: ingestion.clusteredBy.map(expression),
    query: parsedQuery,
  };
}

/** Fields of a SELECT that has only a list. */
const ITEMS_ONLY: ReadonlySet<string> = new Set(['kind', 'at', 'items']);

function isEmpty(clause: unknown): boolean {
  return (
    clause === null || clause === false || (Array.isArray(clause) && clause.length === 0) || (clause instanceof Map && clause.size === 0)
  );
}
