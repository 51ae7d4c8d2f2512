import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../../src/base/log.js';
import { createByName } from '../../../src/base/names.js';
import { openProcessing } from '../../../src/cli/open-processing.js';
import { openRoles } from '../../../src/cli/open-roles.js';
import { CLUSTER_KEY_HEADER, encodeValue } from '../../../src/cluster/rpc/message.js';
import { Configuration } from '../../../src/configuration/configuration.js';
import { ROLES, type Role } from '../../../src/configuration/properties.js';
import { ALLOW_ALL_CALLER } from '../../../src/model/access/authorizer.js';
import { createAlias } from '../../../src/server/alias.js';
import type { HttpRequest, HttpResponse, Route } from '../../../src/server/http.types.js';
import { type Answerer, createAnswerer } from '../../../src/server/responder.js';
import { openGate } from '../open-gate.js';
import { BODIES } from './request-bodies.js';

/** Every route of every role is asked with names that objects inherit, and with values of the wrong kind, in every place. */

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
const WRONG_VALUES: readonly unknown[] = [null, true, 2 ** 53, 'é'.repeat(300), [[]], { type: 'none' }];
/** Objects that a request could pollute. */
const ORIGINS: readonly object[] = [Object.prototype, Object, Function.prototype, Array.prototype, String.prototype, Map.prototype];
const originsNow = () => ORIGINS.map((origin) => Reflect.ownKeys(origin).map(String).join());
const PATIENCE_MS = 60_000;

interface Asked {
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: Buffer;
  readonly viaAlias?: boolean;
}

/** Names that a handler asked its request for, so that the next requests can send them. */
interface Seen {
  readonly parameters: Set<string>;
  body: boolean;
}

class Parameters extends URLSearchParams {
  readonly #asked: Set<string>;
  constructor(text: string, asked: Set<string>) {
    super(text);
    this.#asked = asked;
  }
  override get(name: string): string | null {
    this.#asked?.add(name);
    return super.get(name);
  }
  override has(name: string): boolean {
    this.#asked?.add(name);
    return super.has(name);
  }
  override getAll(name: string): string[] {
    this.#asked?.add(name);
    return super.getAll(name);
  }
}

interface House {
  readonly answererOf: ReadonlyMap<Role, Answerer>;
  readonly routesOf: ReadonlyMap<Role, readonly Route[]>;
  readonly clusterKey: string;
  close(): Promise<void>;
}

async function openHouse(): Promise<House> {
  const directory = mkdtempSync(join(tmpdir(), 'dolmen-names-'));
  const flags = [`svc.data.directory=${directory}`, 'svc.processing.numThreads=0', 'svc.portOffset=9600'];
  const configuration = Configuration.read({ flags });
  const processing = await openProcessing(configuration);
  const roles = await openRoles({ configuration, processing, log: SILENT_LOG, version: '0.0.0' });
  await roles.start();
  const routesOf = new Map(ROLES.map((role) => [role, [...roles.routesOf(role), ...roles.statusRoutes]]));
  const alias = createAlias('other');
  const clusterKey = 'key of this test';
  const answererOf = new Map(
    [...routesOf].map(([role, routes]) => [
      role,
      createAnswerer({ routes, alias, host: role, gate: openGate(clusterKey), log: SILENT_LOG }),
    ]),
  );
  const close = async () => {
    await roles.stop();
    await processing.close();
    rmSync(directory, { recursive: true, force: true });
  };
  return { answererOf, routesOf, clusterKey, close };
}

async function ask(house: House, role: Role, method: string, asked: Asked, seen?: Seen): Promise<Answer> {
  const answerer = house.answererOf.get(role);
  if (answerer === undefined) throw new Error(`no ${role}`);
  const leaving = new AbortController();
  const query = new Parameters(asked.query ?? '', seen?.parameters ?? new Set());
  const request: HttpRequest = {
    method,
    path: asked.path,
    rawUrl: asked.query === undefined ? asked.path : `${asked.path}?${asked.query}`,
    query,
    headers: Object.assign(
      createByName<string>(),
      { [CLUSTER_KEY_HEADER]: house.clusterKey, 'content-type': 'application/json' },
      asked.headers,
    ),
    get body() {
      if (seen !== undefined) seen.body = true;
      return asked.body ?? Buffer.alloc(0);
    },
    remoteAddress: '127.0.0.1',
    signal: leaving.signal,
    viaAlias: asked.viaAlias ?? false,
    caller: ALLOW_ALL_CALLER,
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer to ${method} ${request.rawUrl} ${asked.body}`)), PATIENCE_MS);
  });
  try {
    return await Promise.race([read(answerer.answer(request)), late]);
  } finally {
    clearTimeout(timer);
    leaving.abort();
  }
}

interface Answer {
  readonly status: number;
  readonly isJson: boolean;
  readonly body: string;
}

async function read(answer: HttpResponse | Promise<HttpResponse>): Promise<Answer> {
  const { status, headers = {}, body = '' } = await answer;
  const isJson = headers['Content-Type']?.startsWith('application/json') === true;
  if (typeof body === 'string') return { status, isJson, body };
  if (body instanceof Uint8Array) return { status, isJson, body: Buffer.from(body).toString() };
  let text = '';
  for await (const chunk of body) text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1');
  return { status, isJson, body: text };
}

/** The path of a route with values for its placeholders, all `value` or one of them `name`. */
function* pathsOf(path: string, name: string): Generator<string> {
  const holes = [...path.matchAll(/\{[^}]+\}/g)].length;
  const filled = (isNamed: (hole: number) => boolean) => {
    let hole = -1;
    return path.replace(/\{[^}]+\}/g, () => (isNamed(++hole) ? encodeURIComponent(name) : 'x'));
  };
  if (holes > 1) yield filled(() => true);
  for (let at = 0; at < holes; at++) yield filled((hole) => hole === at);
}

const plainPath = (path: string) => path.replace(/\{[^}]+\}/g, 'x');
const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const withNames = (value: unknown, name: string): unknown => JSON.parse(JSON.stringify(value).replaceAll('NAME', name));

/** The value with one change in one place, for every place and every change that `changes` knows. */
function* variants(value: unknown, changes: (value: unknown) => readonly unknown[]): Generator<unknown> {
  yield* changes(value);
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) for (const changed of variants(element, changes)) yield value.with(at, changed);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value))
      for (const changed of variants(member, changes))
        yield Object.fromEntries(Object.entries(value).map(([each, old]) => [each, each === key ? changed : old]));
  }
}

/** In the place of a value the name; in an object the name as a further member and in the place of each of its names. */
function withName(name: string): (value: unknown) => readonly unknown[] {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [name];
    const members = Object.entries(value);
    const further = [...members, [name, { polluted: true, [name]: { polluted: true } }]];
    const renamed = members.map((_, at) => members.map(([key, member], index) => [index === at ? name : key, member] as const));
    return [name, further, ...renamed].map((entries) => (typeof entries === 'string' ? entries : Object.fromEntries(entries)));
  };
}

/** Values of the wrong kind, and objects that lack a member. */
function wrong(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return WRONG_VALUES;
  const keys = Object.keys(value);
  return [...WRONG_VALUES, ...keys.map((key) => Object.fromEntries(Object.entries(value).filter(([each]) => each !== key)))];
}

const house = await openHouse();
const ROUTES = [...house.routesOf].flatMap(([role, routes]) =>
  routes.map((route) => ({ role, route, key: `${route.method} ${route.path}` })),
);
const origins = originsNow();
const faults: string[] = [];
const seenBy = new Map<string, Seen>();
let askedCount = 0;

async function check(role: Role, route: Route, asked: Asked): Promise<void> {
  const key = `${route.method} ${route.path}`;
  const seen = seenBy.get(key) ?? { parameters: new Set<string>(), body: false };
  seenBy.set(key, seen);
  const { status, isJson, body } = await ask(house, role, route.method, asked, seen);
  askedCount++;
  const said = `${role}: ${route.method} ${asked.path}${asked.query === undefined ? '' : `?${asked.query}`} ${String(asked.body ?? '').slice(0, 300)}`;
  // The JDBC protocol answers every error with 500 and says in it which one it is.
  const isUntyped = route.path.includes('/avatica') ? body.includes('internal:') : status === 500;
  if (isUntyped) faults.push(`${said}: 500 ${body.slice(0, 200)}`);
  // `isLeader` and its like answer with a status alone.
  if (status >= 400 && body !== '' && isJson && typeof JSON.parse(body) !== 'object') faults.push(`${said}: ${status} without an error`);
  assert.equal(originsNow(), origins, `${said} changed what objects inherit`);
  // Tasks that are posted here are never to run.
  if (route.path.endsWith('/worker/v1/enable')) await ask(house, role, 'POST', { path: '/svc/worker/v1/disable' });
}

async function untilLeading(): Promise<void> {
  for (const path of ['/svc/coordinator/v1/isLeader', '/svc/indexer/v1/isLeader'])
    while ((await ask(house, 'router', 'GET', { path })).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
}

const outside = suite('names from outside');

outside.before(async () => {
  await untilLeading();
  await ask(house, 'middleManager', 'POST', { path: '/svc/worker/v1/disable' });
});
outside.before.each(() => {
  faults.length = 0;
});
outside.after(async () => house.close());

for (const name of NAMES) {
  outside(`${name} in paths, parameters, headers and unknown bodies`, async () => {
    for (const { role, route } of ROUTES) {
      const path = plainPath(route.path);
      await check(role, route, { path });
      for (const each of pathsOf(route.path, name)) await check(role, route, { path: each });
      await check(role, route, { path, query: `${name}=${name}`, headers: { [name]: name, 'x-svc-author': name, 'x-svc-comment': name } });
      for (const parameter of seenBy.get(`${route.method} ${route.path}`)?.parameters ?? [])
        for (const each of [path, ...pathsOf(route.path, name)].slice(0, 2))
          await check(role, route, { path: each, query: `${parameter}=${name}` });
      if (route.permission.access === 'internal') {
        for (const value of [[name], [{ [name]: name }], name, Object.fromEntries([[name, [name]]])])
          await check(role, route, { path, body: encodeValue(value) });
      } else if (route.method !== 'GET') {
        for (const value of [name, [name], Object.fromEntries([[name, { [name]: name }]])])
          await check(role, route, { path, body: bodyOf(value) });
      }
    }
    assert.equal(faults, []);
  });

  outside(`${name} in every place of the bodies`, async () => {
    for (const { role, route, key } of ROUTES) {
      for (const template of BODIES[key] ?? []) {
        const example = withNames(template, name);
        const path = [...pathsOf(route.path, name), route.path][0] ?? route.path;
        await check(role, route, { path, body: bodyOf(example) });
        // Read leniently, unknown members are passed over and reading goes on.
        for (const body of variants(example, withName(name)))
          for (const viaAlias of name === NAMES[0] ? [false, true] : [true])
            await check(role, route, { path, body: bodyOf(body), viaAlias });
      }
    }
    assert.equal(faults, []);
  });
}

outside('a wrong value, a missing member or a body that is not JSON gets an error that says so', async () => {
  const large = Buffer.from(`["${'x'.repeat(1_000_000)}"]`);
  for (const { role, route, key } of ROUTES) {
    const path = plainPath(route.path);
    for (const body of [Buffer.from('{'), Buffer.from([0xff, 0xfe]), large])
      if (route.method !== 'GET') await check(role, route, { path, body });
    for (const parameter of seenBy.get(key)?.parameters ?? [])
      for (const value of ['', '-1', '1e99', 'null', '%00', 'x'.repeat(5000)])
        await check(role, route, { path, query: `${parameter}=${value}` });
    for (const template of BODIES[key] ?? [])
      for (const body of variants(withNames(template, 'page'), wrong)) await check(role, route, { path, body: bodyOf(body) });
  }
  assert.equal(faults, []);
});

outside('a body whose Content-Type is missing, or is not JSON, is refused before it is read', async () => {
  const answered: string[] = [];
  for (const { role, route, key } of ROUTES) {
    // The path says which of its two forms a JDBC request has; its drivers call both octets.
    if (role === 'router' || route.path.includes('/avatica')) continue;
    for (const template of BODIES[key] ?? [])
      for (const type of [undefined, '', 'application/octet-stream', 'multipart/form-data']) {
        const asked = { path: plainPath(route.path), body: bodyOf(template), headers: { 'content-type': type } };
        const { status, body } = await ask(house, role, route.method, asked);
        if (status !== 415) answered.push(`${key} as ${type}: ${status} ${body.slice(0, 200)}`);
      }
  }
  assert.equal(answered, []);
});

outside('every route that reads a body has an example, and every example a route', () => {
  const keys = new Set(ROUTES.map(({ key }) => key));
  // The Router and the paths of tasks hand bodies on; internal routes read a binary form.
  const reads = ROUTES.filter(
    ({ key, role, route }) =>
      role !== 'router' && !route.path.includes('/chat/') && route.permission.access !== 'internal' && seenBy.get(key)?.body === true,
  );
  assert.equal(
    reads.map(({ key }) => key).filter((key) => BODIES[key] === undefined),
    [],
  );
  assert.equal(
    Object.keys(BODIES).filter((key) => !keys.has(key)),
    [],
  );
});

outside('the server answers on, with what these requests stored', async () => {
  for (const { role, route } of ROUTES)
    if (route.method === 'GET')
      for (const query of ['', 'full', 'simple']) await check(role, route, { path: plainPath(route.path), query });
  assert.equal(faults, []);
  assert.is((await ask(house, 'router', 'GET', { path: '/status/health' })).body, 'true');
  assert.is(
    (await ask(house, 'router', 'POST', { path: '/svc/v2/sql', body: bodyOf({ query: 'SELECT 1 AS a' }) })).body.trim(),
    '[{"a":1}]',
  );
  assert.ok(askedCount > 10_000, `${askedCount} requests`);
});

outside.run();
