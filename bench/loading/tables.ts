import path from 'node:path';

/*
 * The tables that are loaded: ascending times over ten days, then columns in turn of few strings, longs, doubles of two decimals and
 * many strings. DuckDB writes the files, from hashes of row numbers: the same (columns, rows) gives the same rows.
 */
export type FileFormat = 'csv' | 'ndjson' | 'parquet';

export interface LoadedTable {
  readonly format: FileFormat;
  readonly columnCount: number;
  readonly rows: number;
  readonly file: string;
}

interface Column {
  readonly name: string;
  readonly type: 'string' | 'long' | 'double';
  /** Over `i`, the number of the row. */
  readonly sql: string;
}

const START = '2024-03-01';
const SPAN_MS = 10 * 86_400_000;
const KINDS: readonly ((at: number) => Column)[] = [
  (at) => ({ name: `few${at}`, type: 'string', sql: `'value ' || hash(i * 31 + ${at}) % 250` }),
  (at) => ({ name: `long${at}`, type: 'long', sql: `(hash(i * 37 + ${at}) % 1000000)::BIGINT` }),
  (at) => ({ name: `double${at}`, type: 'double', sql: `((hash(i * 41 + ${at}) % 100000) / 100)::DOUBLE` }),
  // Skewed: half of the rows have one of some hundred values.
  (at) => ({
    name: `many${at}`,
    type: 'string',
    sql: `'/page/' || (hash(i * 43 + ${at}) % (1 + hash(i * 47 + ${at}) % 20000)) || '.html'`,
  }),
];

export function columnsOf({ columnCount }: Pick<LoadedTable, 'columnCount'>): readonly Column[] {
  return Array.from({ length: columnCount - 1 }, (_, at) => {
    const kind = KINDS[at % KINDS.length];
    if (kind === undefined) throw new Error('a kind for every column');
    return kind(at);
  });
}

const EXTENSIONS: Readonly<Record<FileFormat, string>> = { csv: 'csv', ndjson: 'json', parquet: 'parquet' };

export function tableOf(format: FileFormat, columnCount: number, rows: number, folder: string): LoadedTable {
  return { format, columnCount, rows, file: path.join(folder, `${format}-${columnCount}.${EXTENSIONS[format]}`) };
}

/** Statement that writes the file: times are texts in text, timestamps in Parquet. */
export function writingOf(table: LoadedTable): string {
  const { format, rows, file } = table;
  const time = `TIMESTAMP '${START}' + to_milliseconds((i * ${SPAN_MS}) // ${rows})`;
  const columns = columnsOf(table).map(({ name, sql }) => `${sql} AS ${name}`);
  const selected = [`${format === 'parquet' ? time : `strftime(${time}, '%Y-%m-%dT%H:%M:%S.%gZ')`} AS __time`, ...columns].join(', ');
  const options = { csv: 'FORMAT csv, HEADER true', ndjson: 'FORMAT json', parquet: 'FORMAT parquet' }[format];
  return `COPY (SELECT ${selected} FROM range(${rows}) t(i)) TO '${file}' (${options})`;
}

/** Statement that makes the table `loaded` of the file. */
export function loadingOfDuckDb(table: LoadedTable): string {
  const types = { string: 'VARCHAR', long: 'BIGINT', double: 'DOUBLE' };
  const columns = [`__time: 'TIMESTAMP'`, ...columnsOf(table).map(({ name, type }) => `${name}: '${types[type]}'`)].join(', ');
  const source = {
    csv: `read_csv('${table.file}', header = true, columns = {${columns}})`,
    ndjson: `read_json('${table.file}', format = 'newline_delimited', columns = {${columns}})`,
    parquet: `read_parquet('${table.file}')`,
  };
  return `CREATE TABLE loaded AS SELECT * FROM ${source[table.format]}`;
}

export function ingestionOf(table: LoadedTable, dataSource: string): unknown {
  const { format, file } = table;
  const inputFormat = { csv: { type: 'csv', findColumnsFromHeader: true }, ndjson: { type: 'json' }, parquet: { type: 'parquet' } };
  return {
    type: 'index_parallel',
    spec: {
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'local', baseDir: path.dirname(file), filter: path.basename(file) },
        inputFormat: inputFormat[format],
      },
      dataSchema: {
        dataSource,
        timestampSpec: { column: '__time', format: 'auto' },
        dimensionsSpec: { dimensions: columnsOf(table).map(({ name, type }) => ({ name, type })) },
        granularitySpec: { type: 'uniform', segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
      },
      tuningConfig: { type: 'index_parallel' },
    },
  };
}

/** Counts and sums of all columns, of strings the sum of their lengths; both engines understand it. */
export function checkOf(table: LoadedTable, from: string): string {
  const sums = columnsOf(table).map(({ name, type }) => (type === 'string' ? `SUM(CHAR_LENGTH(${name}))` : `SUM(${name})`));
  return `SELECT COUNT(*), ${sums.join(', ')} FROM ${from}`;
}
