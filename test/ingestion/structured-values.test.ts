import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../src/base/json.js';
import { run, type TaskRun } from './run-task.js';

/** Arrays and JSON on their way from input to segment files and back out of them. */
const values = suite('arrays and JSON are ingested');

interface Shape {
  readonly dimensions?: readonly unknown[];
  readonly dimensionExclusions?: readonly string[];
  readonly discovers?: boolean;
  readonly rollup?: boolean;
  readonly transformSpec?: unknown;
  readonly maxRowsInMemory?: number;
  readonly ioConfig?: Record<string, unknown>;
}

function ingest(
  rows: readonly Record<string, unknown>[],
  shape: Shape = {},
  options: { readonly allowedDirectories?: readonly string[] } = {},
): Promise<TaskRun> {
  const { dimensions = [], discovers = true, rollup = false, transformSpec = {}, maxRowsInMemory = 1000, ioConfig = {} } = shape;
  const task = {
    type: 'index_parallel',
    spec: {
      dataSchema: {
        dataSource: 'structured',
        timestampSpec: { column: 't', format: 'millis' },
        dimensionsSpec: { dimensions, dimensionExclusions: shape.dimensionExclusions ?? [], useSchemaDiscovery: discovers },
        granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup },
        metricsSpec: rollup ? [{ type: 'count', name: 'n' }] : [],
        transformSpec,
      },
      ioConfig: {
        type: 'index_parallel',
        inputSource: { type: 'inline', data: rows.map((row) => stringifyJson(row)).join('\n') },
        inputFormat: { type: 'json' },
        ...ioConfig,
      },
      tuningConfig: { type: 'index_parallel', maxRowsInMemory },
    },
  };
  return run(task, options);
}

function typeOf(task: TaskRun, name: string): string | undefined {
  assert.ok(task.outcome.succeeded, task.outcome.errorMessage ?? '');
  return task.published[0]?.segments[0]?.columns.find((column) => column.name === name)?.type;
}

/** The rules of type-aware schema discovery, a line each: what a column's values are, its type, what is read of it. */
const DISCOVERED: readonly { readonly values: readonly unknown[]; readonly type: string; readonly read: readonly unknown[] }[] = [
  { values: [1, 2], type: 'LONG', read: [1n, 2n] },
  { values: [1, 1e20], type: 'DOUBLE', read: [1, 1e20] },
  { values: [-(2 ** 63), [-1e300]], type: 'ARRAY<DOUBLE>', read: [[-(2 ** 63)], [-1e300]] },
  { values: [true, false], type: 'LONG', read: [1n, 0n] },
  { values: [1, 1.5], type: 'DOUBLE', read: [1, 1.5] },
  { values: ['a', 1, true], type: 'STRING', read: ['a', '1', '1'] },
  { values: [['a'], []], type: 'ARRAY<STRING>', read: [['a'], []] },
  { values: [[1], [2, null]], type: 'ARRAY<LONG>', read: [[1n], [2n, null]] },
  { values: [[true, false]], type: 'ARRAY<LONG>', read: [[1n, 0n]] },
  { values: [[1], [0.5]], type: 'ARRAY<DOUBLE>', read: [[1], [0.5]] },
  { values: [[1], ['a'], [0.5]], type: 'ARRAY<STRING>', read: [['1'], ['a'], ['0.5']] },
  { values: [1, [2]], type: 'ARRAY<LONG>', read: [[1n], [2n]] },
  { values: ['a', [1]], type: 'ARRAY<STRING>', read: [['a'], ['1']] },
  { values: [[], [null]], type: 'ARRAY<LONG>', read: [[], [null]] },
  { values: [{ x: 1 }, 2], type: 'COMPLEX<json>', read: [{ x: 1 }, 2] },
  { values: [[{ x: 1 }], ['a']], type: 'COMPLEX<json>', read: [[{ x: 1 }], ['a']] },
  { values: [[[1, 2], [3]]], type: 'COMPLEX<json>', read: [[[1, 2], [3]]] },
];
for (const { values: given, type, read } of DISCOVERED) {
  for (const maxRowsInMemory of [1000, 1]) {
    values(`${JSON.stringify(given)} is ${type}${maxRowsInMemory === 1 ? ', row by row' : ''}`, async () => {
      const rows = given.map((v, t) => ({ t, v }));
      const task = await ingest(rows, { maxRowsInMemory });
      assert.is(typeOf(task, 'v'), type);
      assert.equal(
        task.rows.map(({ v }) => v),
        read,
      );
    });
  }
}

values('castToType', async () => {
  const rows = [
    { t: 0, s: 1, l: '7', d: 1, as: 'x', al: [1, '2'], ad: 3, j: [1] },
    { t: 1, s: ['a', 'b'], l: 'no', d: null, as: [1, null], al: ['no'], ad: [], j: 'x' },
  ];
  const types = { s: 'STRING', l: 'LONG', d: 'DOUBLE', as: 'ARRAY<STRING>', al: 'array<long>', ad: 'ARRAY<DOUBLE>', j: 'COMPLEX<json>' };
  const dimensions = Object.entries(types).map(([name, castToType]) => ({ type: 'auto', name, castToType }));
  const task = await ingest(rows, { dimensions, discovers: false });
  for (const [name, type] of Object.entries(types)) assert.is(typeOf(task, name), type.toUpperCase().replace('JSON', 'json'));
  assert.equal(task.rows, [
    { __time: 0n, s: '1', l: 7n, d: 1, as: ['x'], al: [1n, 2n], ad: [3], j: [1] },
    { __time: 1n, s: null, l: null, d: null, as: ['1', null], al: null, ad: [], j: 'x' },
  ]);
});

values('discovery adds to the dimensions that are declared, without what is excluded', async () => {
  const rows = [{ t: 0, page: 'a', count: 1, secret: 'x' }];
  const task = await ingest(rows, { dimensions: ['page'], dimensionExclusions: ['secret'] });
  assert.equal(task.rows, [{ __time: 0n, page: 'a', count: 1n }]);
});

values('a string dimension keeps several values a row, an auto one an array', async () => {
  const rows = [{ t: 0, mv: ['b', 'a'], array: ['b', 'a'] }];
  const task = await ingest(rows, {
    dimensions: [
      { type: 'string', name: 'mv' },
      { type: 'auto', name: 'array' },
    ],
    discovers: false,
  });
  const [segment] = task.published[0]?.segments ?? [];
  assert.equal(segment?.columns.slice(1), [
    { name: 'mv', type: 'STRING', multiValue: true, hasNulls: false },
    { name: 'array', type: 'ARRAY<STRING>', multiValue: false, hasNulls: false },
  ]);
  assert.equal(segment?.distinctCounts?.slice(1), [2, 1]);
  assert.equal(task.rows, [{ __time: 0n, mv: ['a', 'b'], array: ['b', 'a'] }]);
});

values('rollup groups whole arrays and JSON texts', async () => {
  const rows = [
    { t: 0, a: [1, 2], j: { x: 1 }, mixed: 1 },
    { t: 0, a: [1, 2], j: { x: 1 }, mixed: 1 },
    { t: 0, a: [2, 1], j: { x: 1 }, mixed: ['1'] },
    { t: 0, a: null, j: null, mixed: null },
    { t: 0, a: [1, 2], j: { x: 1 }, mixed: 1 },
  ];
  for (const maxRowsInMemory of [1000, 2]) {
    const task = await ingest(rows, { rollup: true, maxRowsInMemory });
    assert.equal(
      task.rows.map(({ a, j, mixed, n }) => [a, j, mixed, n]),
      [
        [null, null, null, 1n],
        [[1n, 2n], { x: 1 }, ['1'], 3n],
        [[2n, 1n], { x: 1 }, ['1'], 1n],
      ],
    );
  }
});

values('transforms see lists as arrays and objects as JSON; a filter looks at each value of a list', async () => {
  const rows = [
    { t: 0, list: ['a', 'b'], deep: { x: { y: 5 } }, text: '{"k":[1]}' },
    { t: 1, list: ['c'], deep: { x: 1 }, text: 'no' },
    { t: 2, list: 'a', deep: null, text: null },
  ];
  const transformSpec = {
    transforms: [
      { type: 'expression', name: 'size', expression: 'array_length(list)' },
      { type: 'expression', name: 'y', expression: "json_value(deep, '$.x.y', 'LONG')" },
      { type: 'expression', name: 'x', expression: "json_query(deep, '$.x')" },
      { type: 'expression', name: 'parsed', expression: 'try_parse_json(text)' },
    ],
    filter: { type: 'selector', dimension: 'list', value: 'a' },
  };
  const dimensions = [
    { type: 'auto', name: 'list' },
    { type: 'long', name: 'size' },
    { type: 'long', name: 'y' },
    { type: 'json', name: 'x' },
    { type: 'json', name: 'parsed' },
  ];
  const task = await ingest(rows, { dimensions, discovers: false, transformSpec });
  assert.equal(task.rows, [
    { __time: 0n, list: ['a', 'b'], size: 2n, y: 5n, x: { y: 5 }, parsed: { k: [1] } },
    { __time: 2n, list: ['a'], size: 1n, y: null, x: null, parsed: null },
  ]);
});

values('lists of CSV fields', async () => {
  const inputFormat = { type: 'csv', columns: ['t', 'a', 'n'], listDelimiter: '|', tryParseNumbers: true };
  const ioConfig = { inputSource: { type: 'inline', data: '0,x|y,1|2\n1,z,\n' }, inputFormat };
  const task = await ingest([], { ioConfig });
  assert.is(typeOf(task, 'a'), 'ARRAY<STRING>');
  assert.is(typeOf(task, 'n'), 'ARRAY<LONG>');
  assert.equal(task.rows, [
    { __time: 0n, a: ['x', 'y'], n: [1n, 2n] },
    { __time: 1n, a: ['z'], n: null },
  ]);
});

values('lists and structs of Parquet', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-structured-'));
  try {
    const file = path.join(folder, 'rows.parquet');
    const connection = await (await DuckDBInstance.create(':memory:')).connect();
    await connection.run(
      `COPY (SELECT CAST(i AS BIGINT) AS t, ['a', NULL, 'b' || i] AS words, [i, NULL] AS longs, [0.5::DOUBLE, i] AS doubles,
        {'x': {'y': i}, 'list': [{'k': 'v'}]} AS nested, [[i]] AS deep FROM range(2) r(i)) TO '${file}' (FORMAT parquet)`,
    );
    connection.closeSync();
    const ioConfig = { inputSource: { type: 'local', files: [file] }, inputFormat: { type: 'parquet' } };
    const task = await ingest([], { ioConfig }, { allowedDirectories: [folder] });
    assert.equal(
      ['words', 'longs', 'doubles', 'nested', 'deep'].map((name) => typeOf(task, name)),
      ['ARRAY<STRING>', 'ARRAY<LONG>', 'ARRAY<DOUBLE>', 'COMPLEX<json>', 'COMPLEX<json>'],
    );
    const rows = [0, 1].map((i) => ({
      __time: BigInt(i),
      words: ['a', null, `b${i}`],
      longs: [BigInt(i), null],
      doubles: [0.5, i],
      nested: { x: { y: i }, list: [{ k: 'v' }] },
      deep: [[i]],
    }));
    assert.equal(task.rows, rows);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

values('REPLACE stores the arrays and the JSON of EXTERN; mvd makes strings of several values of arrays', async () => {
  const data = '{"t":0,"a":["x",null],"l":[1],"j":{"k":[true]}}\n{"t":1,"a":[],"l":null,"j":"s"}';
  const signature = [
    { name: 't', type: 'long' },
    { name: 'a', type: 'ARRAY<STRING>' },
    { name: 'l', type: 'ARRAY<LONG>' },
    { name: 'j', type: 'COMPLEX<json>' },
  ];
  const statement = (columns: string): string =>
    `REPLACE INTO x OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, ${columns} FROM TABLE(EXTERN('${JSON.stringify({ type: 'inline', data })}', '{"type":"json"}', '${JSON.stringify(signature)}')) PARTITIONED BY ALL`;
  const runSql = (query: string, context: Record<string, unknown> = {}): Promise<TaskRun> =>
    run({ type: 'query_controller', spec: { query, context, parameters: [] } });
  const stored = await runSql(statement('a, l, j'));
  assert.equal(
    ['a', 'l', 'j'].map((name) => typeOf(stored, name)),
    ['ARRAY<STRING>', 'ARRAY<LONG>', 'COMPLEX<json>'],
  );
  assert.equal(stored.rows, [
    { __time: 0n, a: ['x', null], l: [1n], j: { k: [true] } },
    { __time: 1n, a: [], l: null, j: 's' },
  ]);
  const multi = await runSql(statement('a'), { arrayIngestMode: 'mvd' });
  assert.is(typeOf(multi, 'a'), 'STRING');
  assert.equal(multi.rows, [
    { __time: 0n, a: ['x', null] },
    { __time: 1n, a: null },
  ]);
  const refused = await runSql(statement('l'), { arrayIngestMode: 'mvd' });
  assert.match(refused.outcome.errorMessage ?? '', /arrayIngestMode: "mvd" stores no ARRAY<LONG>/);
});

values('documents nested too deeply are null', async () => {
  const deep = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}1${']'.repeat(levels)}`);
  const text = [400, 600, 5000, 100_000].map((levels, t) => `{"t":${t},"v":${'['.repeat(levels)}1${']'.repeat(levels)}}`).join('\n');
  for (const type of ['json', 'string', 'auto']) {
    const ioConfig = { inputSource: { type: 'inline', data: text }, inputFormat: { type: 'json' } };
    const task = await ingest([], { dimensions: [{ type, name: 'v' }], discovers: false, ioConfig });
    assert.ok(task.outcome.succeeded, task.outcome.errorMessage ?? '');
    const [first, ...others] = task.rows.map(({ v }) => v);
    assert.equal(first, type === 'string' ? stringifyJson(deep(400)).slice(1, -1) : deep(400));
    assert.equal(others, [null, null, null]);
  }
});

const key = fc.oneof(fc.constantFrom('a', 'b', '', '__proto__', 'a.b', "it's"), fc.string({ maxLength: 4 }));
const leaf = fc.oneof(
  fc.string({ maxLength: 5 }),
  fc.integer(),
  fc.integer({ min: -1000, max: 1000 }).map((n) => n / 8),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((n) => (n > -(2n ** 53n) && n < 2n ** 53n ? Number(n) : n)),
  fc.boolean(),
  fc.constant(null),
);
const { document } = fc.letrec((tie) => ({
  document: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('document'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('document')), { maxLength: 3 }).map((members) => Object.fromEntries(members)),
  ),
}));

values('any JSON documents are read back equal, however often memory runs out', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(document, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(1, 3, 1000),
      async (documents, maxRowsInMemory) => {
        const rows = documents.map((v, t) => ({ t, v }));
        const task = await ingest(rows, { dimensions: [{ type: 'json', name: 'v' }], discovers: false, maxRowsInMemory });
        assert.ok(task.outcome.succeeded, task.outcome.errorMessage ?? '');
        assert.equal(
          task.rows.map(({ v }) => stringifyJson(v)),
          documents.map((each) => stringifyJson(each)),
        );
      },
    ),
    { numRuns: 60 },
  );
});

values('discovered columns do not depend on the memory limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(document, { minLength: 1, maxLength: 8 }), async (documents) => {
      const rows = documents.map((v, t) => ({ t, v }));
      const whole = await ingest(rows);
      assert.ok(whole.outcome.succeeded, whole.outcome.errorMessage ?? '');
      for (const maxRowsInMemory of [1, 3]) {
        const parts = await ingest(rows, { maxRowsInMemory });
        assert.equal(parts.rows, whole.rows);
        assert.is(typeOf(parts, 'v'), typeOf(whole, 'v'));
      }
    }),
    { numRuns: 40 },
  );
});

values.run();
