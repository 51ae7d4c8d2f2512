import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Role } from '../../src/configuration/properties.js';
import { type MatrixRow, matrixOf, SENDERS } from '../docs/security-matrix.js';
import { loadOpen, makeSenders, othersThan, placeholders } from '../server/access/matrix-requests.js';
import { openSecuredHouse, securityFlags } from '../server/access/secured-house.js';
import { type SixProcesses, startSix } from './six.js';

/** Six processes that share users: every route has the answers of the table to everybody, at its own process and through the Router. */
const OFFSET = 11_500;
const PORTS: Readonly<Record<Role, number>> = {
  router: 8888,
  coordinator: 8081,
  overlord: 8090,
  historical: 8083,
  broker: 8082,
  middleManager: 8091,
};
const FLAGS = [
  ...securityFlags(),
  'svc.auth.login.maxFailures=1000000',
  'svc.auth.authenticator.basic.initialInternalClientPassword=internal secret',
  'svc.escalator.type=basic',
  'svc.escalator.internalClientPassword=internal secret',
  'svc.escalator.authorizerName=basic',
];

const names = placeholders();
const secured = suite<{ six: SixProcesses; folder: string; rows: readonly MatrixRow[] }>('rights through six processes');

secured.before(async (context) => {
  // Only its tables of routes are of interest.
  const house = await openSecuredHouse(OFFSET + 500);
  context.rows = matrixOf(house.routesOf);
  await house.close();
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-secured-six-'));
  const admin = { authorization: `Basic ${Buffer.from('admin:secret').toString('base64')}` };
  context.six = await startSix(
    context.folder,
    OFFSET,
    FLAGS.flatMap((each) => ['--property', each]),
    admin,
  );
  names.set('taskId', await loadOpen(context.six.url));
  await makeSenders(context.six.url, names);
});
secured.after(async ({ six, folder }) => {
  await six?.stop();
  // Nothing was made where the start has failed, whose error is to be seen.
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const FORWARDED = /^\/svc\/(v2|listen|v1\/lookups|coordinator|indexer)\b|^\/svc-ext\//;
const WAYS: readonly {
  readonly name: string;
  readonly takes: (row: MatrixRow) => boolean;
  readonly baseOf: (row: MatrixRow, url: string) => string;
}[] = [
  { name: 'at its process', takes: () => true, baseOf: ({ role }) => `http://127.0.0.1:${PORTS[role] + OFFSET}` },
  {
    name: 'through the Router',
    takes: ({ role, route }) => role !== 'historical' && role !== 'middleManager' && FORWARDED.test(route.path),
    baseOf: (_, url) => url,
  },
  {
    name: 'through the proxy of the Router',
    takes: ({ role }) => role === 'coordinator' || role === 'overlord',
    baseOf: ({ role }, url) => `${url}/proxy/${role}`,
  },
];
/** The Router asks who is there before it forwards, whatever is public at the process behind it. */
function atTheDoor(row: MatrixRow): MatrixRow {
  if (row.route.permission.access !== 'public') return row;
  return { ...row, outcomes: { ...row.outcomes, none: '401', 'wrong password': '401' } };
}

// The administrator comes last: some of its requests take things away.
for (const sender of SENDERS)
  secured(`every route has the answers of the table, asked by ${sender} in three ways`, async ({ six, rows }) => {
    for (const [index, { name, takes, baseOf }] of WAYS.entries()) {
      const asked = rows.filter(takes).map((row) => (index === 0 ? row : atTheDoor(row)));
      assert.ok(asked.length > 60, `${asked.length} routes`);
      assert.equal(await othersThan(asked, sender, names, (row) => baseOf(row, six.url)), [], name);
    }
  });

secured.run();
