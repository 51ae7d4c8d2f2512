import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type MatrixRow, matrixOf, OPEN, SENDERS, type Sender, withMatrix } from '../../docs/security-matrix.js';
import { loadTask, openSecuredHouse, securityFlags } from './secured-house.js';

/** Every route, asked over HTTP by everybody: the answers are what the table of routes says, and so is the page. */

const PAGE = fileURLToPath(new URL('../../../../docs/security.md', import.meta.url));
const AUTHORIZATION: Readonly<Record<Sender, string | null>> = {
  none: null,
  'wrong password': 'admin:wrong',
  'no role': 'nobody:secret',
  'datasource reader': 'reader:secret',
  'state reader': 'state:secret',
  admin: 'admin:secret',
};
const PERMISSIONS = {
  nobody: null,
  reader: [{ resource: { type: 'DATASOURCE', name: OPEN }, action: 'READ' }],
  state: [{ resource: { type: 'STATE', name: 'STATE' }, action: 'READ' }],
};
const ROWS = [{ t: Date.UTC(2024, 0, 1), page: 'a' }];
const STATEMENT = { query: `SELECT COUNT(*) AS n FROM ${OPEN}`, context: { executionMode: 'ASYNC' } };
const BODIES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['POST /svc/v2', { queryType: 'timeseries', dataSource: OPEN, granularity: 'all', intervals: ['2024-01-01/P1D'], aggregations: [] }],
  ['POST /svc/v2/sql', STATEMENT],
  ['POST /svc/v2/sql/task', STATEMENT],
  ['POST /svc/v2/sql/statements', STATEMENT],
  ['POST /svc/indexer/v1/task', loadTask(OPEN, ROWS)],
  [
    'POST /svc/indexer/v1/supervisor',
    {
      type: 'kafka',
      suspended: true,
      dataSchema: { dataSource: OPEN, timestampSpec: { column: 't', format: 'millis' }, dimensionsSpec: {}, granularitySpec: {} },
      ioConfig: {
        topic: 't',
        inputFormat: { type: 'json' },
        startDelay: 'PT10H',
        consumerProperties: { 'bootstrap.servers': '127.0.0.1:9' },
      },
    },
  ],
]);

const house = await openSecuredHouse(31_500, [...securityFlags(), 'svc.auth.login.maxFailures=1000000']);
const rows = matrixOf(house.routesOf);
const names = new Map<string, string>([
  ['dataSource', OPEN],
  ['interval', '2024-01-01_2024-01-02'],
  ['authorizerName', 'basic'],
  ['authenticatorName', 'basic'],
]);
const matrix = suite('matrix of rights');

async function send(row: Pick<MatrixRow, 'role' | 'route'>, sender: Sender, body?: unknown): Promise<{ status: number; text: string }> {
  const { role, route } = row;
  const path = route.path.replaceAll(/\{([^}*]+)\*?\}/g, (_, name: string) => encodeURIComponent(names.get(name) ?? 'x'));
  const credentials = AUTHORIZATION[sender];
  const response = await fetch(house.urlOf(role) + path, {
    method: route.method,
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(credentials === null ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    ...(route.method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

async function admin(method: 'GET' | 'POST', path: string, body?: unknown): Promise<string> {
  const sent = {
    role: 'router',
    route: { method, path, permission: { access: 'public' }, errors: 'map', handle: () => ({ status: 500 }) },
  } as const;
  const { status, text } = await send(sent, 'admin', body);
  assert.is(status, 200, `${method} ${path}: ${status} ${text}`);
  return text;
}

matrix.before(async () => {
  const base = '/svc-ext/basic-security';
  for (const [user, permissions] of Object.entries(PERMISSIONS)) {
    await admin('POST', `${base}/authentication/db/basic/users/${user}`);
    await admin('POST', `${base}/authentication/db/basic/users/${user}/credentials`, { password: 'secret', iterations: 1000 });
    await admin('POST', `${base}/authorization/db/basic/users/${user}`);
    if (permissions === null) continue;
    await admin('POST', `${base}/authorization/db/basic/roles/${user}`);
    await admin('POST', `${base}/authorization/db/basic/roles/${user}/permissions`, permissions);
    await admin('POST', `${base}/authorization/db/basic/users/${user}/roles/${user}`);
  }
  names.set('taskId', await house.load(OPEN, ROWS));
  names.set('queryId', JSON.parse(await admin('POST', '/svc/v2/sql/statements', STATEMENT)).queryId);
});
matrix.after(() => house.close());

for (const sender of SENDERS) {
  matrix(`every route, asked by ${sender}`, async () => {
    const others: string[] = [];
    for (const row of rows) {
      const key = `${row.route.method} ${row.route.path}`;
      const { status, text } = await send(row, sender, BODIES.get(key));
      const found = status === 401 || status === 403 ? String(status) : 'ok';
      if (found !== row.outcomes[sender]) others.push(`${key}: ${status} instead of ${row.outcomes[sender]} ${text.slice(0, 120)}`);
      if (found !== 'ok') assert.ok(!text.includes(OPEN), `${key} tells ${sender}: ${text}`);
    }
    assert.equal(others, []);
  });
}

matrix('a route without a right does not exist', () => {
  for (const [, routes] of house.routesOf) for (const route of routes) assert.ok(route.permission.access.length > 0, route.path);
  assert.ok(rows.length > 120, `${rows.length} routes`);
});

matrix('the page says so (node scripts/security-matrix.mjs writes it)', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.is(page, withMatrix(page, rows));
});

matrix.run();
