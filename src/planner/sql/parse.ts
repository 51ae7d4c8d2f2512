import type { Conversion } from './convert-expression.js';
import { convertQuery } from './convert-query.js';
import { type Node, parseCst } from './cst.js';
import { rewrite } from './rewrite.js';
import type { SourceText } from './source-text.js';
import { statementClauses, type TokenRange } from './statement-clauses.js';
import type { SqlExpression, SqlQuery, SqlStatement } from './syntax.js';
import { TokenStream } from './token-stream.js';

/**
 * SQL text → our own syntax tree.
 * @throws ServiceError `sql_invalid` with the position; `unsupported` for what Dolmen does not do
 */
export function parseSql(source: SourceText): SqlStatement {
  const stream = new TokenStream(source);
  const { explain, query, ingestion } = statementClauses(stream);
  const marks = rewrite(stream);
  const parameters = new Map<number, number>();
  for (const [index, token] of stream.tokens.entries()) if (stream.is(index, '?')) parameters.set(token.start, parameters.size);

  const convert = <Result>(range: TokenRange, prefix: string, then: (conversion: Conversion, node: Node) => Result): Result => {
    const text = stream.parserText(range.from, range.to, prefix);
    return then({ source, text, marks, parameters, named: new Map(), withClauses: new Map() }, parseCst(source, text));
  };
  const parsedQuery = convert<SqlQuery>(query, '', convertQuery);
  if (ingestion === null) return { kind: explain ? 'explain' : 'select', query: parsedQuery };

  const expression = (range: TokenRange): SqlExpression => {
    const query = convert<SqlQuery>(range, 'SELECT ', convertQuery);
    const [item, second] = query.kind === 'select' ? query.items : [];
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
    at: stream.start(0),
    target: ingestion.target,
    overwrite: overwrite === null || overwrite === 'all' ? overwrite : expression(overwrite),
    partitionedBy: words === undefined ? expression(partitionedBy) : { kind: 'unit', at: stream.start(partitionedBy.from), unit: words },
    clusteredBy: ingestion.clusteredBy.map(expression),
    query: parsedQuery,
  };
}
