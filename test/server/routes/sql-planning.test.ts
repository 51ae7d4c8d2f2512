import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import type { BrokerQueries } from '../../../src/cluster/broker/contract.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { PlanWatch } from '../../../src/planner/sql/plan-watch.js';
import { PlanThread } from '../../../src/server/planning/plan-thread.js';
import { QueryLog } from '../../../src/server/queries/query-log.js';
import { SqlStatements } from '../../../src/server/queries/sql-statements.js';
import { unlimited } from '../../cluster/fakes.js';

const planning = suite('SQL statements that are planned');

const LONG = `SELECT ${Array.from({ length: 3000 }, (_, index) => `${index} + 1 AS c${index}`).join(', ')}`;

async function* noFrames() {}
const BROKER: BrokerQueries = {
  tables: () => [],
  table: () => undefined,
  run: noFrames,
  runOver: noFrames,
  knownResult: () => undefined,
  bySegment: noFrames,
  analyze: async () => [],
  candidates: () => [],
  cancel: () => false,
};

async function withStatements(use: (statements: SqlStatements) => Promise<void>): Promise<void> {
  const planThread = new PlanThread(100);
  const statements = new SqlStatements(BROKER, {
    planThread,
    plansBytesMax: 2 ** 20,
    now: () => 0,
    newQueryId: () => 'made',
    log: new QueryLog({ kept: 1, now: () => 0 }),
    scheduler: unlimited(),
    lookups: () => [],
    systemRows: async () => [],
    defaultTimeoutMs: 300_000,
    maxTimeoutMs: 300_000,
  });
  try {
    await use(statements);
  } finally {
    await planThread.stop();
  }
}
const requestOf = (query: string) => ({ query, context: {}, parameters: [] });
const codeOf = (thrown: unknown) => (thrown instanceof ServiceError ? thrown.code : String(thrown));

planning('a long statement is cancelled by its id while it is planned, and by nobody else', () =>
  withStatements(async (statements) => {
    const plan = (sqlQueryId: string | null) =>
      statements
        .plan(requestOf(LONG), false, { caller: ALLOW_ALL_CALLER, watch: new PlanWatch(), sqlQueryId })
        .then(({ kind }) => kind, codeOf);
    const [mine, other] = [plan('mine'), plan(null)];
    assert.equal([statements.cancel('mine', ALLOW_ALL_CALLER), statements.cancel('made', ALLOW_ALL_CALLER)], [true, false]);
    assert.equal(await Promise.all([mine, other]), ['cancelled', 'select']);
    assert.is(statements.cancel('mine', ALLOW_ALL_CALLER), false);
  }),
);

planning('a long statement is not planned for a client that is gone', () =>
  withStatements(async (statements) => {
    const gone = AbortSignal.abort(new ServiceError('cancelled', 'the client closed the connection'));
    const planned = statements.plan(requestOf(LONG), false, { caller: ALLOW_ALL_CALLER, watch: new PlanWatch(), signal: () => gone });
    assert.is(await planned.then(({ kind }) => kind, codeOf), 'cancelled');
  }),
);

planning('a short statement does not create an abort signal', () =>
  withStatements(async (statements) => {
    const signal = (): AbortSignal => assert.unreachable('it was asked for') as never;
    assert.is(
      (await statements.plan(requestOf('SELECT 1'), false, { caller: ALLOW_ALL_CALLER, watch: new PlanWatch(), signal })).kind,
      'select',
    );
  }),
);

planning.run();
