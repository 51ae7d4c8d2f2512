import { setTimeout as wait } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { type MatrixRow, OPEN, type Sender } from '../../docs/security-matrix.js';
import { loadTask } from './secured-house.js';

/** Requests of every route by everybody, at any address. */

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
export const ROWS = [{ t: Date.UTC(2024, 0, 1), page: 'a' }];
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

/** Values of placeholders, beside `x`. */
export function placeholders(): Map<string, string> {
  return new Map([
    ['dataSource', OPEN],
    ['interval', '2024-01-01_2024-01-02'],
    ['authorizerName', 'basic'],
    ['authenticatorName', 'basic'],
  ]);
}

export interface Answered {
  readonly status: number;
  readonly text: string;
}

/**
 * Asks a route.
 * @param base  address, with whatever stands before the path
 */
export async function sendRow(
  base: string,
  { route }: Pick<MatrixRow, 'route'>,
  sender: Sender,
  names: ReadonlyMap<string, string>,
): Promise<Answered> {
  const path = route.path.replaceAll(/\{([^}*]+)\*?\}/g, (_, name: string) => encodeURIComponent(names.get(name) ?? 'x'));
  return send(base + path, route.method, sender, BODIES.get(`${route.method} ${route.path}`));
}

async function send(url: string, method: string, sender: Sender, body?: unknown): Promise<Answered> {
  const credentials = AUTHORIZATION[sender];
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      'content-type': 'application/json',
      ...(credentials === null ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    ...(method === 'GET' || body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** A request of the administrator, which is answered. */
export async function askAsAdmin(url: string, method: 'GET' | 'POST', path: string, body?: unknown): Promise<string> {
  const { status, text } = await send(url + path, method, 'admin', body);
  assert.is(status, 200, `${method} ${path}: ${status} ${text}`);
  return text;
}

/** Makes the senders, and a statement whose id is among the names. */
export async function makeSenders(url: string, names: Map<string, string>): Promise<void> {
  const base = '/svc-ext/basic-security';
  const post = (path: string, body?: unknown) => askAsAdmin(url, 'POST', path, body);
  for (const [user, permissions] of Object.entries(PERMISSIONS)) {
    await post(`${base}/authentication/db/basic/users/${user}`);
    await post(`${base}/authentication/db/basic/users/${user}/credentials`, { password: 'secret', iterations: 1000 });
    await post(`${base}/authorization/db/basic/users/${user}`);
    if (permissions === null) continue;
    await post(`${base}/authorization/db/basic/roles/${user}`);
    await post(`${base}/authorization/db/basic/roles/${user}/permissions`, permissions);
    await post(`${base}/authorization/db/basic/users/${user}/roles/${user}`);
  }
  names.set('queryId', JSON.parse(await post('/svc/v2/sql/statements', STATEMENT)).queryId);
}

/** Loads the open datasource by a task, and waits until it is served. */
export async function loadOpen(url: string): Promise<string> {
  const id = JSON.parse(await askAsAdmin(url, 'POST', '/svc/indexer/v1/task', loadTask(OPEN, ROWS))).task as string;
  for (;;) {
    const { statusCode } = JSON.parse(await askAsAdmin(url, 'GET', `/svc/indexer/v1/task/${id}/status`)).status;
    assert.is.not(statusCode, 'FAILED');
    if (statusCode === 'SUCCESS') break;
    await wait(200);
  }
  for (;;) {
    const { status } = await send(`${url}/svc/v2/sql`, 'POST', 'admin', { query: `SELECT COUNT(*) AS n FROM ${OPEN}` });
    if (status === 200) return id;
    await wait(200);
  }
}

/** The answers that are not those of the table of routes, and those that tell of the datasource in refusing. */
export async function othersThan(
  rows: readonly MatrixRow[],
  sender: Sender,
  names: ReadonlyMap<string, string>,
  baseOf: (row: MatrixRow) => string,
): Promise<readonly string[]> {
  const others: string[] = [];
  for (const row of rows) {
    const key = `${row.route.method} ${row.route.path}`;
    const { status, text } = await sendRow(baseOf(row), row, sender, names);
    const found = status === 401 || status === 403 ? String(status) : 'ok';
    if (found !== row.outcomes[sender]) others.push(`${key}: ${status} instead of ${row.outcomes[sender]} ${text.slice(0, 120)}`);
    if (found !== 'ok' && text.includes(OPEN)) others.push(`${key} tells ${sender}: ${text}`);
  }
  return others;
}
