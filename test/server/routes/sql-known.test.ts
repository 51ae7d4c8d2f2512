import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { BrokerQueries } from '../../../src/cluster/broker/contract.js';
import { QueryScheduler } from '../../../src/cluster/broker/query-scheduler.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import type { Frame } from '../../../src/model/frame.js';
import type { HttpRequest, HttpResponse } from '../../../src/server/http.types.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { QueryLog } from '../../../src/server/queries/query-log.js';
import { SqlStatements } from '../../../src/server/queries/sql-statements.js';
import { sqlRoutes } from '../../../src/server/routes/sql.js';

const QUERY = "SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS t (n, s)";
const PAIRS: Frame = {
  rowCount: 2,
  columns: [
    { kind: 'long', name: 'n', values: BigInt64Array.of(1n, 2n), nulls: null },
    { kind: 'string', name: 's', ids: Uint32Array.of(0, 1), dictionary: ['a', null] },
  ],
};

interface Server {
  readonly log: QueryLog;
  /** Number of plans that were run. */
  runs(): number;
  ask(body: unknown, more?: Partial<HttpRequest>): Promise<{ readonly response: HttpResponse; readonly text: string }>;
}

const noOverlord = (): never => {
  throw new Error('no overlord is asked here');
};

/** @param known  the result of every plan, if that is known */
function server({ known, capacity = null }: { known?: readonly Frame[]; capacity?: number | null }): Server {
  let runs = 0;
  const run = async function* (): AsyncGenerator<Frame> {
    runs++;
    yield PAIRS;
  };
  const broker: BrokerQueries = {
    tables: () => [],
    table: () => undefined,
    run,
    runOver: run,
    knownResult: () => known,
    bySegment: async function* () {},
    analyze: async () => [],
    candidates: () => [],
    cancel: () => false,
  };
  const log = new QueryLog({ kept: 10, now: () => 0 });
  const scheduler = new QueryScheduler({ capacity, laning: { strategy: 'none' }, thresholds: null, now: () => 0, segmentsOf: () => [] });
  let made = 0;
  const planThread = new PlanThread(100);
  const statements = new SqlStatements(broker, {
    planThread,
    plansBytesMax: 2 ** 20,
    now: () => 0,
    newQueryId: () => `made ${++made}`,
    log,
    scheduler,
    lookups: () => [],
    systemRows: async () => [],
    defaultTimeoutMs: 300_000,
    maxTimeoutMs: 500_000,
  });
  const [route] = sqlRoutes(statements, { overlord: noOverlord, results: null, bodiesBytesMax: 2 ** 20 });
  const ask: Server['ask'] = async (body, more = {}) => {
    const request: HttpRequest = {
      method: 'POST',
      path: '/svc/v2/sql',
      rawUrl: '/svc/v2/sql',
      query: new URLSearchParams(),
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      remoteAddress: '',
      signal: new AbortController().signal,
      viaAlias: false,
      caller: ALLOW_ALL_CALLER,
      ...more,
    };
    const response = await route?.handle(request, {});
    if (response === undefined) throw new Error('no route');
    let text = '';
    if (typeof response.body === 'string') text = response.body;
    else for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) text += Buffer.from(chunk).toString();
    return { response, text };
  };
  return { log, ask, runs: () => runs };
}

const known = suite('SQL answers that are known');

for (const resultFormat of ['object', 'array', 'objectLines', 'arrayLines', 'csv']) {
  for (const header of [{}, { header: true }, { header: true, typesHeader: true, sqlTypesHeader: true }]) {
    known(`${resultFormat} with ${Object.keys(header).join(', ') || 'no header'} is the same as when it is run`, async () => {
      const body = { query: QUERY, resultFormat, ...header };
      const [atOnce, ran] = [server({ known: [PAIRS] }), server({})];
      const first = await atOnce.ask(body);
      const second = await ran.ask(body);
      assert.is(first.text, second.text);
      const { 'X-Svc-Profile': profile = '', ...headers } = first.response.headers ?? {};
      assert.equal(headers, second.response.headers);
      assert.match(profile, /^milliseconds=/);
      assert.equal([atOnce.runs(), ran.runs()], [0, 1]);
    });
  }
}

known('they are in the log of queries, with their rows', async () => {
  const { ask, log } = server({ known: [PAIRS] });
  const { response } = await ask({ query: QUERY, context: { sqlQueryId: 'mine' } });
  const run = log.find('mine', ALLOW_ALL_CALLER);
  assert.equal(run?.state, { state: 'done' });
  assert.equal(
    [run?.profile.stages.write.rowsOut, run?.profile.resultCacheHits, run?.description.sql, response.headers?.['X-Svc-SQL-Query-Id']],
    [2, 1, QUERY, 'mine'],
  );
  assert.match(response.headers?.['X-Svc-Profile'] ?? '', /^milliseconds=.*; resultCacheHits=1$/);
});

known('the log says how long each stage of planning took, or that the plan was there already', async () => {
  const { ask, log } = server({});
  for (const sqlQueryId of ['first', 'second']) await ask({ query: QUERY, context: { sqlQueryId } });
  const planningOf = (id: string) =>
    log.find(id, ALLOW_ALL_CALLER)?.report()['planning'] as { cached: boolean; stages: { stage: string }[] };
  const [first, second] = [planningOf('first'), planningOf('second')];
  assert.equal([first.cached, first.stages[0]?.stage, first.stages.at(-1)?.stage], [false, 'parse', 'lower']);
  assert.equal(second, { cached: true, stages: [] });
});

known('known answers are refused where access is refused', async () => {
  const { ask, log } = server({ known: [PAIRS], capacity: 0 });
  const error = await ask({ query: QUERY, context: { sqlQueryId: 'mine' } }).catch((thrown: unknown) => thrown);
  assert.is(error instanceof ServiceError && error.code, 'capacity_exceeded');
  assert.equal(log.find('mine', ALLOW_ALL_CALLER)?.state, { state: 'failed', code: 'capacity_exceeded' });
});

known('a timeout above the limit is refused', async () => {
  const error = await server({ known: [PAIRS] })
    .ask({ query: QUERY, context: { timeout: 500_001 } })
    .catch((thrown: unknown) => thrown);
  assert.match(String(error), /context.timeout: 500001 ms is above the limit/);
});

known('a long result is not written at once', async () => {
  const rowCount = 1500;
  const frame: Frame = {
    rowCount,
    columns: [
      { kind: 'long', name: 'n', values: new BigInt64Array(rowCount), nulls: null },
      { kind: 'string', name: 's', ids: new Uint32Array(rowCount), dictionary: ['a'] },
    ],
  };
  const { ask, runs } = server({ known: [frame] });
  await ask({ query: QUERY });
  assert.is(runs(), 1);
});

known('each request has an id of its own, or the one it names', async () => {
  const { ask } = server({ known: [PAIRS] });
  const idOf = async (body: unknown) => (await ask(body)).response.headers?.['X-Svc-SQL-Query-Id'];
  const named = { query: QUERY, context: { sqlQueryId: 'mine' } };
  assert.equal(
    [await idOf({ query: QUERY }), await idOf({ query: QUERY }), await idOf(named), await idOf(named)],
    ['made 1', 'made 2', 'mine', 'mine'],
  );
});

known('the same bytes mean what their content type and their path say', async () => {
  const { ask } = server({ known: [PAIRS] });
  const text = JSON.stringify({ query: QUERY, strange: 1 });
  const refused = async (more: Partial<HttpRequest>) => String(await ask(text, more).catch((thrown: unknown) => thrown));
  assert.match(await refused({}), /unknown key "strange"/);
  for (const _ of [1, 2]) {
    const { response } = await ask(text, { viaAlias: true });
    assert.is(response.headers?.['X-Svc-Warning'], 'strange is not a known key and was ignored');
  }
  assert.match(await refused({}), /unknown key "strange"/);
  assert.match(await refused({ headers: { 'content-type': 'text/plain' } }), /line 1, column 1: /);
});

known.run();
