import { setMaxListeners } from 'node:events';
import { serialize } from 'node:v8';
import { DuckDBInstance } from '@duckdb/node-api';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../../src/base/instant.js';
import { parseJson, stringifyJson } from '../../../src/base/json.js';
import { resolveLookups } from '../../../src/cluster/lookups/resolve-lookups.js';
import { SourceRunner } from '../../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../../src/execution/run/local-engine.js';
import { plainData, valueOfText } from '../../../src/expression/value.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { cellAt, type Frame, frameColumnType } from '../../../src/model/frame.js';
import { type LookupTable, lookupTableOf } from '../../../src/model/lookup/lookup-table.js';
import type { RowSource, RowsPlan } from '../../../src/model/row-source.js';
import { type ColumnType, isArrayType, JSON_TYPE } from '../../../src/model/schema.js';
import type { OutputColumn, PlannedQuery } from '../../../src/model/statement.js';
import { planNative } from '../../../src/planner/native/plan-native.js';
import type { KnownTables } from '../../../src/planner/plan.js';
import { rowSourceColumns } from '../../../src/planner/row-source-columns.js';
import { inlineFrame } from '../../../src/planner/sql/catalog/inline-frame.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { nativeForm } from '../../../src/planner/sql/explain/native-form.js';
import { parseSql } from '../../../src/planner/sql/parse/parse.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import { RULES } from '../../../src/planner/sql/relation/rules/rules.js';
import { type UploadedFrame, uploadFrame } from '../../../src/storage/uploaded-frame.js';

/** SQL over a few small tables: here through planner, broker's source runner and engine, there in DuckDB. */
type Cell = string | bigint | number | null;

interface SmallTable {
  readonly columns: readonly { readonly name: string; readonly type: ColumnType; readonly duckdb: string }[];
  readonly rows: readonly (readonly Cell[])[];
}

const START = Date.UTC(2024, 1, 27, 20);

function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % limit;
  };
}

function byTime(rows: Cell[][]): Cell[][] {
  return rows.sort((a, b) => Number(a[0]) - Number(b[0]));
}

function makeTables(): Readonly<Record<string, SmallTable>> {
  const random = randomOf(4711);
  const cities = ['Oslo', 'Rio', '', 'Paris', 'Lima', null];
  const pick = (): string | null => cities[random(cities.length)] ?? null;
  const time = { name: '__time', type: 'LONG', duckdb: 'TIMESTAMP' } as const;
  return {
    edits: {
      columns: [
        time,
        { name: 'city', type: 'STRING', duckdb: 'VARCHAR' },
        { name: 'usr', type: 'LONG', duckdb: 'BIGINT' },
        { name: 'added', type: 'LONG', duckdb: 'BIGINT' },
        { name: 'price', type: 'DOUBLE', duckdb: 'DOUBLE' },
      ],
      rows: byTime(
        Array.from({ length: 80 }, (): Cell[] => [
          BigInt(START + random(60 * 3600) * 1000),
          pick(),
          random(7) === 0 ? null : BigInt(random(9)),
          random(6) === 0 ? null : BigInt(random(40) - 8),
          random(5) === 0 ? null : (random(80) - 20) / 4,
        ]),
      ),
    },
    users: {
      columns: [
        time,
        { name: 'id', type: 'LONG', duckdb: 'BIGINT' },
        { name: 'name', type: 'STRING', duckdb: 'VARCHAR' },
        { name: 'city', type: 'STRING', duckdb: 'VARCHAR' },
        { name: 'score', type: 'DOUBLE', duckdb: 'DOUBLE' },
      ],
      rows: byTime(
        Array.from({ length: 10 }, (_, index): Cell[] => [
          BigInt(START + random(60 * 3600) * 1000),
          index === 9 ? null : BigInt(index + 2),
          `u${index % 6}`,
          pick(),
          random(4) === 0 ? null : random(20) / 2,
        ]),
      ),
    },
    none: { columns: [time, { name: 'x', type: 'LONG', duckdb: 'BIGINT' }, { name: 'city', type: 'STRING', duckdb: 'VARCHAR' }], rows: [] },
  };
}

const TABLES = makeTables();

type PlainRow = Readonly<Record<string, string | number | null>>;

const plainRows = new Map<string, readonly PlainRow[]>();

/** Rows of a table by the names of its columns, longs as numbers. */
export function rowsOfTable(name: string): readonly PlainRow[] {
  const known = plainRows.get(name);
  if (known !== undefined) return known;
  const { columns, rows } = TABLES[name] ?? { columns: [], rows: [] };
  const plain = rows.map((row) =>
    Object.fromEntries(columns.map((column, at) => [column.name, withNumbers(row[at] ?? null) as string | number | null])),
  );
  plainRows.set(name, plain);
  return plain;
}

export const SMALL_SCHEMA: SqlSchema = {
  tables: () => Object.keys(TABLES),
  table: (name) => SCHEMAS.get(name),
};

const SCHEMAS = new Map(
  Object.entries(TABLES).map(([name, { columns, rows }]) => [
    name,
    {
      columns: columns.map((column, index) => ({
        name: column.name,
        type: column.type,
        multiValue: false,
        hasNulls: column.name !== '__time',
        distinctCount: new Set(rows.map((row) => row[index])).size,
      })),
      rowCount: rows.length,
    },
  ]),
);

const KNOWN: KnownTables = {
  table: (name) => {
    const columns = SCHEMAS.get(name)?.columns;
    return columns && { columns, interval: ETERNITY };
  },
};

export const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'reference', threads: 0 });

const FRAMES = new Map(
  Object.entries(TABLES).map(([name, { columns, rows }]): [string, Frame] => [
    name,
    inlineFrame(
      columns,
      columns.map((_, index) => rows.map((row) => row[index] ?? null)),
      rows.length,
    ),
  ]),
);

function frameOf(name: string): Frame {
  const frame = FRAMES.get(name);
  if (frame === undefined) throw new Error(`no table ${name}`);
  return frame;
}

/** @param held  takes the tables that are in memory, for whoever runs the plan to release */
function runner(held: UploadedFrame[]): SourceRunner {
  const { signal } = new AbortController();
  // Every plan of a statement listens.
  setMaxListeners(0, signal);
  const run = { deadlineMs: Date.now() + 60_000, priority: 0, kernels: null, batchRows: 16 } as const;
  return new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: (name) => SCHEMAS.get(name)?.rowCount ?? null,
    columnsOf: (source) => rowSourceColumns(source, KNOWN),
    async *runTables(plan, tables) {
      const placed = tables.map((name) => uploadFrame(frameOf(name), memory));
      // Results that stay in memory have the dictionaries of the tables.
      held.push(...placed);
      const views = placed.map(({ view }) => view);
      yield* engine.runViews(plan, views, { ...run, ending: 'final' }, signal);
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: run,
    signal,
    chunkRows: 7,
  });
}

const AIRPORTS = new Map([
  ['SJU', 'Luis Munoz Marin International Airport'],
  ['IAD', 'Dulles International Airport'],
]);

const AIRPORTS_TABLE = await lookupTableOf(AIRPORTS);

/** The one lookup there is. */
function lookupValues(name: string): LookupTable {
  if (name !== 'code_to_name') throw new Error(`no lookup ${name}`);
  return AIRPORTS_TABLE;
}

/** Integers as numbers, in arrays too. */
function withNumbers(value: unknown): unknown {
  return Array.isArray(value) ? value.map(withNumbers) : typeof value === 'bigint' ? Number(value) : value;
}

/** A statement asked before: its syntax tree, and its rows by the bytes of the plan that gave them. */
interface KnownStatement {
  syntax?: ReturnType<typeof parseSql>;
  readonly rows: Map<string, readonly (readonly unknown[])[]>;
}

const KNOWN_STATEMENTS_MAX = 300;
const knownStatements = new Map<string, KnownStatement>();

function knownStatement(sql: string): KnownStatement {
  const known = knownStatements.get(sql) ?? { rows: new Map() };
  // Deleted and added again, so that the first one is the one asked longest ago.
  knownStatements.delete(sql);
  knownStatements.set(sql, known);
  if (knownStatements.size > KNOWN_STATEMENTS_MAX) knownStatements.delete(knownStatements.keys().next().value ?? '');
  return known;
}

/**
 * Rows of a statement as plain values: instants in milliseconds, truth values as booleans, arrays and JSON as what they hold.
 * A statement is parsed once and each of its plans is run once: where turning a rule off changes no plan, there is nothing to
 * compare.
 */
export async function answer(sql: string, rulesOff: readonly string[] = [], parameters: readonly unknown[] = []): Promise<unknown[][]> {
  const statement = planned(sql, rulesOff, parameters);
  const { rows } = knownStatement(sql);
  const plan = serialize(statement).toString('latin1');
  const found = rows.get(plan) ?? (await rowsOf(statement, statement.columns));
  rows.set(plan, found);
  return found.map((row) => [...row]);
}

/** The rows of the native query that a statement is explained by; or why there is no such query. */
export async function nativeAnswer(sql: string): Promise<unknown[][] | string> {
  const { columns, ...statement } = planned(sql, [], []);
  const form = nativeForm({ ...statement, columns });
  if ('none' in form) return form.none;
  const { plans, source } = planNative(parseJson(stringifyJson(form.query)), false, KNOWN);
  const [plan, second] = plans;
  if (plan === undefined || plan.operator === 'segmentMetadata' || second !== undefined) throw new Error('not one plan');
  const names = form.columns.map(({ queryColumn }) => queryColumn);
  return rowsOf({ plan, source }, columns, names);
}

function planned(sql: string, rulesOff: readonly string[], parameters: readonly unknown[]): PlannedQuery & { readonly source: RowSource } {
  const known = knownStatement(sql);
  const statement = planSql({ query: sql, context: {}, parameters, rulesOff }, SMALL_SCHEMA, 0, (source) => {
    known.syntax ??= parseSql(source);
    return known.syntax;
  });
  if (statement.kind !== 'select' || statement.source.kind === 'external') throw new Error('no rows come of it');
  const { plan, source, columns } = statement;
  return { plan, source, columns };
}

/** @param names  of the columns wanted; left out: all, in order */
async function rowsOf(
  { plan, source }: { readonly plan: RowsPlan; readonly source: RowSource },
  columns: readonly OutputColumn[],
  names: readonly string[] | null = null,
): Promise<unknown[][]> {
  const rows: unknown[][] = [];
  const held: UploadedFrame[] = [];
  try {
    for await (const frame of runner(held).run(resolveLookups(plan, lookupValues), resolveLookups(source, lookupValues)))
      for (let row = 0; row < frame.rowCount; row++)
        rows.push(
          columns.map(({ sqlType }, index) => {
            const name = names?.[index];
            const column = name === undefined ? frame.columns[index] : frame.columns.find((each) => each.name === name);
            const value = column === undefined ? null : cellAt(column, row);
            if (column === undefined || value === null) return null;
            const type = frameColumnType(column);
            return sqlType === 'BOOLEAN'
              ? value === 1n
              : typeof value === 'string' && (isArrayType(type) || type === JSON_TYPE)
                ? withNumbers(plainData(valueOfText(value, type)))
                : withNumbers(value);
          }),
        );
    return rows;
  } finally {
    for (const { release } of held) release();
  }
}

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value !== 'object' || value === null) return value;
  if ('items' in value && Array.isArray(value.items)) return value.items.map(plainValue);
  if ('micros' in value && typeof value.micros === 'bigint') return Number(value.micros / 1000n);
  if ('days' in value && typeof value.days === 'number') return value.days * 86_400_000;
  return 'toDouble' in value && typeof value.toDouble === 'function' ? (value.toDouble as () => number)() : value;
}

export interface Oracle {
  rows(sql: string): Promise<unknown[][]>;
  close(): void;
}

export async function openOracle(): Promise<Oracle> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run("SET default_null_order = 'nulls_first_on_asc_last_on_desc'");
  // DuckDB 1.5 now and then lets the keys of a join filter rows of the other side before its LIMIT has taken any.
  await connection.run("SET disabled_optimizers = 'join_filter_pushdown'");
  for (const [name, { columns, rows }] of Object.entries(TABLES)) {
    await connection.run(`CREATE TABLE ${name} (${columns.map((column) => `${column.name} ${column.duckdb}`).join(', ')})`);
    const spelled = (cell: Cell, index: number): string =>
      cell === null ? 'NULL' : index === 0 ? `epoch_ms(${cell})` : typeof cell === 'string' ? `'${cell}'` : String(cell);
    if (rows.length > 0)
      await connection.run(`INSERT INTO ${name} VALUES ${rows.map((row) => `(${row.map(spelled).join(', ')})`).join(', ')}`);
  }
  return {
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRows().map((row) => row.map(plainValue)),
    close: () => connection.closeSync(),
  };
}

/** Description of the first difference, or undefined. With an ORDER BY at the end of the statement, rows are compared in order. */
export function difference(sql: string, found: readonly unknown[][], expected: readonly unknown[][]): string | undefined {
  const [one = [], other = []] = [found, expected].map((rows) => rows.map((row) => JSON.stringify(row)));
  if (!/ORDER BY[^()]*$/.test(sql)) for (const rows of [one, other]) rows.sort();
  const at = Array.from({ length: Math.max(one.length, other.length) }, (_, row) => row).find((row) => one[row] !== other[row]);
  return at === undefined ? undefined : `${sql}\n  row ${at} of ${one.length}: ${one[at]}, DuckDB (${other.length} rows) ${other[at]}`;
}

/** Differences between statements and the same statements in DuckDB's dialect, with all rules and with none; empty: none. */
export async function differencesOf(statements: readonly (readonly [ours: string, duckdb: string])[]): Promise<string> {
  const oracle = await openOracle();
  const differences: string[] = [];
  for (const [ours, duckdb] of statements) {
    const expected = await oracle.rows(duckdb);
    for (const rulesOff of [[], RULES.map(({ name }) => name)])
      try {
        const differs = difference(ours, await answer(ours, rulesOff), expected);
        if (differs !== undefined) differences.push(differs);
      } catch (error) {
        differences.push(`${ours}\n  ${error instanceof Error ? error.message : String(error)}`);
      }
  }
  oracle.close();
  return differences.join('\n');
}

/** A statement, and the same in DuckDB's words where these differ. */
export type OracleQuery = string | readonly [ours: string, duckdb: string];

/** Compares the answers of statements with those of DuckDB, whichever rules are off. */
export class DuckdbAnswers {
  readonly #queries: readonly OracleQuery[];
  readonly #expected: unknown[][][] = [];

  constructor(queries: readonly OracleQuery[]) {
    this.#queries = queries;
  }

  async ask(): Promise<void> {
    const oracle = await openOracle();
    for (const query of this.#queries) this.#expected.push(await oracle.rows(typeof query === 'string' ? query : query[1]));
    oracle.close();
  }

  async check(rulesOff: readonly string[]): Promise<void> {
    const differences: string[] = [];
    for (const [index, query] of this.#queries.entries()) {
      const sql = typeof query === 'string' ? query : query[0];
      try {
        const differs = difference(sql, await answer(sql, rulesOff), this.#expected[index] ?? []);
        if (differs !== undefined) differences.push(differs);
      } catch (error) {
        differences.push(`${sql}\n  ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    assert.is(differences.join('\n'), '');
    assert.is(memory.allocatedBytes, 0);
  }
}
