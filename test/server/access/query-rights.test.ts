import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSecuredHouse, permission, userWith } from './secured-house.js';

/** Rights to context keys and to tables of `sys`, where the configuration asks for them. */

const house = await openSecuredHouse(10_400, [
  'svc.auth.authorizeQueryContextParams=true',
  'svc.auth.unsecuredContextKeys=["priority"]',
  'svc.sql.planner.authorizeSystemTablesDirectly=true',
]);
const read = permission('READ', 'DATASOURCE', '.*');
const plain = userWith('plain', [read]);
const user = userWith('user', [
  read,
  permission('WRITE', 'QUERY_CONTEXT', 'timeout|use.*'),
  permission('READ', 'SYSTEM_TABLE', 'tasks'),
  permission('READ', 'SYSTEM_TABLE', 'sys\\.segments'),
  permission('READ', 'SYSTEM_TABLE', 'servers'),
]);
const rights = suite('rights of queries');
rights.after(() => house.close());

const NATIVE = {
  queryType: 'scan',
  dataSource: { type: 'inline', columnNames: ['a'], columnTypes: ['LONG'], rows: [[1]] },
  intervals: ['1970/2100'],
};
const contexts: readonly [context: object, plain: number, user: number][] = [
  [{}, 200, 200],
  [{ sqlQueryId: 'x' }, 200, 200],
  [{ priority: 1 }, 200, 200],
  [{ timeout: 1000 }, 403, 200],
  [{ timeout: 1000, useCache: false, priority: 2 }, 403, 200],
  [{ useCache: false, exactSums: true }, 403, 403],
];
for (const [context, ofPlain, ofUser] of contexts)
  rights(`context ${JSON.stringify(context)}`, async () => {
    // Twice: the second body is known, and so is its plan.
    for (const [caller, status] of [
      [plain, ofPlain],
      [user, ofUser],
    ] as const)
      for (const [path, body] of [
        ['/svc/v2/sql', { query: 'SELECT 1 AS a', context }],
        ['/svc/v2/sql', { query: 'SELECT 1 AS a', context }],
        ['/svc/v2', { ...NATIVE, context: 'sqlQueryId' in context ? {} : context }],
      ] as const)
        assert.is((await house.ask(caller, 'POST', path, body)).status, status, `${caller.identity.user} ${path}`);
  });

const tables: readonly [table: string, plain: number, user: number][] = [
  ['tasks', 403, 200],
  ['segments', 403, 200],
  ['queries', 403, 403],
  // The right to the table is not the right to the state of the cluster.
  ['servers', 403, 403],
];
for (const [table, ofPlain, ofUser] of tables)
  rights(`sys.${table}`, async () => {
    const query = `SELECT COUNT(*) AS n FROM sys.${table}`;
    assert.is((await house.ask(plain, 'POST', '/svc/v2/sql', { query })).status, ofPlain);
    assert.is((await house.ask(user, 'POST', '/svc/v2/sql', { query })).status, ofUser);
  });

rights.run();
