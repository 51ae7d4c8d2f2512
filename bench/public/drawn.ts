/** A table that DuckDB makes by a statement, and Dolmen loads from a file of it. */
export interface PublicTable {
  readonly name: string;
  /** Statement of its rows; `__time` is a column of them. */
  readonly sql: string;
  readonly segmentGranularity: 'hour' | 'day' | 'month' | 'all';
  /** Columns whose strings are JSON documents. */
  readonly documents?: readonly string[];
}

/** A whole number from 0 to `count` - 1, the same for a row whenever it is made; `salt` tells columns apart. */
export const drawn = (salt: number, count: number): string => `(hash(i * 7919 + ${salt}) % ${Math.floor(count)})::BIGINT`;
/** The same, of which small ones are frequent. */
export const skewed = (salt: number, count: number): string =>
  `floor(${Math.floor(count)} * pow((hash(i * 7919 + ${salt}) % 1000000) / 1e6, 3))::BIGINT`;
export const money = (salt: number, cents: number, least = 0): string => `round(${least} + ${drawn(salt, cents)} / 100.0, 2)::DOUBLE`;
export const oneOf = (words: readonly string[], place: string): string => `[${words.map((word) => `'${word}'`).join(', ')}][1 + ${place}]`;

/** Instants in the order of the rows: `count` of them from a day on, over so many days. */
export const timesFrom = (start: string, days: number, count: number): string =>
  `TIMESTAMP '${start}' + to_milliseconds((i * ${days * 86_400_000}) // ${count})`;
export const numbers = (count: number): string => `FROM range(${count}) numbers(i)`;
