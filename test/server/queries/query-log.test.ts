import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Permission } from '../../../src/model/access/basic-authorizer.js';
import type { Frame } from '../../../src/model/frame.js';
import { addStage } from '../../../src/model/profile.js';
import type { HttpRequest } from '../../../src/server/http.types.js';
import { QueryLog, type QueryRun } from '../../../src/server/queries/query-log.js';
import { profileHeader, profileRoutes } from '../../../src/server/routes/profile.js';
import { permission, userWith } from '../access/secured-house.js';

const logs = suite('query log');

const newLog = (kept = 3) => new QueryLog({ kept, now: () => 1_000 });
const begin = (log: QueryLog, queryId: string): QueryRun =>
  log.begin({ queryId, queryType: 'topN', dataSource: 'wiki', tables: ['wiki'], user: 'me' }, performance.now());
const stateOf = (run: QueryRun | undefined): unknown => run?.report()['state'];

async function* frames(...rows: number[]): AsyncGenerator<Frame> {
  for (const rowCount of rows) yield { rowCount, columns: [] };
}

async function* written(run: QueryRun, source: AsyncIterable<Frame>): AsyncGenerator<string> {
  for await (const { rowCount } of run.frames(source)) yield `${rowCount};`;
}

async function read(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk;
  return text;
}

logs('an answer passes through unchanged; rows are counted where they are written', async () => {
  const log = newLog();
  const run = begin(log, 'q');
  assert.is(stateOf(run), 'running');
  assert.is(await read(run.body(written(run, frames(5, 2)))), '5;2;');
  assert.is(stateOf(run), 'done');
  assert.equal([run.profile.stages.write.rowsIn, run.profile.stages.write.rowsOut], [7, 7]);
  assert.is(log.find('q', ALLOW_ALL_CALLER), run);
});

logs('time spent waiting for frames is no time of writing', async () => {
  const run = begin(newLog(), 'q');
  const waited = 60;
  async function* slow(): AsyncGenerator<Frame> {
    await new Promise((resolve) => setTimeout(resolve, waited));
    yield { rowCount: 1, columns: [] };
  }
  await read(run.body(written(run, slow())));
  const { milliseconds } = run.report();
  assert.ok(typeof milliseconds === 'number' && milliseconds - run.profile.stages.write.milliseconds >= waited - 2);
});

logs('a failure is kept with its code; what is left early was cancelled', async () => {
  const log = newLog();
  const failing = begin(log, 'failing');
  async function* broken(): AsyncGenerator<Frame> {
    yield { rowCount: 1, columns: [] };
    throw new ServiceError('resource_limit', 'too much');
  }
  assert.is(await read(failing.body(written(failing, broken()))).catch((error: ServiceError) => error.code), 'resource_limit');
  assert.equal([failing.report()['state'], failing.report()['code']], ['failed', 'resource_limit']);
  const left = begin(log, 'left');
  for await (const _ of left.body(written(left, frames(1, 1, 1)))) break;
  assert.equal([left.report()['state'], left.report()['code']], ['failed', 'cancelled']);
});

/** Queries of `me` by what they read, and who else may end them. */
const ENDED: readonly (readonly [tables: readonly string[], permissions: readonly Permission[], expected: boolean])[] = [
  [[], [], false],
  [[], [permission('READ', 'DATASOURCE', '.*')], false],
  [[], [permission('READ', 'STATE', 'STATE')], false],
  [[], [permission('WRITE', 'STATE', 'STATE')], true],
  [['wiki'], [], false],
  [['wiki'], [permission('READ', 'DATASOURCE', 'wiki')], true],
  [['wiki', 'other'], [permission('READ', 'DATASOURCE', 'wiki')], false],
  [['wiki'], [permission('WRITE', 'STATE', 'STATE')], true],
];
logs('a query is ended by its sender, by who may read all of its datasources, or by who may write the state', () => {
  for (const [tables, permissions, expected] of ENDED) {
    const log = newLog();
    log.begin({ queryId: 'q', queryType: 'sql', dataSource: null, tables, user: 'me' }, performance.now());
    assert.is(log.mayCancel('q', userWith('me', []), 'READ'), true);
    const mayCancel = () => log.mayCancel('q', userWith('somebody', permissions), 'READ');
    if (expected) assert.is(mayCancel(), true);
    else assert.throws(mayCancel, (error: ServiceError) => error.code === 'forbidden', JSON.stringify([tables, permissions]));
    assert.is(log.mayCancel('unknown', userWith('me', []), 'READ'), false);
  }
});

logs('only the last queries are kept; of two with one id the later', () => {
  const log = newLog(2);
  begin(log, 'a');
  const b = begin(log, 'b');
  const again = begin(log, 'a');
  assert.is(log.find('a', ALLOW_ALL_CALLER), again);
  begin(log, 'c');
  assert.is(log.find('b', ALLOW_ALL_CALLER), undefined);
  assert.ok(b.summary().startsWith('milliseconds='));
  assert.is(newLog(0).find('a', ALLOW_ALL_CALLER), undefined);
});

logs('the header says what was read and how long stages took, or everything', () => {
  const run = begin(newLog(), 'q');
  addStage(run.profile, 'filter', 2, 1000, 10);
  addStage(run.profile, 'group', 4, 10, 3);
  run.profile.segmentsPrunedByTime = 5;
  run.profile.kernels['sumRunsI64'] = { calls: 3.4, rows: 2000, milliseconds: 4 };
  const summary = profileHeader(run, false)()['X-Svc-Profile'] ?? '';
  for (const part of ['rowsRead=1000', 'rowsMatched=10', 'filter=2', 'group=4', 'segmentsPrunedByTime=5'])
    assert.ok(summary.split('; ').includes(part), `${part} in ${summary}`);
  const whole = JSON.parse(profileHeader(run, true)()['X-Svc-Profile'] ?? '') as {
    stages: { stage: string; rowsPerSecond: number | null }[];
    kernels: unknown[];
  };
  assert.is(whole.stages.find(({ stage }) => stage === 'filter')?.rowsPerSecond, 500_000);
  assert.equal(whole.kernels, [{ kernel: 'sumRunsI64', calls: 3, rows: 2000, milliseconds: 4, rowsPerSecond: 500_000 }]);
});

logs('a profile is found by query id; an unknown one is not', async () => {
  const log = newLog();
  begin(log, 'q');
  const [route] = profileRoutes(log);
  const request = { caller: ALLOW_ALL_CALLER } as HttpRequest;
  const found = await route?.handle(request, { queryId: 'q' });
  assert.is(found?.status, 200);
  assert.equal(
    (({ queryId, queryType, dataSource, startTime }) => ({ queryId, queryType, dataSource, startTime }))(JSON.parse(String(found?.body))),
    { queryId: 'q', queryType: 'topN', dataSource: 'wiki', startTime: '1970-01-01T00:00:01.000Z' },
  );
  const other = async () => route?.handle(request, { queryId: 'other' });
  const code = await other().catch((error: ServiceError) => error.code);
  assert.is(code, 'not_found');
});

logs('whoever asks for it is told of each query that begins', () => {
  let begun = 0;
  const log = new QueryLog({ kept: 1, now: () => 0, onQuery: () => begun++ });
  for (let query = 0; query < 3; query++)
    log.begin({ queryId: `q${query}`, queryType: 'sql', dataSource: null, tables: [], user: 'me' }, 0);
  assert.is(begun, 3);
});

logs.run();
