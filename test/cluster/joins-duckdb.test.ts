import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { JoinKey, JoinSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, schemaOf } from './plain-rows.js';

/* Groups over joins of random tables of thousands of rows, on two threads, against DuckDB. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 1 << 14 });
const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
const TYPES = { id: 'LONG', code: 'STRING', amount: 'LONG', label: 'STRING' } as const;

function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Keys repeat, are missing on the other side, or are null; text order is not that of UTF-8 bytes. */
function randomRows(seed: number, count: number, keys: number): Plain[] {
  const random = randomOf(seed);
  const orNull = <Value>(value: Value): Value | null => (random(12) === 0 ? null : value);
  return Array.from({ length: count }, () => ({
    id: orNull(BigInt(random(keys) - 3) * (random(50) === 0 ? 10n ** 12n : 1n)),
    code: orNull(['x', '\u{1f600}', '\ufffd', 'é'][random(4)] + String(random(keys))),
    amount: orNull(BigInt(random(1000) - 200)),
    label: orNull(`label ${random(5)}`),
  }));
}

const TABLES = { left: randomRows(1, 40_000, 3_000), right: randomRows(2, 5_000, 4_000) };

const JOINS: Readonly<Record<JoinSource['type'], (on: string) => string>> = {
  inner: (on) => `l JOIN r ON ${on}`,
  left: (on) => `l LEFT JOIN r ON ${on}`,
  right: (on) => `l RIGHT JOIN r ON ${on}`,
  full: (on) => `l FULL JOIN r ON ${on}`,
  semi: (on) => `l SEMI JOIN r ON ${on}`,
  anti: (on) => `l ANTI JOIN r ON ${on}`,
  mark: (on) => `(SELECT *, CAST(EXISTS (SELECT 1 FROM r WHERE ${on}) AS BIGINT) AS met FROM l) l`,
};

const KEYS = {
  id: { sql: 'l.id = r.id', keys: [{ left: 'id', right: 'id', type: 'LONG' }] },
  code: { sql: 'l.code = r.code', keys: [{ left: 'code', right: 'code', type: 'STRING' }] },
  both: {
    sql: 'l.label = r.label AND l.id = r.id + 1',
    keys: [
      { left: 'label', right: 'label', type: 'STRING' },
      { left: 'id', right: 'id + 1', type: 'LONG' },
    ],
  },
  idOrNull: { sql: 'l.id IS NOT DISTINCT FROM r.id', keys: [{ left: 'id', right: 'id', type: 'LONG', nullsMeet: true }] },
  textsOrNull: {
    sql: 'l.code IS NOT DISTINCT FROM r.code AND l.label IS NOT DISTINCT FROM r.label',
    keys: [
      { left: 'code', right: 'code', type: 'STRING', nullsMeet: true },
      { left: 'label', right: 'label', type: 'STRING', nullsMeet: true },
    ],
  },
  manyOrNull: {
    sql: 'l.amount % 50 IS NOT DISTINCT FROM r.amount % 50 AND l.label = r.label AND l.id * 1000 IS NOT DISTINCT FROM r.id * 1000',
    keys: [
      { left: 'amount % 50', right: 'amount % 50', type: 'LONG', nullsMeet: true },
      { left: 'label', right: 'label', type: 'STRING' },
      { left: 'id * 1000', right: 'id * 1000', type: 'LONG', nullsMeet: true },
    ],
  },
} as const;
/** Some fifty partners for each row: of these, one is enough. */
const MANY = {
  remainder: { sql: 'l.id % 100 = r.id % 100', keys: [{ left: 'id % 100', right: 'id % 100', type: 'LONG' }] },
} as const;
const CONDITIONS = [
  [null, ''],
  ['amount < "r.amount"', 'l.amount < r.amount'],
] as const;
/** Comparisons of both sides, within many partners or among all rows. */
const WITHIN = [
  ['amount >= "r.amount" && amount < "r.amount" + 40', 'l.amount >= r.amount AND l.amount < r.amount + 40'],
  ['amount <= "r.amount" && id * 3 > "r.id" + 7000', 'l.amount <= r.amount AND l.id * 3 > r.id + 7000'],
  [
    'amount <= "r.amount" && "r.id" >= id && "r.id" < id + 9 && label != "r.label"',
    'l.amount <= r.amount AND r.id >= l.id AND r.id < l.id + 9 AND l.label <> r.label',
  ],
] as const;
const AMONG_ALL = [
  ['"r.id" <= id && "r.id" + "r.amount" / 100 > id', 'r.id <= l.id AND r.id + r.amount // 100 > l.id'],
  [
    'id * 1.5 <= "r.id" + 0.25 && "r.id" * 1.0 <= id * 1.5 + 2',
    'l.id * 1.5::DOUBLE <= r.id + 0.25::DOUBLE AND r.id::DOUBLE <= l.id * 1.5::DOUBLE + 2',
  ],
] as const;
const RANGED = {
  remainder: { key: MANY.remainder, conditions: WITHIN },
  nothing: { key: { sql: 'TRUE', keys: [] }, conditions: AMONG_ALL },
} as const;
/** A condition that holds for few pairs. */
const RARE = ['amount + 900 < "r.amount"', 'l.amount + 900 < r.amount'] as const;

/** Frees what was left in memory with dictionaries of segments. */
const held: (() => void)[] = [];

const joins = suite('joins against DuckDB');
const duckdb = await DuckDBInstance.create(':memory:');
const connection = await duckdb.connect();

joins.before(async () => {
  for (const [name, rows] of [
    ['l', TABLES.left],
    ['r', TABLES.right],
  ] as const) {
    await connection.run(`CREATE TABLE ${name} (id BIGINT, code VARCHAR, amount BIGINT, label VARCHAR)`);
    const appender = await connection.createAppender(name);
    for (const row of rows) {
      for (const column of ['id', 'code', 'amount', 'label']) {
        const cell = row[column] ?? null;
        if (cell === null) appender.appendNull();
        else if (typeof cell === 'bigint') appender.appendBigInt(cell);
        else appender.appendVarchar(String(cell));
      }
      appender.endRow();
    }
    appender.closeSync();
  }
});
joins.after(async () => {
  await engine.close();
  connection.closeSync();
  duckdb.closeSync();
});

for (const type of ['inner', 'left', 'right', 'full', 'semi', 'anti', 'mark'] as const) {
  const isMarked = type === 'mark';
  const pairs = type !== 'semi' && type !== 'anti' && !isMarked;
  const plain = Object.entries(pairs ? KEYS : { ...KEYS, ...MANY }).map(
    ([name, key]) => [name, { key, conditions: pairs ? CONDITIONS : [...CONDITIONS, RARE] }] as const,
  );
  for (const [name, { key, conditions }] of [...plain, ...Object.entries(RANGED)]) {
    const { sql, keys } = key;
    for (const [condition, conditionSql] of conditions) {
      joins(`${type} on ${name}${condition === null ? '' : ` and ${conditionSql}`}`, async () => {
        const join: JoinSource = {
          kind: 'join',
          left: { kind: 'table', name: 'left' },
          right: { kind: 'inline', frame: frameOf(TABLES.right, TYPES) },
          prefix: 'r.',
          type,
          keys: keys.map(
            (key: (typeof keys)[number]): JoinKey => ({ ...key, left: parseExpression(key.left), right: parseExpression(key.right) }),
          ),
          condition: condition === null ? null : parseExpression(condition),
          leftColumns: schemaOf(TYPES),
          rightColumns: schemaOf(TYPES),
          ...(isMarked ? { mark: 'met' } : {}),
        };
        const plan: GroupPlan = {
          operator: 'group',
          dataSource: '',
          intervals: [ETERNITY],
          filter: null,
          virtualColumns: [],
          post: [],
          emptyGroup: false,
          keys: ['label', ...(pairs ? ['r.label'] : isMarked ? ['met'] : [])].map((column) => ({
            kind: 'column',
            name: column,
            column,
            type: null,
          })),
          aggregators: [
            { kind: 'count', name: 'rows', filter: null },
            { kind: 'sum', name: 'left', column: 'amount', type: 'LONG', filter: null },
            ...(pairs ? ([{ kind: 'max', name: 'right', column: 'r.amount', type: 'LONG', filter: null }] as const) : []),
            { kind: 'distinct', name: 'codes', column: 'code', filter: null },
          ],
        };
        const answerOf = async (isCounted: boolean): Promise<string[]> => {
          const found: string[] = [];
          for await (const frame of runner(isCounted).run(plan, join))
            for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => String(cellAt(column, row))).join());
          return found.sort();
        };
        const on = condition === null ? sql : `${sql} AND ${conditionSql}`;
        const select = pairs
          ? 'l.label, r.label, count(*), sum(l.amount), max(r.amount), count(DISTINCT l.code)'
          : `l.label, ${isMarked ? 'met, ' : ''}count(*), sum(l.amount), count(DISTINCT l.code)`;
        const answer = await connection.runAndReadAll(
          `SELECT ${select} FROM ${JOINS[type](on)} GROUP BY ${pairs || isMarked ? '1, 2' : '1'}`,
        );
        const expected = answer.getRows().map((row) => row.map(String).join());
        assert.ok(expected.length > 0);
        assert.equal(await answerOf(false), expected.sort());
        // Rows that are counted, and few, are left in memory for joins that give rows of the right side alone.
        if (type === 'right' || type === 'full') assert.equal(await answerOf(true), expected);
      });
    }
  }
}

joins('gives back all memory', () => {
  for (const release of held.splice(0)) release();
  assert.is(memory.allocatedBytes, 0);
});

joins.run();

function runner(isCounted: boolean): SourceRunner {
  const { signal } = new AbortController();
  return new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => (isCounted ? TABLES.left.length : null),
    columnsOf: (source) => rowSourceColumns(source, { table: () => ({ columns: schemaOf(TYPES), interval: ETERNITY }) }),
    async *runTables(plan): AsyncGenerator<Frame> {
      const placed = [0, 1].map((part) => uploadFrame(frameOf(TABLES.left.slice(part * 25_000, part * 25_000 + 25_000), TYPES), memory));
      try {
        const views = placed.map(({ view }, part) => ({ ...view, id: `left_${part}` }));
        yield* engine.runViews(plan, views, { ...RUN, ending: 'final' }, signal);
      } finally {
        const releases = placed.map(({ release }) => release);
        if (plan.upload === undefined) for (const release of releases) release();
        else held.push(...releases);
      }
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal,
  });
}
