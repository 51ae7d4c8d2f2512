import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, sqlRows, startDolmen, waitForCount, waitForTask } from '../../bench/server.js';

/*
 * Virtual columns that name the one before them several times, sixty deep: whatever goes over them goes over each once. Expected values
 * are those of the same arithmetic on whole numbers of 64 bits.
 */
const DEPTH = 60;
/** Few rows, which are computed one by one, and enough for blocks of kernels. */
const TABLES = { few: 7, many: 300 } as const;
const SPAN = { intervals: ['2020-01-01/2021-01-01'], granularity: 'all', context: { timeout: 120_000 } };

type Value = bigint | null;
const numberOf = (row: number): Value => (row % 5 === 3 ? null : BigInt((row * 7) % 11) - 4n);
const wrapped = (value: bigint): bigint => BigInt.asIntN(64, value);

interface Chain {
  readonly expression: (before: string) => string;
  readonly value: (before: bigint) => bigint;
}

const CHAINS: Readonly<Record<string, Chain>> = {
  sums: { expression: (v) => `${v} + ${v}`, value: (v) => v + v },
  differences: { expression: (v) => `3 * ${v} - ${v} - 1`, value: (v) => 3n * v - v - 1n },
  products: { expression: (v) => `${v} * ${v} + 1`, value: (v) => v * v + 1n },
  choices: { expression: (v) => `if(${v} > 3, ${v} - 1, ${v} + 2)`, value: (v) => (v > 3n ? v - 1n : v + 2n) },
  cases: {
    expression: (v) => `case_searched(${v} > 5, ${v} - 5, ${v} < 0, -${v}, ${v} + 1)`,
    value: (v) => (v > 5n ? v - 5n : v < 0n ? -v : v + 1n),
  },
  conditions: { expression: (v) => `(${v} > 0) && (${v} < 9) || ${v} == -2`, value: (v) => ((v > 0n && v < 9n) || v === -2n ? 1n : 0n) },
};

function columnsOf({ expression }: Chain, outputType: 'LONG' | undefined): object[] {
  const of = (at: number): string => (at === 0 ? 'n + 1' : expression(`v${at - 1}`));
  return Array.from({ length: DEPTH + 1 }, (_, at) => ({
    ...{ type: 'expression', name: `v${at}`, expression: of(at) },
    ...(outputType === undefined ? {} : { outputType }),
  }));
}

function valuesOf({ value }: Chain, rows: number): readonly Value[] {
  return Array.from({ length: rows }, (_, row) => {
    let current = numberOf(row);
    if (current === null) return null;
    current += 1n;
    for (let level = 0; level < DEPTH; level++) current = wrapped(value(current));
    return current;
  });
}

const known = (values: readonly Value[]): bigint[] => values.filter((value) => value !== null);
const sum = (values: readonly Value[]): bigint => wrapped(known(values).reduce((all, value) => all + value, 0n));
const most = (values: readonly Value[]): bigint => known(values).reduce((best, value) => (value > best ? value : best));
const isNull = (value: Value): boolean => value === null;

const tests = suite<{ server: DolmenProcess; dataDir: string }>('virtual columns of virtual columns');
tests.before(async (context) => {
  context.dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-chains-'));
  context.server = await startDolmen({ dataDir: context.dataDir, portOffset: 2_900 });
  const { url } = context.server;
  for (const [table, count] of Object.entries(TABLES)) {
    const rows = Array.from({ length: count }, (_, row) => `(${row}, ${numberOf(row) ?? 'NULL'})`);
    const query = `INSERT INTO ${table} SELECT MILLIS_TO_TIMESTAMP(1577836800000 + i) AS __time, i, n FROM (VALUES ${rows.join(', ')}) AS r (i, n) PARTITIONED BY YEAR`;
    const { taskId } = (await callJson('POST', `${url}/svc/v2/sql/task`, { query })) as { taskId: string };
    await waitForTask(url, taskId);
    await waitForCount(url, table, count);
  }
});
tests.after(async ({ server, dataDir }) => {
  await server?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The text of an answer: its numbers have more digits than a double. */
async function answer(url: string, query: object): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/svc/v2`, { method: 'POST', headers, body: JSON.stringify({ ...SPAN, ...query }) });
  const text = await response.text();
  assert.is(response.status, 200, text);
  return text;
}

for (const [name, chain] of Object.entries(CHAINS))
  for (const [table, count] of Object.entries(TABLES))
    for (const outputType of ['LONG', undefined] as const)
      tests(`${name} of ${table} rows, ${outputType ?? 'no'} type`, async ({ server: { url } }) => {
        const last = `v${DEPTH}`;
        const values = valuesOf(chain, count);
        const over = { dataSource: table, virtualColumns: columnsOf(chain, outputType) };
        const aggregations = [
          { type: 'longSum', name: 'sum', fieldName: last },
          { type: 'longMax', name: 'most', fieldName: last },
          { type: 'longSum', name: 'twice', expression: `${last} + ${last}` },
        ];
        const totals = await answer(url, { ...over, queryType: 'timeseries', aggregations });
        const twice = wrapped(2n * sum(values));
        assert.match(totals, `"sum":${sum(values)},"most":${most(values)},"twice":${twice}}`);
        const ofMost = known(values).filter((value) => value === most(values)).length;
        const filter = { type: 'expression', expression: `${last} == ${most(values)}` };
        const counted = await answer(url, { ...over, queryType: 'timeseries', filter, aggregations: [{ type: 'count', name: 'rows' }] });
        assert.match(counted, `"rows":${ofMost}}`);
        const groups = await answer(url, {
          ...over,
          queryType: 'groupBy',
          dimensions: [{ type: 'default', dimension: last, outputName: 'key', outputType: 'LONG' }],
          aggregations: [{ type: 'count', name: 'rows' }],
        });
        assert.match(groups, `"key":null,"rows":${values.filter(isNull).length}}`);
        assert.match(groups, `"key":${most(values)},"rows":${ofMost}}`);
        assert.is(groups.split('"key":').length - 1, new Set(values).size);
        const rows = await answer(url, {
          ...over,
          queryType: 'scan',
          granularity: undefined,
          columns: ['i', last],
          limit: 3,
          resultFormat: 'compactedList',
        });
        assert.match(rows, `[0,${values[0]}],[1,${values[1]}],[2,${values[2]}]`);
      });

tests('a virtual column that reads the stored column of its name is summed', async ({ server: { url } }) => {
  const values = Array.from({ length: TABLES.many }, (_, row) => numberOf(row));
  const ask = (expression: string, aggregator: object): Promise<string> =>
    answer(url, {
      ...{ dataSource: 'many', queryType: 'timeseries' },
      virtualColumns: [{ type: 'expression', name: 'n', expression, outputType: 'LONG' }],
      aggregations: [{ type: 'longSum', name: 'x', ...aggregator }],
    });
  const tenfold = sum(values) * 10n;
  assert.match(await ask('n * 10', { fieldName: 'n' }), `"x":${tenfold}}`);
  assert.match(await ask('n * 10', { expression: 'n + 1' }), `"x":${tenfold + BigInt(known(values).length)}}`);
  const positive = known(values).filter((value) => value > 0n);
  assert.match(await ask('if(n > 0, n, 0)', { fieldName: 'n' }), `"x":${sum(positive)}}`);
});

/** Each level names the column of the level below twice. */
tests('subqueries that repeat a column', async ({ server: { url } }) => {
  let query = 'SELECT n + 1 AS a FROM many';
  for (let level = 0; level < DEPTH; level++) query = `SELECT CASE WHEN a > 3 THEN a - 1 ELSE a + 2 END AS a FROM (${query})`;
  const values = valuesOf(CHAINS['choices'] as Chain, TABLES.many);
  assert.equal(await sqlRows(url, `SELECT SUM(a), MAX(a), COUNT(a) FROM (${query})`), [
    [Number(sum(values)), Number(most(values)), known(values).length],
  ]);
});

tests.run();
