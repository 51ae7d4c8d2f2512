import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../../src/base/log.js';
import { Configuration } from '../../../src/configuration/configuration.js';
import { NOBODY_CALLER } from '../../../src/model/access/authorizer.js';
import type { RequestOutcome } from '../../../src/server/queries/request-log.js';
import { filtered, openRequestLog, type RequestFileSettings, RequestFiles } from '../../../src/server/queries/request-sinks.js';
import { openSecuredHouse, permission, userWith } from './secured-house.js';

const logs = suite('request log');
const DAY_MS = 86_400_000;

interface Context {
  directory: string;
}
const withDirectory = logs as unknown as ReturnType<typeof suite<Context>>;
withDirectory.before.each((context) => {
  context.directory = mkdtempSync(join(tmpdir(), 'dolmen-requests-'));
});
withDirectory.after.each(({ directory }) => rmSync(directory, { recursive: true, force: true }));

const settingsOf = (directory: string, more: Partial<RequestFileSettings> = {}): RequestFileSettings => ({
  directory,
  filePattern: "yyyy-MM-dd'.log'",
  retainMs: null,
  ...more,
});
const outcome = (more: Partial<RequestOutcome> = {}): RequestOutcome => ({
  startedAt: Date.UTC(2024, 0, 2, 3, 4, 5, 6),
  queryType: 'sql',
  milliseconds: 12.3,
  planningMs: 1.7,
  bytes: 40,
  user: 'ann',
  queryId: 'q1',
  error: null,
  ...more,
});
const SQL = { remoteAddress: '10.0.0.1', sql: "SELECT 'a\tb'\nFROM t", context: { timeout: 5 }, parameters: [] };

withDirectory(
  'a line has the time, the address, the query, its figures and its user; tabs and line ends do not part it',
  ({ directory }) => {
    const log = new RequestFiles(settingsOf(directory), () => Date.UTC(2024, 0, 2));
    log.write(SQL, outcome());
    log.write(
      { remoteAddress: '::1', native: Buffer.from('{ "queryType":\n"scan", "big": 9223372036854775807 }') },
      outcome({ queryType: 'scan', error: { code: 'timeout', message: 'late' } }),
    );
    log.close();
    const lines = readFileSync(join(directory, '2024-01-02.log'), 'utf8').split('\n');
    assert.equal(lines, [
      [
        '2024-01-02T03:04:05.006Z',
        '10.0.0.1',
        '',
        '{"sqlQuery/time":12,"sqlQuery/planningTimeMs":2,"sqlQuery/bytes":40,"success":true,"identity":"ann","sqlQueryId":"q1","status":200}',
        '{"query":"SELECT \'a\\tb\'\\nFROM t","context":{"timeout":5}}',
      ].join('\t'),
      [
        '2024-01-02T03:04:05.006Z',
        '::1',
        '{"queryType":"scan","big":9223372036854775807}',
        '{"query/time":12,"query/bytes":40,"success":false,"identity":"ann","queryId":"q1","status":504,"exception":"timeout: late"}',
        '',
      ].join('\t'),
      '',
    ]);
  },
);

withDirectory('short queries and muted types are left out', ({ directory }) => {
  const log = filtered({ nativeMsMin: 10, sqlMsMin: 100, mutedTypes: ['scan'] }, new RequestFiles(settingsOf(directory), () => 0));
  const native = { remoteAddress: '', native: Buffer.from('{}') };
  log.write(SQL, outcome({ milliseconds: 99 }));
  log.write(SQL, outcome({ milliseconds: 100 }));
  log.write(native, outcome({ queryType: 'topN', milliseconds: 9 }));
  log.write(native, outcome({ queryType: 'topN', milliseconds: 10 }));
  log.write(native, outcome({ queryType: 'scan', milliseconds: 1000 }));
  log.close();
  assert.is(readFileSync(join(directory, '1970-01-01.log'), 'utf8').split('\n').length, 3);
});

withDirectory('each day has a file; old ones are removed, other files are not', ({ directory }) => {
  let now = Date.UTC(2024, 0, 2);
  const log = new RequestFiles(settingsOf(directory, { retainMs: 2 * DAY_MS }), () => now);
  writeFileSync(join(directory, 'notes.txt'), 'mine');
  mkdirSync(join(directory, 'folder'));
  for (let day = 0; day < 5; day++) {
    log.write(SQL, outcome());
    now += DAY_MS;
  }
  log.close();
  assert.equal(readdirSync(directory).sort(), ['2024-01-04.log', '2024-01-05.log', '2024-01-06.log', 'folder', 'notes.txt']);
});

for (const filePattern of ["'../'yyyy'.log'", "'/etc/'yyyy", "''''yyyy'/x'", "'.'yyyy"])
  withDirectory(`the pattern ${filePattern} is refused`, ({ directory }) => {
    assert.throws(() => new RequestFiles(settingsOf(directory, { filePattern }), () => 0), /filePattern/);
  });

withDirectory('queries of a server are logged with their users, without passwords', async ({ directory }) => {
  const house = await openSecuredHouse(10_500, ['svc.request.logging.type=file', `svc.request.logging.dir=${directory}`]);
  const ann = userWith('ann', [permission('READ', 'DATASOURCE', '.*')]);
  const native = {
    queryType: 'scan',
    dataSource: { type: 'inline', columnNames: ['a'], columnTypes: ['LONG'], rows: [[1]] },
    intervals: ['1970/2100'],
  };
  // Sent again, the third statement is known.
  for (let turn = 0; turn < 3; turn++) await house.ask(ann, 'POST', '/svc/v2/sql', { query: `SELECT '{"password":"hunter2"}' AS a` });
  await house.ask(ann, 'POST', '/svc/v2', native);
  await house.close();
  const [file = ''] = readdirSync(directory);
  const lines = readFileSync(join(directory, file), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  assert.equal(
    lines.map(([, address, scan = '', figures = '{}', sql = '']) => [
      address,
      scan.includes('scan'),
      JSON.parse(figures).identity,
      sql.includes('SELECT'),
    ]),
    [...[1, 2, 3].map(() => ['127.0.0.1', false, 'ann', true]), ['127.0.0.1', true, 'ann', false]],
  );
  assert.not.match(lines.flat().join(), /hunter2/);
});

interface Line {
  readonly native: unknown;
  readonly figures: Readonly<Record<string, unknown>>;
  readonly statement: { readonly query: string; readonly context: unknown } | undefined;
}

function linesIn(directory: string): readonly Line[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(join(directory, name), 'utf8').trimEnd().split('\n'))
    .map((line) => {
      const [, , native = '', figures = '', statement = ''] = line.split('\t');
      const read = (text: string) => (text === '' ? undefined : JSON.parse(text));
      return { native: read(native), figures: read(figures), statement: read(statement) };
    });
}

withDirectory('queries that are refused before they run have a line, with why; each request has one', async ({ directory }) => {
  const house = await openSecuredHouse(10_600, ['svc.request.logging.type=file', `svc.request.logging.dir=${directory}`]);
  const ann = userWith('ann', [permission('READ', 'DATASOURCE', 'hers')]);
  await house.load('theirs', [{ t: 0, a: 1 }]);
  const before = linesIn(directory).length;
  const sql = (query: string, context = {}) => house.ask(ann, 'POST', '/svc/v2/sql', { query, context });
  const statuses = [
    await sql('SELECT', { sqlQueryId: 'mine' }),
    await sql('SELECT * FROM absent'),
    await house.ask(ann, 'POST', '/svc/v2/sql', 'no object'),
    await house.ask(ann, 'POST', '/svc/v2/sql/statements', { query: "INSERT INTO x SELECT 'secret', 1 PARTITIONED BY ALL" }),
    await house.ask(ann, 'POST', '/svc/v2', {
      queryType: 'scan',
      dataSource: 'theirs',
      intervals: ['1970/2100'],
      context: { queryId: 'n1' },
    }),
    await house.ask(ann, 'POST', '/svc/v2', { queryType: 'none' }),
    await house.ask(NOBODY_CALLER, 'POST', '/svc/v2/sql', { query: 'SELECT FROM' }),
    await sql('SELECT 1', { sqlQueryId: 'last' }),
    await house.ask(ann, 'POST', '/svc/v2/absent', { query: 'SELECT 2' }),
  ].map(({ status }) => status);
  await house.close();
  const lines = linesIn(directory).slice(before);
  assert.equal(
    lines.map(({ figures }) => figures['status']),
    statuses.slice(0, 8),
  );
  assert.equal(
    lines.map(({ figures }) => figures['success']),
    [...Array(7).fill(false), true],
  );
  const [bad, , noObject, task, native, , stranger, last] = lines;
  assert.equal([bad?.statement?.query, bad?.figures['sqlQueryId'], bad?.figures['identity']], ['SELECT', 'mine', 'ann']);
  assert.match(String(bad?.figures['exception']), /^sql_invalid: /);
  assert.is(noObject?.statement?.query, 'no object');
  assert.equal(task?.statement?.query, "INSERT INTO x SELECT 'secret', 1 PARTITIONED BY ALL");
  assert.equal([native?.figures['queryId'], native?.figures['status']], ['n1', 403]);
  assert.is(stranger?.statement?.query, '', 'strangers write nothing');
  assert.is(last?.figures['sqlQueryId'], 'last');
});

withDirectory('a statement that runs as a task has a line when it is handed over, with the id of the task', async ({ directory }) => {
  const house = await openSecuredHouse(10_700, ['svc.request.logging.type=file', `svc.request.logging.dir=${directory}`]);
  const writer = userWith('will', [permission('WRITE', 'DATASOURCE', '.*'), permission('READ', 'DATASOURCE', '.*')]);
  const query = 'REPLACE INTO made OVERWRITE ALL SELECT 1 AS a PARTITIONED BY ALL';
  const { status, body } = await house.ask(writer, 'POST', '/svc/v2/sql/task', { query });
  assert.ok(status < 300, body);
  const { taskId } = JSON.parse(body);
  await house.close();
  assert.equal(
    linesIn(directory).map(({ figures, statement }) => [statement?.query, figures['taskId'], figures['identity'], figures['success']]),
    [[query, taskId, 'will', true]],
  );
});

/** Lines that each place gets, for a native query and a statement, of 5 and 50 ms. */
const KINDS: readonly (readonly [properties: readonly string[], files: number, process: number])[] = [
  [['type=file'], 4, 0],
  [['type=slf4j'], 0, 4],
  [['type=filtered', 'queryTimeThresholdMs=10', 'sqlQueryTimeThresholdMs=60'], 1, 0],
  [['type=filtered', 'delegate.type=slf4j', 'mutedQueryTypes=["scan"]'], 0, 2],
  [['type=composing', 'loggerProviders=[{"type":"file"},{"type":"slf4j"},{"type":"noop"}]'], 4, 4],
  [['type=switching', 'nativeQueryLogger={"type":"slf4j"}', 'sqlQueryLogger={"type":"file"}'], 2, 2],
  [['type=switching', 'sqlQueryLogger={"type":"filtered","sqlQueryTimeThresholdMs":10,"delegate":{"type":"file"}}'], 1, 0],
];
for (const [properties, files, process] of KINDS)
  withDirectory(`${properties.join(' ')}: ${files} lines in files, ${process} in the log of the process`, ({ directory }) => {
    let told = 0;
    const flags = [`dir=${directory}`, ...properties].map((each) => `svc.request.logging.${each}`);
    const log = openRequestLog(Configuration.read({ flags }), { ...SILENT_LOG, info: () => told++ } as typeof SILENT_LOG, () => 0);
    for (const milliseconds of [5, 50]) {
      log?.write(SQL, outcome({ milliseconds }));
      log?.write({ remoteAddress: '', native: Buffer.from('{}') }, outcome({ queryType: 'scan', milliseconds }));
    }
    log?.close();
    assert.equal([readdirSync(directory).length === 0 ? 0 : linesIn(directory).length, told], [files, process]);
  });

for (const properties of [
  ['type=emitter'],
  ['type=other'],
  ['type=file', 'feed=requests'],
  ['type=slf4j', 'setMDC=true'],
  ['type=file', 'rollPeriod=PT1H'],
  ['type=composing', 'loggerProviders=nothing'],
  ['type=composing', 'loggerProviders=[{"type":"emitter"}]'],
  ['type=composing', 'loggerProviders=[{"type":"file","other":1}]'],
  ['type=switching', 'nativeQueryLogger={"type":"filtered"}'],
  ['type=switching', 'sqlQueryLogger=[]'],
])
  withDirectory(`${properties.join(' ')} is refused by name`, ({ directory }) => {
    const flags = [`dir=${directory}`, ...properties].map((each) => `svc.request.logging.${each}`);
    assert.throws(
      () => openRequestLog(Configuration.read({ flags }), SILENT_LOG, () => 0),
      (error: Error) => error.message.includes((properties.at(-1) as string).split('=')[0] as string),
    );
  });

logs.run();
