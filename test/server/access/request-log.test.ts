import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RequestLog, type RequestLogSettings, type RequestOutcome } from '../../../src/server/queries/request-log.js';
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

const settingsOf = (directory: string, more: Partial<RequestLogSettings> = {}): RequestLogSettings => ({
  directory,
  filePattern: "yyyy-MM-dd'.log'",
  retainMs: null,
  nativeMsMin: 0,
  sqlMsMin: 0,
  mutedTypes: [],
  ...more,
});
const outcome = (more: Partial<RequestOutcome> = {}): RequestOutcome => ({
  startedAt: Date.UTC(2024, 0, 2, 3, 4, 5, 6),
  queryType: 'sql',
  milliseconds: 12.3,
  planningMs: 1.7,
  bytes: 40,
  success: true,
  user: 'ann',
  ...more,
});
const SQL = { remoteAddress: '10.0.0.1', sql: "SELECT 'a\tb'\nFROM t", context: { timeout: 5 }, parameters: [] };

withDirectory(
  'a line has the time, the address, the query, its figures and its user; tabs and line ends do not part it',
  ({ directory }) => {
    const log = new RequestLog(settingsOf(directory), () => Date.UTC(2024, 0, 2));
    log.write(SQL, outcome());
    log.write(
      { remoteAddress: '::1', native: Buffer.from('{ "queryType":\n"scan", "big": 9223372036854775807 }') },
      outcome({ queryType: 'scan', success: false }),
    );
    log.close();
    const lines = readFileSync(join(directory, '2024-01-02.log'), 'utf8').split('\n');
    assert.equal(lines, [
      [
        '2024-01-02T03:04:05.006Z',
        '10.0.0.1',
        '',
        '{"sqlQuery/time":12,"sqlQuery/planningTimeMs":2,"sqlQuery/bytes":40,"success":true,"identity":"ann"}',
        '{"query":"SELECT \'a\\tb\'\\nFROM t","context":{"timeout":5}}',
      ].join('\t'),
      [
        '2024-01-02T03:04:05.006Z',
        '::1',
        '{"queryType":"scan","big":9223372036854775807}',
        '{"query/time":12,"query/bytes":40,"success":false,"identity":"ann"}',
        '',
      ].join('\t'),
      '',
    ]);
  },
);

withDirectory('short queries and muted types are left out', ({ directory }) => {
  const log = new RequestLog(settingsOf(directory, { nativeMsMin: 10, sqlMsMin: 100, mutedTypes: ['scan'] }), () => 0);
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
  const log = new RequestLog(settingsOf(directory, { retainMs: 2 * DAY_MS }), () => now);
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
    assert.throws(() => new RequestLog(settingsOf(directory, { filePattern }), () => 0), /filePattern/);
  });

withDirectory('queries of a server are logged with their users, without passwords', async ({ directory }) => {
  const house = await openSecuredHouse(32_000, ['svc.request.logging.type=file', `svc.request.logging.dir=${directory}`]);
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

logs.run();
