import { csvIngestion, writeCsv } from '../data/csv.js';

/** `DATE` is a column of days: text `yyyy-mm-dd` in Dolmen, which compares and casts it as a date, and DATE in DuckDB. */
type BenchType = 'LONG' | 'DOUBLE' | 'STRING' | 'DATE';

export interface BenchTable {
  readonly name: string;
  /** In the order of the specification. */
  readonly columns: Readonly<Record<string, BenchType>>;
  /** The same scale gives the same rows in the same order. Texts have no commas, quotes or line ends. */
  rows(scale: number): Iterable<readonly (string | number)[]>;
}

/** mulberry32, from its seed: whole numbers in [low, high], picks of a list. */
export interface Random {
  between(low: number, high: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return { between, pick: (list) => list[between(0, list.length - 1)] ?? list[0] };
}

const DAY_MS = 86_400_000;

/** Days since 1992-01-01 as `yyyy-mm-dd`. */
export function dayText(day: number): string {
  return new Date(Date.UTC(1992, 0, 1) + day * DAY_MS).toISOString().slice(0, 10);
}

/** @returns the number of rows written below the header line */
export function writeTable(file: string, table: BenchTable, scale: number): number {
  return writeCsv(file, Object.keys(table.columns), linesOf(table.rows(scale)));
}

function* linesOf(rows: Iterable<readonly (string | number)[]>): Generator<string> {
  for (const row of rows) yield row.join(',');
}

/** The task that replaces the table by its file, under one constant `__time`: neither benchmark has a time of its own. */
export function dolmenLoad({ name, columns }: BenchTable, folder: string): unknown {
  const dimension = ([column, type]: [string, BenchType]) => ({ name: column, type: type === 'DATE' ? 'string' : type.toLowerCase() });
  return csvIngestion({
    folder,
    file: `${name}.csv`,
    dataSource: name,
    dimensions: Object.entries(columns).map(dimension),
    segmentGranularity: 'all',
    timestampSpec: { column: 'no such column', format: 'iso', missingValue: '2000-01-01T00:00:00Z' },
  });
}

const DUCKDB_TYPES: Readonly<Record<BenchType, string>> = { LONG: 'BIGINT', DOUBLE: 'DOUBLE', STRING: 'VARCHAR', DATE: 'DATE' };

export function duckdbLoad({ name, columns }: BenchTable, folder: string): string {
  const types = Object.entries(columns).map(([column, type]) => `'${column}': '${DUCKDB_TYPES[type]}'`);
  return `CREATE TABLE ${name} AS SELECT * FROM read_csv('${folder}/${name}.csv', header = true, columns = {${types.join(', ')}})`;
}
