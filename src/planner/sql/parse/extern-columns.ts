// Reads the column list behind EXTERN.

import type { ColumnType } from '../../../model/schema.js';
import { nativeType, sqlTypeOf } from './sql-type.js';
import type { ExternColumn } from './syntax.js';
import type { TokenStream } from './token-stream.js';

/** `name type, name type` of tokens [from, to): the columns an external table is declared with. */
export function externColumns(stream: TokenStream, from: number, to: number): readonly ExternColumn[] {
  const columns: ExternColumn[] = [];
  let index = from;
  while (index < to) {
    const name = stream.name(index);
    if (name === undefined) throw stream.source.error('sql_invalid', stream.start(index), 'expected the name of a column');
    if (columns.some((column) => column.name === name))
      throw stream.source.error('sql_plan_invalid', stream.start(index), `column ${name} is declared twice`);
    const end = stream.find(index + 1, to, (inner) => stream.is(inner, ',')) ?? to;
    columns.push({ name, type: columnType(stream, index + 1, end) });
    index = end + 1;
    if (end < to && index >= to) throw stream.source.error('sql_invalid', stream.start(end), 'expected a column after this comma');
  }
  if (columns.length === 0) throw stream.source.error('sql_invalid', stream.start(from), 'an external table needs at least one column');
  return columns;
}

function columnType(stream: TokenStream, from: number, to: number): ColumnType {
  if (from >= to) throw stream.source.error('sql_invalid', stream.start(from), 'expected the type of a column');
  const text = stream.source.text.slice(stream.start(from), stream.tokens[to - 1]?.end);
  // A type that SQL has no word for is named in quotes.
  const named = /^TYPE\s*\(\s*'([^']*)'\s*\)$/i.exec(text)?.[1] ?? text;
  const type = sqlTypeOf(named.replace(/\s*\([\d\s,]*\)$/, '').replace(/\s+/g, ' '));
  if (type === undefined) throw stream.source.unsupported(stream.start(from), `the column type ${text.toUpperCase()}`);
  return nativeType(type);
}
