import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type DolmenProcess, startDolmen } from '../../bench/server.js';

/** Two processes that talk over TLS alone, show each other certificates, and call as the user of the escalator. */
const secured = suite<{ processes: DolmenProcess[]; folder: string }>('processes that trust nobody');

const OFFSET = 3_900;
const CERTIFICATES = fileURLToPath(new URL('../../../scripts/certificates.mjs', import.meta.url));
const ROLES = ['coordinator,overlord,middleManager', 'router,broker,historical'];
const [ROUTER, BROKER, COORDINATOR] = [9088 + OFFSET, 8282 + OFFSET, 8281 + OFFSET];

secured.before(async (context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-secured-'));
  context.processes = [];
  execFileSync(process.execPath, [CERTIFICATES, context.folder]);
  const at = (name: string) => join(context.folder, name);
  const properties = {
    'svc.auth.authenticatorChain': '["staff"]',
    'svc.auth.authenticator.staff.type': 'basic',
    'svc.auth.authenticator.staff.initialAdminPassword': 'admin secret',
    'svc.auth.authenticator.staff.initialInternalClientPassword': 'internal secret',
    'svc.auth.authorizers': '["roles"]',
    'svc.auth.authorizer.roles.type': 'basic',
    'svc.escalator.type': 'basic',
    'svc.escalator.internalClientPassword': 'internal secret',
    'svc.escalator.authorizerName': 'roles',
    'svc.enablePlaintextPort': 'false',
    'svc.enableTlsPort': 'true',
    'svc.server.https.keyStorePath': at('server-cert.pem'),
    'svc.server.https.privateKeyPath': at('server-key.pem'),
    'svc.server.https.requireClientCertificate': 'true',
    'svc.server.https.trustStorePath': at('ca.pem'),
    'svc.client.https.trustStorePath': at('ca.pem'),
    'svc.client.https.keyStorePath': at('client.pem'),
  };
  const flags = Object.entries(properties).flatMap(([name, value]) => ['--property', `${name}=${value}`]);
  for (const roles of ROLES)
    context.processes.push(await startDolmen({ dataDir: at('data'), portOffset: OFFSET, flags: ['--roles', roles, ...flags] }));
});

secured.after(async ({ processes, folder }) => {
  for (const each of processes) await each.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Asked {
  readonly port?: number;
  readonly user?: string;
  readonly method?: string;
  readonly body?: unknown;
  readonly certificate?: boolean;
}

/** A leader that is lost on a busy machine is waited for. */
async function ask(folder: string, path: string, asked: Asked = {}): Promise<{ status: number; text: string }> {
  for (let attempt = 0; ; attempt++) {
    const answer = await askOnce(folder, path, asked);
    if (answer.status !== 503 || attempt > 100) return answer;
    await wait(300);
  }
}

function askOnce(
  folder: string,
  path: string,
  { port = ROUTER, user = 'admin:admin secret', method = 'GET', body, certificate = true }: Asked,
) {
  const file = (name: string) => readFileSync(join(folder, name));
  const shown = certificate ? { cert: file('client.pem'), key: file('client.pem') } : {};
  const headers = { Authorization: `Basic ${Buffer.from(user).toString('base64')}`, 'Content-Type': 'application/json' };
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false, ca: file('ca.pem'), ...shown }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function sql(folder: string, query: string, path = '/svc/v2/sql') {
  return ask(folder, path, { method: 'POST', body: { query } });
}

secured('rows are loaded by a task and read by a query, through the Router', async ({ folder }) => {
  const load = "REPLACE INTO t OVERWRITE ALL SELECT TIME_PARSE('2020-01-01') AS __time, 'a' AS x PARTITIONED BY DAY";
  const { status, text } = await sql(folder, load, '/svc/v2/sql/task');
  assert.is(status, 200, text);
  for (let waitedMs = 0; (await sql(folder, 'SELECT COUNT(*) AS n FROM t')).text.trim() !== '[{"n":1}]'; waitedMs += 200) {
    assert.ok(waitedMs < 60_000, (await ask(folder, '/svc/indexer/v1/tasks')).text);
    await wait(200);
  }
});

secured('the ports that are told are those of TLS', async ({ folder }) => {
  const { text } = await sql(folder, "SELECT plaintext_port AS p, tls_port AS t FROM sys.servers WHERE server_type = 'router'");
  assert.equal(JSON.parse(text), [{ p: -1, t: ROUTER }]);
  assert.is((await ask(folder, '/svc/coordinator/v1/leader')).text, `https://127.0.0.1:${COORDINATOR}`);
});

secured('a user made at one process is known, and gone, at the other at once', async ({ folder }) => {
  const users = '/svc-ext/basic-security/authentication/db/staff/users/eve';
  const eve = { user: 'eve:secret', port: BROKER };
  assert.is((await ask(folder, '/status', eve)).status, 401);
  assert.is((await ask(folder, users, { method: 'POST' })).status, 200);
  assert.is((await ask(folder, `${users}/credentials`, { method: 'POST', body: { password: 'secret' } })).status, 200);
  assert.is((await ask(folder, '/status', eve)).status, 403);
  assert.is((await ask(folder, users, { method: 'DELETE' })).status, 200);
  assert.is((await ask(folder, '/status', eve)).status, 401);
});

secured('who shows no certificate is not listened to', async ({ folder }) => {
  const outcome = await ask(folder, '/status/health', { certificate: false }).then(
    () => 'answered',
    () => 'refused',
  );
  assert.is(outcome, 'refused');
});

secured.run();
