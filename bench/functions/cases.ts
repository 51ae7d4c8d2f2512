import { AGGREGATES } from './aggregates.js';
import { OF_DOCUMENTS, OF_LISTS } from './lists.js';
import { OF_DOUBLES, OF_LONGS, OF_NUMBERS } from './numbers.js';
import { OF_STRINGS, OF_TEXTS } from './strings.js';
import { OF_TIME } from './times.js';
import type { Words } from './words.js';

/**
 * An expression over a column of the table, asked as an aggregate: the sum of a number, of a string's length, or the rows for which
 * a condition holds. `duckdb` is the same in DuckDB's words; null where it has no such function.
 */
export interface Case {
  readonly name: string;
  readonly sql: string;
  readonly duckdb: string | null;
}

const NUMBERS = ['tiny', 'long', 'wide', 'dbl', 'dec', 'flt'] as const;
const LONGS = ['tiny', 'long', 'wide'] as const;
const STRINGS = ['low', 'mid', 'high'] as const;

const named = (of: string, words: readonly Words[]): Case[] =>
  words.map(([name, sql, duckdb]) => ({
    name: `${name} of ${of}`,
    sql: sql.replaceAll(/\bx\b/g, of),
    duckdb: duckdb === null ? null : (duckdb ?? sql).replaceAll(/\bx\b/g, of),
  }));
const plain = (words: readonly Words[]): Case[] =>
  words.map(([name, sql, duckdb]) => ({ name, sql, duckdb: duckdb === null ? null : (duckdb ?? sql) }));

export const CASES: readonly Case[] = [
  ...NUMBERS.flatMap((column) => named(column, OF_NUMBERS)),
  ...LONGS.flatMap((column) => named(column, OF_LONGS)),
  ...['dbl', 'dec', 'flt'].flatMap((column) => named(column, OF_DOUBLES)),
  ...STRINGS.flatMap((column) => named(column, OF_STRINGS)),
  ...plain(OF_TIME).map((each) => ({ ...each, name: `${each.name} of __time` })),
  ...plain([...OF_TEXTS, ...OF_LISTS, ...OF_DOCUMENTS, ...AGGREGATES]),
];
