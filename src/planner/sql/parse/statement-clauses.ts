// Finds the clauses around a query: EXPLAIN, INSERT, REPLACE, PARTITIONED BY.

import type { ExportDestination } from './syntax.js';
import { commaList, expected, nonEmpty, type TokenRange } from './token-range.js';
import type { TokenStream } from './token-stream.js';

/** Token ranges of the clauses the parser does not know; `query` is what remains for it. */
export interface StatementClauses {
  readonly explain: boolean;
  readonly query: TokenRange;
  readonly ingestion: IngestionClauses | ExportClauses | null;
}

/** INSERT INTO EXTERN(…) AS format. */
interface ExportClauses {
  readonly kind: 'export';
  readonly from: number;
  readonly destination: ExportDestination;
}

interface IngestionClauses {
  readonly kind: 'insert' | 'replace';
  /** The first token, behind EXPLAIN PLAN FOR. */
  readonly from: number;
  readonly target: readonly string[];
  /** The condition of OVERWRITE WHERE. */
  readonly overwrite: 'all' | TokenRange | null;
  readonly partitionedBy: TokenRange;
  readonly clusteredBy: readonly TokenRange[];
}

/**
 * EXPLAIN PLAN FOR query; INSERT INTO EXTERN(kind(name => 'value', ...)) AS format query; INSERT INTO t query PARTITIONED BY ... [CLUSTERED BY ...]; REPLACE INTO t OVERWRITE
 * {ALL | WHERE condition} query PARTITIONED BY ... [CLUSTERED BY ...]. The WITH of a query may stand before INSERT and REPLACE.
 */
export function statementClauses(stream: TokenStream): StatementClauses {
  const { source } = stream;
  let end = stream.tokens.length;
  while (end > 0 && stream.is(end - 1, ';')) end--;
  if (end === 0) throw source.error('sql_invalid', 0, 'the statement is empty');
  if (stream.is(0, 'SET'))
    throw source.unsupported(
      stream.start(0),
      'SET outside of /svc/v2/sql and /svc/v2/sql/task, where it may stand before a query (a JDBC connection takes settings as properties),',
    );
  const separator = stream.find(0, end, (index) => stream.is(index, ';'));
  if (separator !== undefined && stream.is(separator + 1, 'SET'))
    throw source.error('sql_invalid', stream.start(separator + 1), 'SET must stand before the query it is for');
  if (separator !== undefined) throw source.unsupported(stream.start(separator), 'more than one statement in a request');
  if (stream.is(0, 'EXPLAIN')) {
    if (!stream.is(1, 'PLAN', 'FOR')) throw expected(stream, 1, 'PLAN FOR after EXPLAIN');
  }
  const from = stream.is(0, 'EXPLAIN') ? 3 : 0;
  const explain = from > 0;
  if (isIngestion(stream, from)) return { explain, ...ingestion(stream, from, end) };
  const inner = stream.is(from, 'WITH')
    ? stream.find(from, end, (index) => isIngestion(stream, index) && stream.is(index + 1, 'INTO'))
    : undefined;
  if (inner === undefined) return { explain, query: { from, to: end }, ingestion: null };
  const { query, ...clauses } = ingestion(stream, inner, end);
  stream.remove(inner, query.from);
  return { explain, ...clauses, query: { from, to: query.to } };
}

function isIngestion(stream: TokenStream, index: number): boolean {
  return (stream.is(index, 'INSERT') || stream.is(index, 'REPLACE')) && !stream.is(index + 1, '(');
}

function ingestion(stream: TokenStream, from: number, end: number): Omit<StatementClauses, 'explain'> {
  const kind = stream.is(from, 'INSERT') ? 'insert' : 'replace';
  const word = stream.text(from);
  if (!stream.is(from + 1, 'INTO')) throw expected(stream, from + 1, `INTO after ${word}`);
  if (stream.is(from + 2, 'EXTERN', '(')) {
    if (kind === 'replace') throw stream.source.unsupported(stream.start(from + 2), 'REPLACE INTO EXTERN');
    return exportClauses(stream, from, end);
  }
  const target: string[] = [];
  let at = from + 1;
  do {
    const name = stream.name(++at);
    if (name === undefined) throw expected(stream, at, 'the name of a datasource');
    target.push(name);
  } while (stream.is(++at, '.'));
  if (stream.is(at, '(') && !startsQuery(stream, at))
    throw stream.source.error(
      'unsupported',
      stream.start(at),
      `a column list in ${word} is not supported: the columns of the query go by their names`,
    );
  let overwrite: IngestionClauses['overwrite'] = null;
  if (kind === 'replace') {
    if (!stream.is(at, 'OVERWRITE')) throw expected(stream, at, 'OVERWRITE ALL or OVERWRITE WHERE');
    const start = at + 2;
    if (stream.is(at + 1, 'ALL')) [overwrite, at] = ['all', start];
    else if (stream.is(at + 1, 'WHERE')) {
      at = stream.find(start, end, (index) => startsQuery(stream, index)) ?? end;
      overwrite = nonEmpty(stream, start, at, 'an expression');
    } else throw expected(stream, at + 1, 'ALL or WHERE');
  }
  if (!startsQuery(stream, at)) throw expected(stream, at, 'SELECT, WITH or VALUES');
  const partitioned = stream.find(at, end, (index) => stream.is(index, 'PARTITIONED', 'BY'));
  if (partitioned === undefined) throw expected(stream, end, 'PARTITIONED BY');
  const clustered = stream.find(partitioned, end, (index) => stream.is(index, 'CLUSTERED', 'BY'));
  const early = stream.find(at, partitioned, (index) => stream.is(index, 'CLUSTERED', 'BY'));
  if (early !== undefined) throw stream.source.error('sql_invalid', stream.start(early), 'CLUSTERED BY must follow PARTITIONED BY');
  return {
    query: { from: at, to: partitioned },
    ingestion: {
      kind,
      from,
      target,
      overwrite,
      partitionedBy: nonEmpty(stream, partitioned + 2, clustered ?? end, 'an expression'),
      clusteredBy:
        clustered === undefined ? [] : commaList(stream, clustered + 2, end, 'an expression').map((item) => ascending(stream, item)),
    },
  };
}

/** `EXTERN(local(exportPath => 'path')) AS CSV SELECT …`: files, which have no time chunks. */
function exportClauses(stream: TokenStream, from: number, end: number): Omit<StatementClauses, 'explain'> {
  const opening = from + 3;
  const type = stream.name(opening + 1);
  if (type === undefined || !stream.is(opening + 2, '(')) throw expected(stream, opening + 1, `a destination: local(exportPath => 'path')`);
  const close = stream.closing(opening + 2);
  if (stream.closing(opening) !== close + 1) throw expected(stream, close + 1, ') after the destination');
  const settings = new Map<string, string>();
  for (const item of close === opening + 3 ? [] : commaList(stream, opening + 3, close, "name => 'value'")) {
    const name = stream.name(item.from);
    const value = stream.string(item.from + 2);
    if (name === undefined || !stream.is(item.from + 1, '=>') || value === undefined || item.to !== item.from + 3)
      throw expected(stream, item.from, "name => 'value'");
    if (settings.has(name)) throw stream.source.error('sql_invalid', stream.start(item.from), `${name} is given twice`);
    settings.set(name, value);
  }
  const as = close + 2;
  const format = stream.is(as, 'AS') ? stream.name(as + 1) : undefined;
  if (format === undefined) throw expected(stream, as, 'AS and a format: CSV or JSON');
  if (!startsQuery(stream, as + 2)) throw expected(stream, as + 2, 'SELECT, WITH or VALUES');
  for (const [first, second] of [
    ['PARTITIONED', 'BY'],
    ['CLUSTERED', 'BY'],
  ] as const) {
    const clause = stream.find(as, end, (index) => stream.is(index, first, second));
    if (clause !== undefined)
      throw stream.source.error('sql_invalid', stream.start(clause), `INSERT INTO EXTERN writes files, which have no ${first} BY`);
  }
  return {
    query: { from: as + 2, to: end },
    ingestion: { kind: 'export', from, destination: { at: stream.start(opening + 1), type, settings, format } },
  };
}

function startsQuery(stream: TokenStream, index: number): boolean {
  let first = index;
  while (stream.is(first, '(')) first++;
  return stream.is(first, 'SELECT') || stream.is(first, 'WITH') || stream.is(first, 'VALUES');
}

/** Rows are clustered in ascending order only. */
function ascending(stream: TokenStream, { from, to }: TokenRange): TokenRange {
  if (stream.is(to - 1, 'DESC')) throw stream.source.unsupported(stream.start(to - 1), 'DESC in CLUSTERED BY');
  if (stream.is(to - 2, 'NULLS')) throw stream.source.unsupported(stream.start(to - 2), `NULLS ${stream.text(to - 1)} in CLUSTERED BY`);
  return nonEmpty(stream, from, stream.is(to - 1, 'ASC') ? to - 1 : to, 'an expression');
}
