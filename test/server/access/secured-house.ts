import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import * as assert from 'uvu/assert';
import { SILENT_LOG } from '../../../src/base/log.js';
import { createByName } from '../../../src/base/names.js';
import { openProcessing } from '../../../src/cli/open-processing.js';
import { openRoles } from '../../../src/cli/open-roles.js';
import { Configuration } from '../../../src/configuration/configuration.js';
import { ROLES, type Role } from '../../../src/configuration/properties.js';
import { compileRegularExpression } from '../../../src/expression/regular-expression.js';
import { type Database, openSqlite } from '../../../src/metadata/database.js';
import { type AuditEntry, auditHistory } from '../../../src/metadata/settings.js';
import { ALLOW_ALL_CALLER, Authorizers, type Caller } from '../../../src/model/access/authorizer.js';
import { createBasicAuthorizer, type Permission } from '../../../src/model/access/basic-authorizer.js';
import type { Policy } from '../../../src/model/access/policy.js';
import type { Action, ResourceType } from '../../../src/model/access/resource.js';
import { createAlias } from '../../../src/server/alias.js';
import type { HttpRequest, HttpResponse, Route } from '../../../src/server/http.types.js';
import { type Answerer, createAnswerer } from '../../../src/server/responder.js';
import { listenForRoles } from '../../../src/server/role-servers.js';

/** A cluster in this process, whose routes are asked in the name of any user. */
export interface SecuredHouse {
  readonly routesOf: ReadonlyMap<Role, readonly Route[]>;
  ask(caller: Caller, method: string, path: string, body?: unknown, role?: Role): Promise<Answer>;
  /** Loads rows, JSON objects with `t`, as segments of one day, and waits until they are served. Gives the id of the task. */
  load(dataSource: string, rows: readonly object[]): Promise<string>;
  /** Lines of the audit trail of one type, the newest first. */
  audited(type: string): Promise<readonly AuditEntry[]>;
  /** Does something on a connection of its own to the metadata store. */
  inMetadata<Result>(work: (database: Database) => Promise<Result>): Promise<Result>;
  /** `http://host:port` of a role. */
  urlOf(role: Role): string;
  close(): Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Settings of a cluster with users in the metadata store, and an administrator whose password is `secret`. */
export function securityFlags(): readonly string[] {
  return [
    'svc.auth.authenticatorChain=["basic"]',
    'svc.auth.authenticator.basic.initialAdminPassword=secret',
    'svc.auth.authenticator.basic.credentialIterations=1000',
    'svc.auth.authenticator.basic.authorizerName=basic',
    'svc.auth.authorizers=["basic"]',
  ];
}

export async function openSecuredHouse(portOffset: number, flags: readonly string[] = []): Promise<SecuredHouse> {
  const directory = mkdtempSync(join(tmpdir(), 'dolmen-secured-'));
  const configuration = Configuration.read({
    flags: [`svc.data.directory=${directory}`, 'svc.processing.numThreads=0', `svc.portOffset=${portOffset}`, ...flags],
  });
  const processing = await openProcessing(configuration);
  const roles = await openRoles({ configuration, processing, log: SILENT_LOG, version: '0.0.0' });
  const { gate, statusRoutes, onRefused } = roles;
  const servers = await listenForRoles({ configuration, gate, log: SILENT_LOG, routesOf: roles.routesOf, statusRoutes, onRefused });
  await roles.start();
  const routesOf = new Map(ROLES.map((role) => [role, [...roles.routesOf(role), ...statusRoutes]]));
  const alias = createAlias('svc');
  const answererOf = new Map(
    [...routesOf].map(([role, routes]) => [role, createAnswerer({ routes, alias, host: role, gate, log: SILENT_LOG, onRefused })]),
  );
  const ask: SecuredHouse['ask'] = (caller, method, path, body, role = 'router') =>
    answerOf(answererOf.get(role) as Answerer, caller, method, path, body);
  const admin = (method: string, path: string, body?: unknown) => ask(ALLOW_ALL_CALLER, method, path, body);
  for (const path of ['/svc/coordinator/v1/isLeader', '/svc/indexer/v1/isLeader'])
    while ((await admin('GET', path)).status !== 200) await wait(50);
  const inMetadata: SecuredHouse['inMetadata'] = async (work) => {
    const database = await openSqlite(configuration.get('svc.metadata.file'));
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  return {
    routesOf,
    ask,
    audited: (type) => inMetadata((database) => auditHistory(database, { type, key: null, interval: null, count: null })),
    inMetadata,
    urlOf: (role) => `http://127.0.0.1:${configuration.port(role)}`,
    async load(dataSource, rows) {
      const sent = await admin('POST', '/svc/indexer/v1/task', loadTask(dataSource, rows));
      assert.is(sent.status, 200, sent.body);
      const id = JSON.parse(sent.body).task as string;
      for (;;) {
        const { status } = JSON.parse((await admin('GET', `/svc/indexer/v1/task/${id}/status`)).body);
        assert.is.not(status.statusCode, 'FAILED', status.errorMsg);
        if (status.statusCode === 'SUCCESS') break;
        await wait(50);
      }
      const query = `SELECT COUNT(*) AS n FROM "${dataSource}"`;
      for (;;) {
        const { status, body } = await admin('POST', '/svc/v2/sql', { query });
        if (status === 200 && JSON.parse(body)[0].n === rows.length) return id;
        await wait(50);
      }
    },
    async close() {
      await servers.close(0);
      await roles.stop();
      await processing.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export function loadTask(dataSource: string, rows: readonly object[]): object {
  const data = rows.map((row) => JSON.stringify(row)).join('\n');
  const dataSchema = {
    dataSource,
    timestampSpec: { column: 't', format: 'millis' },
    dimensionsSpec: { useSchemaDiscovery: true },
    granularitySpec: { segmentGranularity: 'DAY', queryGranularity: 'NONE', rollup: false },
  };
  const ioConfig = { type: 'index_parallel', inputSource: { type: 'inline', data }, inputFormat: { type: 'json' } };
  return { type: 'index_parallel', spec: { dataSchema, ioConfig } };
}

async function answerOf(answerer: Answerer, caller: Caller, method: string, path: string, body: unknown): Promise<Answer> {
  const [plain = '', query = ''] = path.split('?');
  const request: HttpRequest = {
    method,
    path: plain,
    rawUrl: path,
    query: new URLSearchParams(query),
    headers: Object.assign(createByName<string>(), { 'content-type': 'application/json' }),
    body: body === undefined ? Buffer.alloc(0) : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    viaAlias: false,
    caller,
  };
  const response: HttpResponse = await answerer.answer(request);
  const text = await textOf(response.body ?? '');
  return { status: response.status, body: text, headers: { ...response.headers, ...response.lateHeaders?.() } };
}

async function textOf(body: NonNullable<HttpResponse['body']>): Promise<string> {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}

/** A permission in one line: `READ DATASOURCE wiki.*`. */
export function permission(action: Action, type: ResourceType, name: string, policy: Policy | null = null): Permission {
  return { resource: { type, name }, action, policy };
}

/** A user with one role of these permissions. `securesInputSources`: input sources take rights by their types. */
export function userWith(user: string, permissions: readonly Permission[], securesInputSources = false): Caller {
  const roles = new Map([[user, permissions]]);
  const compile = (pattern: string) => {
    const expression = compileRegularExpression(pattern, 'input_invalid');
    return (name: string) => expression.groups(name) !== null;
  };
  const basic = createBasicAuthorizer({ roles: () => roles, rolesOf: (identity) => [identity.user], compile });
  const authorizers = new Authorizers(new Map([['basic', basic]]), securesInputSources);
  return authorizers.callerOf({ user, authenticator: 'basic', authorizer: 'basic', groups: [] });
}
