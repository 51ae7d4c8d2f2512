import { AGGREGATE_EXAMPLES } from './examples/aggregates.js';
import { COLLECTION_EXAMPLES } from './examples/collections.js';
import { NUMERIC_EXAMPLES } from './examples/numbers.js';
import { SKETCH_EXAMPLES } from './examples/sketches.js';
import { TEXT_EXAMPLES } from './examples/texts.js';
import { TIME_EXAMPLES } from './examples/times.js';
import { WINDOW_EXAMPLES } from './examples/windows.js';

/**
 * An expression and its value, or a statement (which begins with SELECT) and its rows. `#x#` is an argument that is tried
 * as the literal it is and as a column of VALUES, so that planner and engine both give the value. Values are from the
 * documentation or from arithmetic; instants are milliseconds, integers are numbers.
 */
export type Example = readonly [sql: string, expected: unknown];
export type Examples = Readonly<Record<string, readonly Example[]>>;

/** Examples of every function of SQL that is answered, by name. */
export const FUNCTION_EXAMPLES: Examples = {
  ...NUMERIC_EXAMPLES,
  ...TEXT_EXAMPLES,
  ...TIME_EXAMPLES,
  ...AGGREGATE_EXAMPLES,
  ...SKETCH_EXAMPLES,
  ...COLLECTION_EXAMPLES,
  ...WINDOW_EXAMPLES,
};

/** The statements an example stands for, each with its rows. */
export function statementsOf([sql, expected]: Example): readonly { readonly sql: string; readonly rows: unknown }[] {
  if (sql.startsWith('SELECT ')) return [{ sql, rows: expected }];
  const marked: string[] = [];
  const overColumns = sql.replace(/#([^#]*)#/g, (_, written: string) => `x${marked.push(written)}`);
  const rows = [[expected]];
  const literal = { sql: `SELECT ${sql.replaceAll('#', '')}`, rows };
  if (marked.length === 0) return [literal];
  const names = marked.map((_, index) => `x${index + 1}`).join(', ');
  return [literal, { sql: `SELECT ${overColumns} FROM (VALUES (${marked.join(', ')})) AS t(${names})`, rows }];
}
