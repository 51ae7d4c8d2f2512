import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { AndFilter, EqualityFilter, FilterParser } from 'ldapts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Checked } from '../../../src/cluster/access/credentials.js';
import { parseDistinguishedName } from '../../../src/cluster/access/distinguished-name.js';
import { filterWith, LdapCredentials, type LdapOptions } from '../../../src/cluster/access/ldap-credentials.js';
import { caseCount } from '../../case-count.js';
import { type Service, startService } from '../../services.js';

const ldap = suite('passwords of a directory');
const directory = await startService('ldap');
ldap.after(async () => directory?.stop());

/** A test of a directory that is there; skipped without one. */
function withDirectory(name: string, run: (service: Service) => Promise<void>): void {
  if (directory === undefined) ldap.skip(name, () => undefined);
  else ldap(name, () => run(directory));
}

const failures: unknown[] = [];

function optionsOf(service: Service, changes: Partial<LdapOptions> = {}, tree = 'with'): LdapOptions {
  return {
    url: service.uri,
    startTls: false,
    bindUser: `cn=${service.user},dc=${tree},dc=test`,
    bindPassword: service.password,
    baseDn: `ou=users,dc=${tree},dc=test`,
    userSearch: '(&(uid=%s)(objectClass=inetOrgPerson))',
    userAttribute: 'uid',
    groupBaseDn: `ou=groups,dc=${tree},dc=test`,
    groupSearch: '',
    timeoutMs: 3000,
    tls: { trustStorePath: join(service.certificates ?? '', 'ca.pem'), minVersion: 'TLSv1.2' },
    queuedMax: 1000,
    onFailure: (error) => failures.push(error),
    ...changes,
  };
}

const outcomeOf = (checked: Checked): string => checked.outcome;
const namesOf = (groups: readonly string[]) => groups.map((group) => parseDistinguishedName(group)?.[0]).sort();

const LOGINS = [
  ['alice', 'alice secret', 'right', ['cn="admins"', 'cn="analysts"']],
  ['ALICE', 'alice secret', 'right', ['cn="admins"', 'cn="analysts"']],
  ['bob', 'bob secret', 'right', ['cn="odd, group+one"']],
  ['zoë', 'zoë sécret', 'right', ['cn="analysts"']],
  ['star*(name)\\', 'star secret', 'right', []],
  ['alice', 'bob secret', 'wrong', null],
  ['alice', 'Alice secret', 'wrong', null],
  ['alice ', 'x', 'wrong', null],
  ['nobody', 'alice secret', 'unknown', null],
  ['', 'alice secret', 'unknown', null],
  ['alice', '', 'unknown', null],
  ['alice', '\0', 'unknown', null],
  ['alice\0', 'alice secret', 'unknown', null],
  ['alice', 'alice secret\0', 'unknown', null],
  ['*', 'alice secret', 'unknown', null],
] as const;

const WAYS = [
  { name: 'memberOf by ldap', tree: 'with', changes: () => ({}) },
  { name: 'group search by ldap', tree: 'without', changes: () => ({ groupSearch: '(&(objectClass=groupOfNames)(member=%s))' }) },
  { name: 'memberOf by ldaps', tree: 'with', changes: (service: Service) => ({ url: service.secureUri ?? '' }) },
  { name: 'group search by StartTLS', tree: 'without', changes: () => ({ startTls: true, groupSearch: '(member=%s)' }) },
] as const;
for (const { name, tree, changes } of WAYS)
  withDirectory(name, async (service) => {
    const credentials = new LdapCredentials(optionsOf(service, changes(service), tree));
    for (const [user, password, outcome, groups] of LOGINS) {
      const checked = await credentials.check({ user, password });
      assert.is(outcomeOf(checked), outcome, `${JSON.stringify(user)} ${String(failures.at(-1))}`);
      if (checked.outcome !== 'right') continue;
      assert.is(checked.user, user.toLowerCase());
      assert.equal(namesOf(checked.groups), groups);
    }
  });

withDirectory('without memberOf and without a group search there are no groups', async (service) => {
  const checked = await new LdapCredentials(optionsOf(service, {}, 'without')).check({ user: 'alice', password: 'alice secret' });
  assert.equal(checked, { outcome: 'right', user: 'alice', groups: [] });
});

const UNDECIDED: readonly (readonly [name: string, changes: (service: Service) => Partial<LdapOptions>])[] = [
  ['a wrong password of the service', () => ({ bindPassword: 'x' })],
  ['a port that nobody listens on', () => ({ url: 'ldap://127.0.0.1:1' })],
  ['a filter that finds several users', () => ({ userSearch: '(|(uid=%s)(uid=*))' })],
  ['a base that is not there', () => ({ baseDn: 'ou=nowhere,dc=test' })],
  [
    'ldaps with a CA that did not sign',
    (service) => ({
      url: service.secureUri ?? '',
      tls: { trustStorePath: join(service.certificates ?? '', 'stranger-ca.pem'), minVersion: 'TLSv1.2' },
    }),
  ],
  [
    'StartTLS with a CA that did not sign',
    (service) => ({ startTls: true, tls: { trustStorePath: join(service.certificates ?? '', 'stranger-ca.pem'), minVersion: 'TLSv1.2' } }),
  ],
  [
    'ldaps with those that Node knows',
    (service) => ({ url: service.secureUri ?? '', tls: { trustStorePath: null, minVersion: 'TLSv1.2' } }),
  ],
];
for (const [name, changes] of UNDECIDED)
  withDirectory(`${name}: nobody is let in`, async (service) => {
    const credentials = new LdapCredentials(optionsOf(service, changes(service)));
    assert.is(outcomeOf(await credentials.check({ user: 'alice', password: 'alice secret' })), 'undecided');
  });

for (const tls of ['ldaps', 'StartTLS'])
  withDirectory(`${tls} to a host that the certificate does not name: nobody is let in`, async (service) => {
    const { port } = new URL(tls === 'ldaps' ? (service.secureUri ?? '') : service.uri);
    const relay = await relayTo(Number(port));
    try {
      const url = `${tls === 'ldaps' ? 'ldaps' : 'ldap'}://127.0.0.2:${(relay.address() as AddressInfo).port}`;
      const credentials = new LdapCredentials(optionsOf(service, { url, startTls: tls === 'StartTLS' }));
      assert.is(outcomeOf(await credentials.check({ user: 'alice', password: 'alice secret' })), 'undecided');
      assert.match(String(failures.at(-1)), /127\.0\.0\.2|altnames|ERR_TLS_CERT/);
    } finally {
      relay.close();
    }
  });

function relayTo(port: number): Promise<Server> {
  const relay = createServer((outside) => {
    const inside = connect(port, '127.0.0.1');
    for (const socket of [outside, inside]) socket.on('error', () => undefined);
    outside.pipe(inside).pipe(outside);
  });
  return new Promise((resolve) => relay.listen(0, '127.0.0.2', () => resolve(relay)));
}

ldap('a directory that never answers is given up on', async () => {
  const open = new Set<Socket>();
  const silent = createServer((socket) => open.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const service = { uri: `ldap://127.0.0.1:${(silent.address() as AddressInfo).port}`, user: 'x', password: 'x' } as unknown as Service;
  const noTrust = { trustStorePath: null, minVersion: 'TLSv1.2' } as const;
  const credentials = new LdapCredentials(optionsOf(service, { timeoutMs: 200, tls: noTrust }));
  assert.is(outcomeOf(await credentials.check({ user: 'alice', password: 'x' })), 'undecided');
  for (const socket of open) socket.destroy();
  silent.close();
});

ldap('empty passwords and names are refused before anything is sent, even where the directory takes every bind', async () => {
  let connections = 0;
  const eager = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => eager.listen(0, '127.0.0.1', resolve));
  const service = { uri: `ldap://127.0.0.1:${(eager.address() as AddressInfo).port}`, user: 'x', password: 'x' } as unknown as Service;
  const credentials = new LdapCredentials(optionsOf(service, { tls: { trustStorePath: null, minVersion: 'TLSv1.2' } }));
  const blanks = ['', '\0', '\0\0', 'x\0', '\0x'];
  for (const blank of blanks)
    for (const [user, password] of [
      ['alice', blank],
      [blank, 'alice secret'],
      [blank, blank],
    ] as const)
      assert.is(outcomeOf(await credentials.check({ user, password })), 'unknown');
  assert.is(connections, 0);
  assert.is(outcomeOf(await credentials.check({ user: 'alice', password: ' ' })), 'undecided');
  assert.is(connections, 1);
  eager.close();
});

withDirectory('a name that is not there takes the same steps as a wrong password', async (service) => {
  const { port } = new URL(service.uri);
  let connections = 0;
  const relay = createServer((outside) => {
    connections++;
    const inside = connect(Number(port), '127.0.0.1');
    for (const socket of [outside, inside]) socket.on('error', () => undefined);
    outside.pipe(inside).pipe(outside);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  try {
    const url = `ldap://127.0.0.1:${(relay.address() as AddressInfo).port}`;
    const credentials = new LdapCredentials(optionsOf(service, { url, groupSearch: '(member=%s)' }));
    for (const [user, expected] of [
      ['alice', 'wrong'],
      ['nobody', 'unknown'],
    ] as const) {
      connections = 0;
      assert.is(outcomeOf(await credentials.check({ user, password: 'x' })), expected);
      assert.is(connections, 2, user);
    }
  } finally {
    relay.close();
  }
});

/** Names as somebody writes them who wants the filter to say something else. */
const part = fc.constantFrom(
  '*',
  '(',
  ')',
  '&',
  '|',
  '!',
  '=',
  '~=',
  '>=',
  '<=',
  ':=',
  ':dn:=',
  '\\',
  '\\2a',
  '\\28',
  '\\00',
  'uid',
  'objectClass',
  'alice',
  'a',
  ',',
  '+',
  '"',
  ' ',
  '\n',
  '%s',
  '%u',
  'ä',
);
const hostile = fc.array(part, { minLength: 1, maxLength: 12 }).map((parts) => parts.join(''));
const WRITTEN = [
  '*)(uid=*',
  'alice)(|(uid=*',
  '*)(objectClass=*',
  'alice)(!(uid=bob))',
  'x)(|(uid=alice)',
  'alice))(&(uid=*',
  '\\2a',
  'al\\69ce',
  'ali*',
  '*ice',
  'a*e',
  '(uid=alice)',
  'alice)\0',
  'uid:caseExactMatch:=alice',
];

ldap('a name stays a name in a filter, whatever is in it', async () => {
  const check = async (user: string) => {
    const parsed = FilterParser.parseString(await filterWith('(&(uid=%s)(objectClass=inetOrgPerson))', { '%s': user }));
    assert.instance(parsed, AndFilter);
    const [first, ...rest] = (parsed as AndFilter).filters;
    assert.instance(first, EqualityFilter, user);
    assert.equal([(first as EqualityFilter).attribute, (first as EqualityFilter).value.toString(), rest.length], ['uid', user, 1]);
  };
  for (const user of WRITTEN) await check(user);
  await fc.assert(fc.asyncProperty(fc.oneof(hostile, fc.string()), check), { numRuns: caseCount(500) });
});

withDirectory('no hostile name logs in with the password of somebody', async (service) => {
  const credentials = new LdapCredentials(optionsOf(service));
  const names = [...WRITTEN, ...fc.sample(hostile, { numRuns: caseCount(500), seed: 4515 })].filter(
    (name) => name.trim().toLowerCase() !== 'alice',
  );
  const outcomes = await Promise.all(names.map((user) => credentials.check({ user, password: 'alice secret' })));
  assert.equal(
    names.filter((_, at) => outcomes[at]?.outcome !== 'unknown'),
    [],
  );
});

ldap.run();
