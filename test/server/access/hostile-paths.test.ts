import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openSecuredHouse, securityFlags } from './secured-house.js';

/**
 * Paths that mean one thing to the Router and another to who answers: nobody gets by
 * them what the plain path refuses, and the Router sends nothing to a host that a path names.
 */
const OFFSET = 12_300;
const house = await openSecuredHouse(OFFSET, [
  ...securityFlags(),
  'svc.auth.login.maxFailures=1000000',
  'svc.auth.unsecuredPaths=["/svc/coordinator/v1/rules/*","/status/selfDiscovered/*"]',
  'svc.server.http.apiName=druid',
]);
const ROUTER = Number(new URL(house.urlOf('router')).port);
const basic = (credentials: string) => `Authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
const SENDERS = [
  { name: 'nobody', head: '' },
  { name: 'a user without a role', head: basic('nobody:secret') },
];
const ADMIN = basic('admin:secret');

/** Paths that neither sender may read, with a word that stands in their answers only. */
const TARGETS: readonly (readonly [path: string, word: string])[] = [
  ['/svc-ext/basic-security/authorization/db/basic/users', 'zebra_user'],
  ['/status/properties', 'svc.metadata.file'],
  ['/svc/coordinator/v1/config', 'maxSegmentsToMove'],
  ['/svc/coordinator/v1/metadata/datasources?includeUnused', 'zebra_source'],
  ['/svc/indexer/v1/tasks', 'zebra_source'],
];
/** Beginnings that answer one of them, or are handed on. */
const PREFIXES: readonly string[] = [
  ...['/status/health', '/status/selfDiscovered', '/status/selfDiscovered/status', '/svc/coordinator/v1/rules', '/proxy/enabled'],
  ...[
    '/proxy/coordinator',
    '/proxy/overlord',
    '/proxy',
    '/svc/v2',
    '/svc/v2/sql',
    '/svc/listen/v1',
    '/druid/v2',
    '/druid-ext',
    '/internal/v1',
  ],
];
const CLIMBS: readonly string[] = [
  ...['', '/', '//', '/.', '/./', '/..', '/../..', '/../../..', '/../../../..', '//../..', '/.././..', '/...', '/....//'],
  ...['/%2e%2e', '/%2E%2E/%2e%2e', '/%2e%2e/%2e%2e/%2e%2e', '/..%2f..', '/%2e%2e%2f%2e%2e%2f%2e%2e', '%2f..%2f..', '/..%5c..', '/..\\..'],
  ...[
    '/..;',
    '/..;/..',
    '/..;x=y/..',
    ';',
    ';/..',
    ';x=y',
    '/%252e%252e',
    '/%252e%252e%252f%252e%252e',
    '/%c0%ae%c0%ae',
    '/%e0%80%ae%e0%80%ae',
  ],
  ...['/%u002e%u002e', '/..%00', '%00', '/\0', '%3f', '%23', '?', '#', '/*', '%20', '%09', '/~', '/:', '&', '%'],
];
const probes = PREFIXES.flatMap((prefix) => CLIMBS.flatMap((climb) => TARGETS.map(([path]) => prefix + climb + path)));

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly text: string;
}

/** Sends a request line as it is; an answer that never came is empty. */
function send(target: string, headers: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const socket = connect(ROUTER, '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const whole = Buffer.concat(chunks).toString('latin1');
      const at = whole.indexOf('\r\n\r\n');
      resolve({ status: Number(whole.slice(9, 12)), head: whole.slice(0, at), text: whole.slice(at) });
    });
    socket.write(`GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${ROUTER}\r\nConnection: close\r\n${headers}\r\n`, 'latin1');
  });
}

async function sendAll(targets: readonly string[], headers: string, look: (target: string, answer: Answer) => void): Promise<void> {
  const left = [...targets];
  const work = async () => {
    for (let target = left.pop(); target !== undefined; target = left.pop()) look(target, await send(target, headers));
  };
  await Promise.all(Array.from({ length: 16 }, work));
}

const paths = suite('hostile paths');

paths.before(async () => {
  await house.load('zebra_source', [{ t: Date.UTC(2024, 0, 1), x: 1 }]);
  const admin = { Authorization: ADMIN.slice('Authorization: '.length).trim(), 'Content-Type': 'application/json' };
  const post = async (path: string, body?: unknown) => {
    const response = await fetch(`${house.urlOf('router')}/svc-ext/basic-security/${path}`, {
      method: 'POST',
      headers: admin,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    assert.is(response.status, 200, path);
  };
  await post('authorization/db/basic/users/zebra_user');
  await post('authentication/db/basic/users/nobody');
  await post('authentication/db/basic/users/nobody/credentials', { password: 'secret', iterations: 1000 });
  await post('authorization/db/basic/users/nobody');
});
paths.after(() => house.close());

paths('the words stand in the answers to who may read them', async () => {
  for (const [path, word] of TARGETS) assert.ok((await send(path, ADMIN)).text.includes(word), path);
  assert.ok((await send('/proxy/coordinator/svc/coordinator/v1/config', ADMIN)).text.includes('maxSegmentsToMove'));
});

for (const { name, head } of SENDERS)
  paths(`${probes.length} paths tell ${name} nothing`, async () => {
    assert.ok(probes.length >= 1000, String(probes.length));
    const told: string[] = [];
    const words = TARGETS.map(([, word]) => word);
    const statuses = new Map<number, number>();
    await sendAll(probes, head, (target, { status, text }) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      // A refusal may repeat the path; it holds none of the words.
      if (words.some((word) => text.includes(word))) told.push(`${target}: ${status} ${text.slice(0, 200)}`);
      // 505 is the library's answer to bytes that no request line has.
      if (status >= 500 && status !== 505) told.push(`${target}: ${status} ${text.slice(0, 200)}`);
    });
    assert.equal(told, []);
    assert.ok((statuses.get(401) ?? 0) + (statuses.get(403) ?? 0) + (statuses.get(404) ?? 0) > 500, JSON.stringify([...statuses]));
  });

paths('no path makes the Router send a request, or a browser, elsewhere', async () => {
  let connections = 0;
  const trap: Server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(trap.address() as AddressInfo).port}`;
  const named = [
    `@${host}`,
    `//${host}`,
    `///${host}`,
    `\\${host}`,
    `http://${host}`,
    `http:/${host}`,
    `http:${host}`,
    `.${host}`,
    `:80@${host}`,
  ];
  const targets = [
    ...['/proxy/coordinator', '/proxy/overlord', '/proxy', '/svc/v2', '/svc/coordinator', '/svc/indexer', ''].flatMap((prefix) =>
      ['', '/', '/%2f', '/..', '%0d%0aHost:%20', '/%5c'].flatMap((between) => named.map((name) => `${prefix}${between}${name}/status`)),
    ),
    `http://${host}/status`,
    `//${host}/status`,
    `*`,
  ];
  const moved: string[] = [];
  for (const headers of [ADMIN, `${ADMIN}X-Forwarded-Host: ${host}\r\nForwarded: host=${host}\r\nX-Original-URL: http://${host}/\r\n`])
    await sendAll(targets, headers, (target, { status, head }) => {
      if (/^location:/im.test(head) || (status >= 300 && status < 400)) moved.push(`${target}: ${head}`);
    });
  trap.close();
  assert.equal(moved, []);
  assert.is(connections, 0);
});

/** Names of cookies that let somebody in at the original. There are none here. */
const COOKIES = ['hadoop.auth', 'pac4j.session.userProfiles', 'pac4jUserProfiles', 'pac4jRequestedUrl', 'JSESSIONID'];
const COOKIE = 'u=admin&p=admin@EXAMPLE&t=kerberos&e=9999999999999&s=c2lnbmF0dXJl';
paths('no cookie lets anybody in, with any bit of it flipped, and none is set', async () => {
  const flipped = Array.from({ length: 40 }, (_, bit) => {
    const bytes = Buffer.from(COOKIE);
    bytes[(bit * 7) % bytes.length] = (bytes[(bit * 7) % bytes.length] ?? 0) ^ (1 << (bit % 7));
    return bytes.toString('latin1').replaceAll(/[^ -~]/g, '_');
  });
  for (const name of COOKIES)
    for (const value of [COOKIE, ...flipped])
      assert.is((await send('/status', `Cookie: ${name}=${value}\r\n`)).status, 401, `${name}=${value}`);
  for (const [path] of TARGETS) assert.not.match((await send(path, ADMIN)).head, /^set-cookie:/im);
});

paths.run();
