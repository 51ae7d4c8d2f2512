import path from 'node:path';
import { csvIngestion, writeCsv } from './csv.js';

/** Type of a column of a generated table: `tags` are strings of several values, written with `|` between them. */
export type ColumnType = 'time' | 'string' | 'tags' | 'json' | 'long' | 'double';
/** A cell of its file; an empty string is null. */
export type TableCell = string | number | bigint;

/** A table that both engines load from one file. */
export interface TypedTable {
  readonly name: string;
  /** In the order of the file; `__time` is the first. */
  readonly columns: Readonly<Record<string, ColumnType>>;
}

const DOLMEN_TYPES: Readonly<Record<ColumnType, string>> = {
  time: '',
  string: 'string',
  tags: 'string',
  json: 'json',
  long: 'long',
  double: 'double',
};
const DUCKDB_TYPES: Readonly<Record<ColumnType, string>> = {
  time: 'TIMESTAMP',
  string: 'VARCHAR',
  tags: 'VARCHAR',
  json: 'VARCHAR',
  long: 'BIGINT',
  double: 'DOUBLE',
};

const quoted = (cell: TableCell): string =>
  typeof cell === 'string' && /[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : String(cell);

/** @returns the number of rows */
export function writeTypedTable(file: string, { columns }: TypedTable, rows: Iterable<readonly TableCell[]>): number {
  return writeCsv(file, Object.keys(columns), linesOf(rows));
}

function* linesOf(rows: Iterable<readonly TableCell[]>): Generator<string> {
  for (const row of rows) yield row.map(quoted).join(',');
}

const ofType = ({ columns }: TypedTable, type: ColumnType): string[] => Object.keys(columns).filter((name) => columns[name] === type);

/** The task that adds a file to the datasource: a segment a day, or several where files meet within a day. */
export function typedIngestion(table: TypedTable, file: string, segmentGranularity: 'day' | 'all' = 'day'): unknown {
  return csvIngestion({
    folder: path.dirname(file),
    file: path.basename(file),
    appendToExisting: true,
    dataSource: table.name,
    dimensions: Object.entries(table.columns)
      .filter(([, type]) => type !== 'time')
      .map(([name, type]) => ({ name, type: DOLMEN_TYPES[type] })),
    segmentGranularity,
    listDelimiter: '|',
    transforms: ofType(table, 'json').map((name) => ({ type: 'expression', name, expression: `parse_json(${name})` })),
  });
}

/** Rows of a file as a table of DuckDB, or added to one. */
export function typedInDuckdb(table: TypedTable, file: string, isNew: boolean): string {
  const columns = Object.entries(table.columns).map(([name, type]) => `'${name}': '${DUCKDB_TYPES[type]}'`);
  const replaced = [
    ...ofType(table, 'tags').map((name) => `string_split(${name}, '|') AS ${name}`),
    ...ofType(table, 'json').map((name) => `${name}::JSON AS ${name}`),
  ];
  return `${isNew ? `CREATE TABLE ${table.name} AS` : `INSERT INTO ${table.name}`} SELECT *${replaced.length > 0 ? ` REPLACE (${replaced.join(', ')})` : ''}
    FROM read_csv('${file}', header = true, quote = '"', escape = '"', columns = {${columns.join(', ')}})`;
}
