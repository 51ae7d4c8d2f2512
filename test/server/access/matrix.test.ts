import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { matrixOf, OPEN, SENDERS, withMatrix } from '../../docs/security-matrix.js';
import { makeSenders, othersThan, placeholders, ROWS } from './matrix-requests.js';
import { openSecuredHouse, securityFlags } from './secured-house.js';

/** Every route, asked over HTTP by everybody: the answers are what the table of routes says, and so is the page. */

const PAGE = fileURLToPath(new URL('../../../../docs/security.md', import.meta.url));
const house = await openSecuredHouse(10_000, [...securityFlags(), 'svc.auth.login.maxFailures=1000000']);
const rows = matrixOf(house.routesOf);
const names = placeholders();
const matrix = suite('matrix of rights');

matrix.before(async () => {
  names.set('taskId', await house.load(OPEN, ROWS));
  await makeSenders(house.urlOf('router'), names);
});
matrix.after(() => house.close());

for (const sender of SENDERS)
  matrix(`every route, asked by ${sender}`, async () => {
    assert.equal(await othersThan(rows, sender, names, ({ role }) => house.urlOf(role)), []);
  });

matrix('a route without a right does not exist', () => {
  for (const [, routes] of house.routesOf) for (const route of routes) assert.ok(route.permission.access.length > 0, route.path);
  assert.ok(rows.length > 120, `${rows.length} routes`);
});

matrix('the page says so (node scripts/security-matrix.mjs writes it)', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.is(page, withMatrix(page, rows));
});

matrix.run();
