import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../src/base/json.js';
import type { TaskContext } from '../../src/ingestion/contract.js';
import { runSampler } from '../../src/ingestion/sampler/sampler.js';
import { taskContext } from './run-task.js';

interface Answer {
  readonly numRowsRead: number;
  readonly numRowsIndexed: number;
  readonly logicalDimensions: readonly unknown[];
  readonly physicalDimensions: readonly { readonly name: string; readonly type: string }[];
  readonly logicalSegmentSchema: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly unknown[];
}

async function run(body: unknown, options: Partial<TaskContext> = {}): Promise<{ answer: Answer | null; error: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-sampler-'));
  try {
    const { report, errorMessage } = await runSampler(Buffer.from(stringifyJson(body)), { ...taskContext(folder, []), ...options });
    return {
      answer: report.answer === undefined ? null : (JSON.parse(report.answer) as Answer),
      error: `${report.errorCode ?? ''}: ${errorMessage ?? ''}`,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sampled(body: unknown, options: Partial<TaskContext> = {}): Promise<Answer> {
  const { answer, error } = await run(body, options);
  if (answer === null) throw new Error(error);
  return answer;
}

/** A request as the console sends it: `index` in every place for the type. */
function request(data: string, inputFormat: unknown, dataSchema: unknown, samplerConfig?: unknown): unknown {
  const ioConfig = { type: 'index', inputSource: { type: 'inline', data }, inputFormat };
  return { type: 'index', spec: { type: 'index', ioConfig, dataSchema, tuningConfig: { type: 'index' } }, samplerConfig };
}

/** The steps of the console's loader, with the schemas that it sends before anything was chosen. */
const PLACEHOLDER = { column: '!!!_no_such_column_!!!', missingValue: '1970-01-01T00:00:00Z' };
const DISCOVERY = { useSchemaDiscovery: true };
const NO_ROLLUP = { rollup: false };
const TIME = Date.UTC(2016, 3, 11, 9, 20);
const LINES = [
  '{"timestamp":"2016-04-11T09:20:00Z","user":"Alice","followers":10,"spend":0,"id":"12232323","tags":null,"nums":[4]}',
  '{"timestamp":"2016-04-11T09:21:00Z","user":"Bob","followers":0,"spend":3,"id":"45345634","tags":["a"],"nums":[5,6]}',
  '{"timestamp":"2016-04-11T09:22:00Z","user":"Alice","followers":3,"spend":5.1,"id":"73534533","tags":["a","b"],"nums":[7,8]}',
];
const WHOLE_ROW = {
  type: 'regex',
  pattern: '([\\s\\S]*)',
  listDelimiter: '56616469-6de2-9da4-efb8-8f416e6e6965',
  columns: ['raw'],
  keepNullColumns: true,
};

const sampler = suite('sampler');

sampler('connect: every line whole, as one column', async () => {
  const dataSchema = { dataSource: 'sample', timestampSpec: PLACEHOLDER, dimensionsSpec: DISCOVERY, granularitySpec: NO_ROLLUP };
  const answer = await sampled(request(LINES.join('\n'), WHOLE_ROW, dataSchema, { numRows: 500, timeoutMs: 15_000 }));
  assert.equal(answer, {
    numRowsRead: 3,
    numRowsIndexed: 3,
    logicalDimensions: [{ type: 'string', name: 'raw', multiValueHandling: 'SORTED_ARRAY', createBitmapIndex: true }],
    physicalDimensions: [{ type: 'auto', name: 'raw', multiValueHandling: 'SORTED_ARRAY', createBitmapIndex: true }],
    logicalSegmentSchema: [
      { name: '__time', type: 'LONG' },
      { name: 'raw', type: 'STRING' },
    ],
    data: LINES.map((raw) => ({ input: { raw }, parsed: { __time: 0, raw } })),
  });
});

sampler('timestamp: the columns that are found have their types, and the rows their times', async () => {
  const timestampSpec = { column: 'timestamp', format: 'iso' };
  const dataSchema = { dataSource: 'sample', timestampSpec, dimensionsSpec: DISCOVERY, granularitySpec: NO_ROLLUP };
  const answer = await sampled(request(LINES.join('\n'), { type: 'json', keepNullColumns: true }, dataSchema));
  assert.equal(answer.logicalSegmentSchema, [
    { name: '__time', type: 'LONG' },
    { name: 'user', type: 'STRING' },
    { name: 'followers', type: 'LONG' },
    { name: 'spend', type: 'DOUBLE' },
    { name: 'id', type: 'STRING' },
    { name: 'tags', type: 'ARRAY<STRING>' },
    { name: 'nums', type: 'ARRAY<LONG>' },
  ]);
  const input = LINES.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.equal(
    answer.data,
    input.map((row, at) => {
      const { timestamp: _, ...others } = row;
      return { input: row, parsed: { __time: TIME + at * 60_000, ...others } };
    }),
  );
});

interface Case {
  readonly name: string;
  readonly data: string;
  readonly format?: unknown;
  readonly schema?: unknown;
  readonly config?: unknown;
  readonly read: number;
  readonly indexed: number;
  readonly columns?: readonly string[];
  readonly rows?: readonly unknown[];
}

const JSON_FORMAT = { type: 'json' };
const T0 = { timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec: DISCOVERY, granularitySpec: NO_ROLLUP };
const fourRows = '{"t":1,"k":"a","n":1}\n{"t":1,"k":"b","n":2}\n{"t":1,"k":"a","n":4}\n{"t":2,"k":"a","n":8}';
const rolled = {
  ...T0,
  dimensionsSpec: { dimensions: ['k'] },
  metricsSpec: [
    { type: 'count', name: 'count' },
    { type: 'longSum', name: 'sum', fieldName: 'n' },
  ],
  granularitySpec: { rollup: true, queryGranularity: 'second' },
};

const CASES: readonly Case[] = [
  {
    name: 'rows that cannot be read stand at their places, with what is wrong',
    data: '{"t":1,"k":"a"}\nnot json\n{"t":"never","k":"b"}\n{"t":4,"k":"d"}',
    schema: T0,
    read: 4,
    indexed: 2,
    rows: [
      { input: { t: 1, k: 'a' }, parsed: { __time: 1, k: 'a' } },
      { unparseable: true },
      { input: { t: 'never', k: 'b' }, unparseable: true },
      { input: { t: 4, k: 'd' }, parsed: { __time: 4, k: 'd' } },
    ],
  },
  {
    name: 'a value that does not fit its dimension is shown, with the row as it is kept',
    data: '{"t":1,"n":"x"}\n{"t":2,"n":7}',
    schema: { ...T0, dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }] } },
    read: 2,
    indexed: 1,
    rows: [
      { input: { t: 1, n: 'x' }, parsed: { __time: 1, n: null }, unparseable: true },
      { input: { t: 2, n: 7 }, parsed: { __time: 2, n: 7 } },
    ],
  },
  {
    name: 'with rollup a row shows the sums of those after it, which are left out',
    data: fourRows,
    schema: rolled,
    read: 4,
    indexed: 4,
    columns: ['__time', 'k', 'count', 'sum'],
    rows: [
      { input: { t: 1, k: 'a', n: 1 }, parsed: { __time: 0, k: 'a', count: 3, sum: 13 } },
      { input: { t: 1, k: 'b', n: 2 }, parsed: { __time: 0, k: 'b', count: 1, sum: 2 } },
    ],
  },
  {
    name: 'transforms and a filter: what is filtered out is not there, and makes room for others',
    data: Array.from({ length: 1000 }, (_, row) => `{"t":${row},"n":${row}}`).join('\n'),
    schema: {
      ...T0,
      transformSpec: {
        transforms: [{ type: 'expression', name: 'double', expression: 'n * 2' }],
        filter: { type: 'bound', dimension: 'double', lower: '1990', ordering: 'numeric' },
      },
    },
    config: { numRows: 3 },
    read: 3,
    indexed: 3,
    columns: ['__time', 'n', 'double'],
    rows: [995, 996, 997].map((n) => ({ input: { t: n, n }, parsed: { __time: n, n, double: 2 * n } })),
  },
  {
    name: 'a transform of __time',
    data: '{"t":1,"s":"2000-01-01T00:00:00Z"}\n{"t":2,"s":"never"}\n{"t":3,"s":"1970-01-01T00:00:01Z"}',
    schema: {
      ...T0,
      dimensionsSpec: { dimensions: ['s'] },
      transformSpec: { transforms: [{ type: 'expression', name: '__time', expression: 'timestamp_parse(s)' }] },
    },
    read: 3,
    indexed: 2,
    rows: [
      { input: { t: 1, s: '2000-01-01T00:00:00Z' }, parsed: { __time: Date.UTC(2000, 0, 1), s: '2000-01-01T00:00:00Z' } },
      { input: { t: 2, s: 'never' }, unparseable: true },
      { input: { t: 3, s: '1970-01-01T00:00:01Z' }, parsed: { __time: 1000, s: '1970-01-01T00:00:01Z' } },
    ],
  },
  {
    name: 'no more rows than were asked for, of 200 without a number',
    data: Array.from({ length: 300 }, (_, row) => `{"t":${row}}`).join('\n'),
    schema: T0,
    read: 200,
    indexed: 200,
  },
  { name: 'a number of rows of 0', data: fourRows, schema: T0, config: { numRows: 0 }, read: 0, indexed: 0, rows: [] },
  {
    name: 'the rows of one line are cut, too',
    data: '[{"t":1,"a":1},{"t":2,"a":2},{"t":3,"b":3}]',
    format: { type: 'json', useJsonNodeReader: true },
    schema: T0,
    config: { numRows: 2 },
    read: 2,
    indexed: 2,
    columns: ['__time', 'a'],
    rows: [
      { input: { t: 1, a: 1 }, parsed: { __time: 1, a: 1 } },
      { input: { t: 2, a: 2 }, parsed: { __time: 2, a: 2 } },
    ],
  },
  {
    name: 'without a data schema: the column timestamp, all fields, rolled up by nothing',
    data: '{"timestamp":"1970-01-02","a":"x"}',
    read: 1,
    indexed: 1,
    columns: ['__time', 'a'],
    rows: [{ input: { timestamp: '1970-01-02', a: 'x' }, parsed: { __time: 86_400_000, a: 'x' } }],
  },
  {
    name: 'columns of nothing but nulls are shown when the format keeps them',
    data: '{"t":1,"none":null,"a":1}',
    format: { type: 'json', keepNullColumns: true },
    schema: T0,
    read: 1,
    indexed: 1,
    columns: ['__time', 'none', 'a'],
    rows: [{ input: { t: 1, none: null, a: 1 }, parsed: { __time: 1, none: null, a: 1 } }],
  },
  {
    name: 'and are not when it does not',
    data: '{"t":1,"none":null,"a":1}',
    schema: T0,
    read: 1,
    indexed: 1,
    columns: ['__time', 'a'],
    rows: [{ input: { t: 1, none: null, a: 1 }, parsed: { __time: 1, a: 1 } }],
  },
  {
    name: 'csv: fields as they stand there, lists by their delimiter, numbers where asked',
    data: 't,tags,n\n1,a|b,2.5\n2,c,\n',
    format: { type: 'csv', findColumnsFromHeader: true, listDelimiter: '|', tryParseNumbers: true },
    schema: T0,
    read: 2,
    indexed: 2,
    columns: ['__time', 'tags', 'n'],
    rows: [
      { input: { t: 1, tags: ['a', 'b'], n: 2.5 }, parsed: { __time: 1, tags: ['a', 'b'], n: 2.5 } },
      { input: { t: 2, tags: 'c', n: null }, parsed: { __time: 2, tags: ['c'], n: null } },
    ],
  },
  {
    name: 'csv: a bad row stands at its place',
    data: '1,a\n2,"b"x\n3,c\n',
    format: { type: 'csv', columns: ['t', 'k'] },
    schema: T0,
    read: 3,
    indexed: 2,
    rows: [
      { input: { t: '1', k: 'a' }, parsed: { __time: 1, k: 'a' } },
      { unparseable: true },
      { input: { t: '3', k: 'c' }, parsed: { __time: 3, k: 'c' } },
    ],
  },
  {
    name: 'the input is shown before it is flattened',
    data: '{"t":1,"o":{"a":"x"}}',
    format: { type: 'json', flattenSpec: { fields: [{ type: 'path', name: 'oa', expr: '$.o.a' }] } },
    schema: { ...T0, dimensionsSpec: { dimensions: ['oa'] } },
    read: 1,
    indexed: 1,
    rows: [{ input: { t: 1, o: { a: 'x' } }, parsed: { __time: 1, oa: 'x' } }],
  },
  {
    name: 'intervals do not keep rows out',
    data: '{"t":1}',
    schema: { ...T0, granularitySpec: { rollup: false, intervals: ['2000/2001'] } },
    read: 1,
    indexed: 1,
    rows: [{ input: { t: 1 }, parsed: { __time: 1 } }],
  },
  {
    name: 'the row that crosses the limit of bytes is the last',
    data: Array.from({ length: 50 }, (_, row) => `{"t":${row},"k":"${'x'.repeat(100)}"}`).join('\n'),
    schema: T0,
    // Each row is shown twice: between 200 and 300 bytes.
    config: { maxClientResponseBytes: 500 },
    read: 2,
    indexed: 2,
  },
];

for (const { name, data, format = JSON_FORMAT, schema, config, read, indexed, columns, rows } of CASES) {
  sampler(name, async () => {
    const answer = await sampled(request(data, format, schema, config));
    assert.is(answer.numRowsRead, read);
    assert.is(answer.numRowsIndexed, indexed);
    if (columns !== undefined)
      assert.equal(
        answer.logicalSegmentSchema.map((column) => column.name),
        columns,
      );
    // Messages are for people; the row they are about counts here.
    const shown = (answer.data as readonly Record<string, unknown>[]).map(({ error, ...others }) => {
      assert.is(typeof error, others['unparseable'] === true ? 'string' : 'undefined');
      return others;
    });
    if (rows !== undefined) assert.equal(shown, rows);
    else assert.is(shown.length, read);
  });
}

const REFUSED: readonly { readonly name: string; readonly body: unknown; readonly error: RegExp }[] = [
  { name: 'no object', body: [], error: /input_invalid: the body: expected an object/ },
  { name: 'nothing in it', body: {}, error: /input_invalid: type: expected index, index_parallel/ },
  { name: 'no ioConfig', body: { type: 'index', spec: {} }, error: /spec\.ioConfig: expected an object/ },
  { name: 'too many rows', body: request('', JSON_FORMAT, T0, { numRows: 5001 }), error: /samplerConfig\.numRows: expected .*5000/ },
  { name: 'an unknown format', body: request('', { type: 'xml' }, T0), error: /spec\.ioConfig\.inputFormat\.type/ },
  {
    name: 'a local file outside of the allowed directories',
    body: { type: 'index', spec: { ioConfig: { inputSource: { type: 'local', files: ['/etc/passwd'] }, inputFormat: { type: 'lines' } } } },
    error: /forbidden: .*svc\.ingestion\.local\.allowedDirectories/,
  },
];
for (const { name, body, error } of REFUSED) {
  sampler(`refused: ${name}`, async () => {
    assert.match((await run(body)).error, error);
  });
}

sampler('memory that is limited ends the sample', async () => {
  const data = Array.from({ length: 1000 }, (_, row) => `{"t":${row},"k":"${'x'.repeat(1000)}"}`).join('\n');
  const { numRowsRead } = await sampled(request(data, JSON_FORMAT, T0, { numRows: 1000, maxBytesInMemory: '200KiB' }));
  assert.ok(numRowsRead > 0 && numRowsRead < 300, String(numRowsRead));
});

sampler.run();
