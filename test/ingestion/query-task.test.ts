import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { validateTask } from '../../src/ingestion/task.js';
import { run, type TaskRun } from './run-task.js';

const HOUR = 3_600_000;
const EDITS = [
  { t: 1000, page: 'a', tags: ['x', 'y'], v: 1 },
  { t: 1500, page: 'a', tags: ['y', 'x'], v: 2 },
  { t: 2000, page: 'a', tags: [], v: 4 },
  { t: 1200, page: null, v: 8 },
  { t: HOUR, page: 'b', v: '16' },
];

const SIGNATURE = [
  { name: 't', type: 'long' },
  { name: 'page', type: 'string' },
  { name: 'tags', type: 'string' },
  { name: 'v', type: 'long' },
];

function extern(data: readonly unknown[] = EDITS, signature: readonly unknown[] = SIGNATURE): string {
  const literal = (value: unknown): string => `'${JSON.stringify(value).replaceAll("'", "''")}'`;
  return `TABLE(EXTERN(${literal({ type: 'inline', data: data.map((row) => (typeof row === 'string' ? row : JSON.stringify(row))).join('\n') })}, '{"type":"json"}', ${literal(signature)}))`;
}

function runSql(query: string, context: Record<string, unknown> = {}, parameters: readonly unknown[] = []): Promise<TaskRun> {
  return run({ type: 'query_controller', spec: { query, context, parameters } });
}

interface Report {
  readonly multiStageQuery: {
    readonly taskId: string;
    readonly payload: {
      readonly status: { readonly status: string; readonly errorReport?: { readonly error: { readonly errorCode: string } } };
      readonly stages: readonly { readonly stageNumber: number; readonly phase: string }[];
      readonly counters: Record<string, Record<string, Record<string, { readonly rows: readonly number[] }>>>;
      readonly results: {
        readonly results: readonly unknown[][];
        readonly resultsTruncated: boolean;
        readonly sqlTypeNames: readonly string[];
      };
    };
  };
}

const payloadOf = ({ outcome }: TaskRun): Report['multiStageQuery']['payload'] =>
  (outcome.report as unknown as Report).multiStageQuery.payload;

const queries = suite('query_controller');

queries('REPLACE: rows, order of dimensions, report', async () => {
  const done = await runSql(
    `REPLACE INTO edits OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page, tags, v FROM ${extern()} PARTITIONED BY HOUR CLUSTERED BY v`,
  );
  assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
  assert.equal(done.rows, [
    { __time: 1000n, v: 1n, page: 'a', tags: ['x', 'y'] },
    { __time: 1200n, v: 8n, page: null, tags: null },
    { __time: 1500n, v: 2n, page: 'a', tags: ['y', 'x'] },
    { __time: 2000n, v: 4n, page: 'a', tags: null },
    { __time: BigInt(HOUR), v: 16n, page: 'b', tags: null },
  ]);
  assert.equal(done.published[0]?.segments.map(({ dimensions }) => dimensions)[0], ['v', 'page', 'tags']);
  const { status, stages, counters } = payloadOf(done);
  assert.is(status.status, 'SUCCESS');
  assert.equal(
    stages.map(({ stageNumber, phase }) => [stageNumber, phase]),
    [
      [0, 'FINISHED'],
      [1, 'FINISHED'],
    ],
  );
  assert.equal(counters['0']?.['0']?.['input0']?.rows, [5]);
});

queries('INSERT … GROUP BY appends, in one chunk of all time', async () => {
  const done = await runSql(
    `INSERT INTO edits SELECT TIME_FLOOR(MILLIS_TO_TIMESTAMP(t), 'PT1H') AS __time, page, SUM(v) AS total, COUNT(*) AS n FROM ${extern()} GROUP BY 1, 2 PARTITIONED BY ALL`,
  );
  assert.equal(done.rows, [
    { __time: 0n, page: null, total: 8n, n: 1n },
    { __time: 0n, page: 'a', total: 7n, n: 3n },
    { __time: BigInt(HOUR), page: 'b', total: 16n, n: 1n },
  ]);
  assert.equal(done.published[0]?.mode, { kind: 'append' });
});

queries('a column called __time may come unsorted, or as text', async () => {
  const data = [{ __time: 5 }, { __time: 3 }, { __time: 9 }];
  const numbers = await runSql(`SELECT "__time" AS t FROM ${extern(data, [{ name: '__time', type: 'long' }])} WHERE "__time" < 9`);
  assert.equal(
    payloadOf(numbers).results.results.map(([time]) => (typeof time === 'string' ? Date.parse(time) : time)),
    [5, 3],
  );
  const texts = await runSql(
    `REPLACE INTO edits OVERWRITE ALL SELECT TIME_PARSE("__time") AS __time, 'x' AS x FROM ${extern([{ __time: '1970-01-01T00:00:01Z' }], [{ name: '__time', type: 'string' }])} PARTITIONED BY DAY`,
  );
  assert.equal(texts.rows, [{ __time: 1000n, x: 'x' }]);
});

queries('rowsPerSegment cuts', async () => {
  const done = await runSql(
    `REPLACE INTO edits OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page FROM ${extern()} PARTITIONED BY DAY`,
    { rowsPerSegment: 2 },
  );
  assert.equal(
    done.published[0]?.segments.map(({ rowCount }) => rowCount),
    [1, 2, 2],
  );
});

queries('SELECT: rows in the report, at most 3000', async () => {
  const done = await runSql(`SELECT page, SUM(v) AS total FROM ${extern()} GROUP BY page ORDER BY total DESC LIMIT 2`);
  assert.equal(payloadOf(done).results.results, [
    ['b', 16],
    [null, 8],
  ]);
  assert.equal(payloadOf(done).results.sqlTypeNames, ['VARCHAR', 'BIGINT']);
  assert.is(payloadOf(done).results.resultsTruncated, false);
  assert.equal(done.published, []);
  const data = Array.from({ length: 3001 }, (_, row) => ({ t: row }));
  const many = payloadOf(await runSql(`SELECT MILLIS_TO_TIMESTAMP(t) FROM ${extern(data)}`)).results;
  assert.is(many.results.length, 3000);
  assert.is(many.resultsTruncated, true);
  assert.equal(many.results[2999], ['1970-01-01T00:00:02.999Z']);
});

/** `["x…"]` and a separator are 5 bytes more than the text: 15 rows of 1 MiB fit into 16 MiB. */
const MIB = 2 ** 20;
const WIDE: readonly (readonly [rows: number, bytes: number, shown: number])[] = [
  [15, MIB, 15],
  [16, MIB, 15],
  [16, MIB - 5, 16],
  [17, MIB - 5, 16],
  [5, 4 * MIB, 3],
];
for (const [rows, bytes, shown] of WIDE)
  queries(`SELECT: of ${rows} rows of ${bytes} bytes the report has ${shown}`, async () => {
    const query = `SELECT REPEAT('x', ${bytes}) || SUBSTRING(page, 1, 0) FROM ${extern(Array.from({ length: rows }, () => ({ page: 'a' })))}`;
    const { results, resultsTruncated } = payloadOf(await runSql(query)).results;
    assert.equal([results.length, resultsTruncated], [shown, shown < rows]);
  });

queries('parameters', async () => {
  const done = await runSql(`SELECT t FROM ${extern()} WHERE page = ?`, {}, [{ type: 'VARCHAR', value: 'b' }]);
  assert.equal(payloadOf(done).results.results, [[HOUR]]);
});

const failures: readonly {
  readonly name: string;
  readonly query: string;
  readonly context?: Record<string, unknown>;
  readonly message: RegExp;
  readonly errorCode?: string;
}[] = [
  {
    name: 'a null __time',
    query: `REPLACE INTO edits OVERWRITE ALL SELECT TIME_PARSE(page) AS __time, v FROM ${extern()} PARTITIONED BY DAY`,
    message: /null __time/,
  },
  {
    name: 'a row outside of OVERWRITE WHERE',
    query: `REPLACE INTO edits OVERWRITE WHERE __time >= TIMESTAMP '2000-01-01' AND __time < TIMESTAMP '2000-01-02' SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM ${extern()} PARTITIONED BY DAY`,
    message: /outside of OVERWRITE WHERE 2000-01-01/,
  },
  {
    name: 'a line that is no JSON',
    query: `SELECT t FROM ${extern(['{"t":1}', 'oops'])}`,
    message: /more than 0 rows could not be parsed \(maxParseExceptions\).*oops/,
    errorCode: 'CannotParseExternalData',
  },
  {
    name: 'a directory that is not allowed',
    query: `SELECT t FROM TABLE(EXTERN('{"type":"local","files":["/etc/passwd"]}', '{"type":"json"}', '[{"name":"t","type":"long"}]'))`,
    message: /svc\.ingestion\.local\.allowedDirectories/,
  },
];
for (const { name, query, context = {}, message, errorCode } of failures) {
  queries(`fails and publishes nothing: ${name}`, async () => {
    const done = await runSql(query, context);
    assert.is(done.outcome.succeeded, false);
    assert.match(done.outcome.errorMessage ?? '', message);
    assert.equal(done.published, []);
    assert.is(payloadOf(done).status.status, 'FAILED');
    if (errorCode !== undefined) assert.is(payloadOf(done).status.errorReport?.error.errorCode, errorCode);
  });
}

queries('the report shows no passwords of the input', async () => {
  const source = { type: 'http', uris: ['http://127.0.0.1/x'], httpAuthenticationUsername: 'me', httpAuthenticationPassword: 'secret' };
  const done = await runSql(`SELECT t FROM TABLE(EXTERN('${JSON.stringify(source)}', '{"type":"json"}', '[{"name":"t","type":"long"}]'))`);
  assert.match(JSON.stringify(payloadOf(done).stages), /"httpAuthenticationPassword":"\*+"/);
  assert.not.match(JSON.stringify(done.outcome.report), /secret/);
});

for (const [name, verb, clustered, parts] of [
  [
    'REPLACE by a string',
    'REPLACE INTO edits OVERWRITE ALL',
    'page',
    [
      [null, ['a']],
      [['a'], ['b']],
      [['b'], null],
    ],
  ],
  [
    'REPLACE by a string and a number',
    'REPLACE INTO edits OVERWRITE ALL',
    'page, v',
    [
      [null, ['a']],
      [['a'], ['b']],
      [['b'], null],
    ],
  ],
  ['REPLACE by a number', 'REPLACE INTO edits OVERWRITE ALL', 'v, page', [null, null, null, null, null]],
  ['REPLACE by several values', 'REPLACE INTO edits OVERWRITE ALL', 'tags', [null, null, null, null, null]],
  ['INSERT', 'INSERT INTO edits', 'page', [null, null, null, null, null]],
] as const)
  queries(`CLUSTERED BY divides chunks: ${name}`, async () => {
    const query = `${verb} SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page, tags, v FROM ${extern()} PARTITIONED BY ALL CLUSTERED BY ${clustered}`;
    const done = await runSql(query, { rowsPerSegment: 1 });
    assert.ok(done.outcome.succeeded, done.outcome.errorMessage ?? '');
    assert.equal(
      done.published[0]?.segments.map(({ part }) => (part?.type === 'range' ? [part.start, part.end] : part)),
      parts,
    );
  });

queries('segmentSortOrder orders the dimensions', async () => {
  const query = `REPLACE INTO edits OVERWRITE ALL SELECT MILLIS_TO_TIMESTAMP(t) AS __time, page, v FROM ${extern()} PARTITIONED BY ALL CLUSTERED BY page`;
  const done = await runSql(query, { segmentSortOrder: '__time, v' });
  assert.equal(done.published[0]?.segments[0]?.dimensions, ['v', 'page']);
});

const refusedContexts: readonly { readonly context: Record<string, unknown>; readonly message: RegExp }[] = [
  { context: { selectDestination: 'elsewhere' }, message: /context\.selectDestination: / },
  { context: { rowsPerPage: 0 }, message: /context\.rowsPerPage: expected an integer of at least 1/ },
  { context: { forceSegmentSortByTime: false }, message: /context\.forceSegmentSortByTime/ },
  { context: { rowsPerSegment: 0 }, message: /context\.rowsPerSegment: expected an integer of at least 1/ },
  { context: { segmentSortOrder: 'nothing' }, message: /no column "nothing"/ },
];
for (const { context, message } of refusedContexts) {
  queries(`refused context: ${JSON.stringify(context)}`, () => {
    const query = `INSERT INTO edits SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM ${extern()} PARTITIONED BY DAY`;
    assert.throws(() => validateTask({ type: 'query_controller', spec: { query, context } }, 0), message);
  });
}

queries('no rows: INSERT does nothing, or fails when failOnEmptyInsert says so; REPLACE empties', async () => {
  const select = `SELECT MILLIS_TO_TIMESTAMP(t) AS __time, v FROM ${extern()} WHERE v < 0 PARTITIONED BY DAY`;
  const insert = await runSql(`INSERT INTO edits ${select}`);
  assert.ok(insert.outcome.succeeded);
  assert.equal(insert.published, []);
  assert.match((await runSql(`INSERT INTO edits ${select}`, { failOnEmptyInsert: true })).outcome.errorMessage ?? '', /failOnEmptyInsert/);
  const replace = await runSql(`REPLACE INTO edits OVERWRITE ALL ${select}`);
  assert.equal(replace.published[0]?.segments, []);
  assert.is(replace.published[0]?.mode.kind, 'replace');
});

queries('maxParseExceptions lets bad lines pass', async () => {
  const done = await runSql(`SELECT t FROM ${extern(['{"t":1}', 'oops', '{"t":2}'])}`, { maxParseExceptions: -1 });
  assert.equal(payloadOf(done).results.results, [[1], [2]]);
});

queries('an unknown table is refused at submission', () => {
  const payload = { type: 'query_controller', spec: { query: 'INSERT INTO edits SELECT * FROM other PARTITIONED BY DAY' } };
  assert.throws(() => validateTask(payload, 0), /other/);
});
queries.run();
