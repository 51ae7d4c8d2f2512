import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';

/** A server that asks who is there, over TLS as well, with client certificates that are asked for. */
const security = suite<{ server: DolmenProcess; folder: string }>('security end to end');

const OFFSET = 3_100;
const URL = `http://127.0.0.1:${8888 + OFFSET}`;
const TLS_PORT = 9088 + OFFSET;
const STORE_PASSWORD = 'store secret';
const CERTIFICATES = fileURLToPath(new globalThis.URL('../../../scripts/certificates.mjs', import.meta.url));

const basic = (user: string, password: string) => ({ Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` });
const ADMIN = basic('admin', 'first secret');

const PROPERTIES = (folder: string): Readonly<Record<string, string>> => ({
  'svc.auth.authenticatorChain': '["staff"]',
  'svc.auth.authenticator.staff.type': 'basic',
  'svc.auth.authenticator.staff.initialAdminPassword': '{"type":"default","password":"first secret"}',
  'svc.auth.authenticator.staff.initialInternalClientPassword': 'second secret',
  'svc.auth.authenticator.staff.authorizerName': 'roles',
  'svc.auth.authorizers': '["roles"]',
  'svc.auth.authorizer.roles.type': 'basic',
  'svc.auth.unsecuredPaths': '["/svc/coordinator/v1/rules","/status/selfDiscovered/*"]',
  'svc.escalator.type': 'basic',
  'svc.escalator.internalClientPassword': 'second secret',
  'svc.escalator.authorizerName': 'roles',
  'svc.enableTlsPort': 'true',
  'svc.server.https.keyStorePath': join(folder, 'store'),
  'svc.server.https.keyStoreType': 'pkcs12',
  'svc.server.https.keyStorePassword': STORE_PASSWORD,
  'svc.server.https.requestClientCertificate': 'true',
  'svc.server.https.trustStorePath': join(folder, 'ca.pem'),
  'svc.server.https.reloadSslContext': 'true',
  'svc.server.https.reloadSslContextSeconds': '1',
  'svc.client.https.trustStorePath': join(folder, 'ca.pem'),
});

security.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-security-'));
  execFileSync(process.execPath, [CERTIFICATES, context.folder]);
  copyFileSync(join(context.folder, 'server.p12'), join(context.folder, 'store'));
  context.server = await startDolmen({
    dataDir: join(context.folder, 'data'),
    portOffset: OFFSET,
    flags: Object.entries(PROPERTIES(context.folder)).flatMap(([name, value]) => ['--property', `${name}=${value}`]),
  });
});

security.after(async ({ server, folder }) => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(path: string, headers: Readonly<Record<string, string>> = {}, init: RequestInit = {}) {
  const response = await fetch(URL + path, {
    ...init,
    headers: { ...(init.body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
  });
  const text = await response.text();
  return { status: response.status, text, challenge: response.headers.get('www-authenticate') };
}
const post = (path: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
  ask(path, headers, { method: 'POST', ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
const LOGINS = '/svc-ext/basic-security/authentication/db/staff/users';
const SELECT = { query: 'SELECT 1 AS a' };

const WITHOUT: readonly (readonly [path: string, status: number])[] = [
  ['/status/health', 200],
  ['/status/selfDiscovered/status', 200],
  ['/svc/coordinator/v1/rules', 200],
  ['/svc/coordinator/v1/rules/x', 401],
  ['/svc/coordinator/v1/rules%2f', 401],
  ['/status', 401],
  ['/status/properties', 401],
  ['/svc/v2/datasources', 401],
  ['/svc/indexer/v1/tasks', 401],
  ['/svc-ext/basic-security/authentication/loadStatus', 401],
  ['/proxy/coordinator/status', 401],
  ['/no/such/path', 401],
];
for (const [path, status] of WITHOUT)
  security(`${path} without credentials: ${status}`, async () => {
    const answer = await ask(path);
    assert.is(answer.status, status, answer.text);
    assert.is(answer.challenge, status === 401 ? 'Basic' : null);
  });

security('who has the password is let in, who has not is told nothing', async () => {
  assert.is((await post('/svc/v2/sql', ADMIN, SELECT)).text.trim(), '[{"a":1}]');
  const wrong = await post('/svc/v2/sql', basic('admin', 'x'), SELECT);
  const unknown = await post('/svc/v2/sql', basic('nobody', 'x'), SELECT);
  assert.equal([wrong.status, wrong.text], [unknown.status, unknown.text]);
  assert.is(wrong.status, 401);
});

security('secrets are not shown', async () => {
  const { text } = await ask('/status/properties', ADMIN);
  assert.not.match(text, /secret"|first secret|second secret|store secret/);
  assert.match(text, /svc\.auth\.authenticator\.staff\.type/);
});

security('internal paths want the key of the cluster and its user', async () => {
  assert.is((await post('/internal/v1/access/changed', {})).status, 401);
  assert.is((await post('/internal/v1/access/changed', ADMIN)).status, 403);
  assert.is((await post('/internal/v1/access/changed', basic('svc_system', 'second secret'))).status, 403);
});

security('a user is made, gets a role and a password, and loses them, at once and on record', async () => {
  const [logins, records] = ['/svc-ext/basic-security/authentication/db/staff', '/svc-ext/basic-security/authorization/db/roles'];
  const reader = basic('rita', 'p:ä"\u{1f511}');
  const made = async (path: string, body?: unknown) => assert.is((await post(path, ADMIN, body)).status, 200, path);
  await made(`${logins}/users/rita`);
  assert.is((await ask('/status', reader)).status, 401);
  await made(`${logins}/users/rita/credentials`, { password: 'p:ä"\u{1f511}' });
  assert.is((await ask('/status', reader)).status, 403);
  await made(`${records}/users/rita`);
  await made(`${records}/roles/watcher`);
  await made(`${records}/roles/watcher/permissions`, [{ resource: { type: 'STATE', name: '.*' }, action: 'READ' }]);
  await made(`${records}/users/rita/roles/watcher`);
  assert.is((await ask('/status', reader)).status, 200);
  assert.is((await post(`${records}/roles/other`, reader)).status, 403);
  const change = await post(`${logins}/users/rita/credentials`, ADMIN, { password: 'another' });
  assert.is(change.status, 200);
  assert.is((await ask('/status', reader)).status, 401);
  assert.is((await ask('/status', basic('rita', 'another'))).status, 200);
  assert.is((await ask(`${records}/roles/watcher`, ADMIN, { method: 'DELETE' })).status, 200);
  assert.is((await ask('/status', basic('rita', 'another'))).status, 403);
  assert.equal(JSON.parse((await ask(`${records}/users/rita`, ADMIN)).text), { name: 'rita', roles: [] });
  assert.is((await ask(`${logins}/users/rita`, ADMIN, { method: 'DELETE' })).status, 200);
  assert.is((await ask('/status', basic('rita', 'another'))).status, 401);
});

const REFUSED: readonly (readonly [path: string, body: unknown, message: RegExp])[] = [
  ['authorization/db/none/roles/x', undefined, /none/],
  ['authentication/db/none/users/x', undefined, /none/],
  ['authorization/db/roles/roles/admin', undefined, /already exists/],
  ['authorization/db/roles/roles/nobody/permissions', [], /does not exist/],
  ['authorization/db/roles/roles/admin/permissions', { a: 1 }, /permissions/],
  ['authorization/db/roles/roles/admin/permissions', [{ resource: { type: 'PLANET', name: 'x' }, action: 'READ' }], /type/],
  ['authorization/db/roles/roles/admin/permissions', [{ resource: { type: 'STATE', name: '(' }, action: 'READ' }], /\(/],
  ['authorization/db/roles/roles/admin/permissions', [{ resource: { type: 'STATE', name: '.*' }, action: 'EAT' }], /action/],
  ['authorization/db/roles/groupMappings/g', { name: 'other', groupPattern: 'cn=a', roles: [] }, /name/],
  ['authorization/db/roles/groupMappings/g', { groupPattern: 'a', roles: [] }, /groupPattern/],
  ['authorization/db/roles/users/admin/roles/admin', undefined, /already has/],
  ['authentication/db/staff/users/nobody/credentials', { password: 'x' }, /does not exist/],
  ['authentication/db/staff/users/admin/credentials', { password: '' }, /password/],
  ['authentication/db/staff/users/admin/credentials', { password: 'x', iterations: 1 }, /iterations/],
  [`authentication/db/staff/users/${encodeURIComponent('a\nb')}`, undefined, /controls/],
];
for (const [path, body, message] of REFUSED)
  security(`POST ${path} ${JSON.stringify(body) ?? ''} is refused`, async () => {
    const { status, text } = await post(`/svc-ext/basic-security/${path}`, ADMIN, body);
    assert.is(status, 400, text);
    assert.match(text, message);
  });

security('JDBC connections bring their user in their properties', async () => {
  const avatica = (body: object, headers = {}) => post('/svc/v2/sql/avatica', headers, body);
  const opened = (info: object) => avatica({ request: 'openConnection', connectionId: 'c1', info });
  assert.is((await opened({ user: 'admin', password: 'x' })).status, 500);
  assert.is((await opened({})).status, 500);
  assert.is((await opened({ user: 'admin', password: 'first secret' })).status, 200);
  const sql = (connectionId: string) =>
    avatica({ request: 'prepareAndExecute', connectionId, statementId: 1, sql: 'SELECT 7 AS n', maxRowCount: -1 });
  assert.is((await avatica({ request: 'createStatement', connectionId: 'c1' })).status, 200);
  assert.match((await sql('c1')).text, /\[\[7\]\]/);
  assert.match((await sql('c2')).text, /Unauthorized/);
  const prepared = JSON.parse((await avatica({ request: 'prepare', connectionId: 'c1', sql: 'SELECT 8 AS n', maxRowCount: -1 })).text);
  const execute = { request: 'execute', statementHandle: prepared.statement, parameterValues: [], maxRowCount: -1 };
  assert.match((await avatica(execute)).text, /\[\[8\]\]/);
});

/** Changes after which the credentials of an open connection count no more. */
const ENDED: readonly (readonly [change: string, act: (user: string) => Promise<{ readonly status: number }>])[] = [
  ['another password', (user) => post(`${LOGINS}/${user}/credentials`, ADMIN, { password: 'another' })],
  ['the end of the user', (user) => ask(`${LOGINS}/${user}`, ADMIN, { method: 'DELETE' })],
  ['the end of the connection', (user) => post('/svc/v2/sql/avatica', {}, { request: 'closeConnection', connectionId: user })],
];
for (const [at, [change, act]] of ENDED.entries())
  security(`a JDBC connection lets nobody in after ${change}`, async () => {
    const user = `jan${at}`;
    const avatica = (body: object) => post('/svc/v2/sql/avatica', {}, { connectionId: user, ...body });
    assert.is((await post(`${LOGINS}/${user}`, ADMIN)).status, 200);
    assert.is((await post(`${LOGINS}/${user}/credentials`, ADMIN, { password: 'p' })).status, 200);
    const info = { user, password: 'p' };
    assert.is((await avatica({ request: 'openConnection', info })).status, 200);
    assert.is((await avatica({ request: 'createStatement' })).status, 200);
    assert.is((await act(user)).status, 200);
    for (const request of ['createStatement', 'openConnection', 'closeConnection'])
      assert.match((await avatica({ request, info: {} })).text, /Unauthorized/, request);
  });

security('the policy of the page of security is taken', async () => {
  const page = readFileSync(fileURLToPath(new globalThis.URL('../../../docs/security.md', import.meta.url)), 'utf8');
  const permission = JSON.parse(/```json\n([^`]*"policy"[^`]*)```/.exec(page)?.[1] ?? '');
  const roles = '/svc-ext/basic-security/authorization/db/roles/roles/policed';
  assert.is((await post(roles, ADMIN)).status, 200);
  const { status, text } = await post(`${roles}/permissions`, ADMIN, [permission]);
  assert.is(status, 200, text);
  const { type: _, ...policy } = permission.policy;
  assert.equal(JSON.parse((await ask(roles, ADMIN)).text).permissions[0].resourceAction.policy, policy);
});

interface Tls {
  readonly status: number;
  readonly text: string;
  readonly hsts: string | undefined;
}

function askTls(path: string, options: object, headers: Readonly<Record<string, string>> = {}): Promise<Tls> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: TLS_PORT, path, headers, agent: false, ...options }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text, hsts: response.headers['strict-transport-security'] }));
    })
      .on('error', reject)
      .end();
  });
}

security('the same paths answer over TLS, which says that it is to stay', async ({ folder }) => {
  const ca = readFileSync(join(folder, 'ca.pem'));
  const answer = await askTls('/status', { ca }, ADMIN);
  assert.is(answer.status, 200);
  assert.match(answer.hsts ?? '', /max-age=\d+/);
  assert.is((await askTls('/status', { ca })).status, 401);
  // Behind the Router the Broker is called over TLS too.
  assert.match((await askTls('/svc/v2/datasources', { ca }, ADMIN)).text, /\[/);
});

security('a certificate of the trusted CA is welcome, one of another is not', async ({ folder }) => {
  const ca = readFileSync(join(folder, 'ca.pem'));
  const shown = (name: string) => ({
    ca,
    cert: readFileSync(join(folder, `${name}.pem`)),
    key: readFileSync(join(folder, `${name}-key.pem`)),
  });
  assert.is((await askTls('/status/health', shown('client'))).status, 200);
  const failure = await askTls('/status/health', shown('stranger')).then(
    () => 'answered',
    () => 'refused',
  );
  assert.is(failure, 'refused');
});

security('changed certificates are used without a restart, damaged ones are not', async ({ folder }) => {
  const serial = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connectTls({ host: '127.0.0.1', port: TLS_PORT, ca: readFileSync(join(folder, 'ca.pem')) }, () => {
        resolve(socket.getPeerCertificate().serialNumber);
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const before = await serial();
  writeFileSync(join(folder, 'store'), 'damaged');
  await wait(1500);
  assert.is(await serial(), before);
  execFileSync(
    'openssl',
    ['pkcs12', '-export', '-in', 'other-cert.pem', '-inkey', 'other-key.pem', '-passout', `pass:${STORE_PASSWORD}`, '-out', 'store'],
    { cwd: folder },
  );
  for (let waited = 0; (await serial()) === before; waited += 200) {
    assert.ok(waited < 20_000, 'the new certificate is never used');
    await wait(200);
  }
});

security.run();
