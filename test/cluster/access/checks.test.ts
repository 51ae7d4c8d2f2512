import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkSecurity } from '../../../src/cluster/access/checks.js';
import { Configuration } from '../../../src/configuration/configuration.js';

process.env['DOLMEN_TEST_EMPTY'] = '';
const checks = suite('configurations of security');

const check = (flags: readonly string[]) => checkSecurity(Configuration.read({ flags, machine: { cores: 2, memoryBytes: 2 ** 33 } }));
const BASIC = [
  'svc.auth.authenticatorChain=["a"]',
  'svc.auth.authenticator.a.type=basic',
  'svc.auth.authorizers=["r"]',
  'svc.auth.authorizer.r.type=basic',
];
const GUEST = ['svc.auth.authenticatorChain=["a","anonymous"]', 'svc.auth.authorizers=["r","free"]'];
const LDAP = {
  type: 'ldap',
  url: 'ldap://d:389',
  bindUser: 'cn=x',
  bindPassword: 'p',
  baseDn: 'dc=x',
  userSearch: '(uid=%s)',
  userAttribute: 'uid',
};
const ldap = (changes: Readonly<Record<string, string>> = {}) => [
  ...BASIC,
  ...Object.entries({ ...LDAP, ...changes }).map(([name, value]) => `svc.auth.authenticator.a.credentialsValidator.${name}=${value}`),
];

for (const host of ['127.0.0.1', '127.9.9.9', 'localhost', '::1'])
  checks(`without authenticators ${host} is listened on, and said so`, () =>
    assert.match(check([`svc.host=${host}`]) ?? '', /everybody on this machine/),
  );

for (const host of ['0.0.0.0', '::', '10.1.2.3', 'db.example.com', '127.example.com'])
  checks(`without authenticators ${host} is refused, unless that is meant`, () => {
    assert.throws(() => check([`svc.host=${host}`]), /svc\.host/);
    assert.match(check([`svc.host=${host}`, 'svc.server.insecure=true']) ?? '', /everybody who reaches/);
  });

checks('with an authenticator every address may be listened on', () => {
  assert.is(check([...BASIC, 'svc.host=0.0.0.0']), undefined);
  assert.is(check([...ldap(), 'svc.host=0.0.0.0']), undefined);
});

checks('guests who may do everything are no authenticator, guests who may read are', () => {
  const guest = (type: string) => [
    ...BASIC,
    ...GUEST,
    'svc.host=0.0.0.0',
    'svc.auth.authenticator.anonymous.authorizerName=free',
    `svc.auth.authorizer.free.type=${type}`,
  ];
  assert.throws(() => check(guest('allowAll')), /svc\.host/);
  assert.is(check(guest('readOnly')), undefined);
});

const REFUSED: readonly (readonly [flags: readonly string[], message: RegExp])[] = [
  [['svc.auth.authenticatorChain=["trustedDomain"]'], /trustedDomain believes/],
  [['svc.auth.authenticatorChain=["kerberos"]'], /kerberos is not there/],
  [['svc.auth.authenticatorChain=["x"]'], /svc\.auth\.authenticator\.x\.type/],
  [['svc.auth.authenticatorChain=["basic","basic"]'], /each once/],
  [['svc.auth.authenticatorChain=["a.b"]'], /without dots/],
  [[...BASIC, 'svc.auth.authenticator.a.authorizerName=other'], /authorizerName/],
  [['svc.auth.authorizers=["allowAll"]', 'svc.auth.authorizer.allowAll.type=basic'], /allowAll for this name/],
  [[...BASIC, 'svc.escalator.type=basic'], /internalClientPassword/],
  [
    [...BASIC, 'svc.auth.authenticator.a.initialAdminPassword={"type":"environment","variable":"NOT_SET_ANYWHERE"}'],
    /initialAdminPassword/,
  ],
  [[...BASIC, 'svc.auth.authenticator.a.initialAdminPassword={"type":"file","path":"/no/such/file"}'], /initialAdminPassword/],
  // Empty ones would let everybody in.
  ...[
    '{"type":"default","password":""}',
    '{"type":"environment","variable":"DOLMEN_TEST_EMPTY"}',
    '{"type":"file","path":"/dev/null"}',
  ].map((provider) => [[...BASIC, `svc.auth.authenticator.a.initialAdminPassword=${provider}`], /initialAdminPassword/] as const),
  ...['url', 'bindUser', 'bindPassword', 'baseDn', 'userSearch', 'userAttribute'].map(
    (name) => [ldap({ [name]: '' }), new RegExp(name)] as const,
  ),
  [ldap({ url: 'http://d' }), /url/],
  [ldap({ url: 'ldap://d/dc=x' }), /url/],
  [ldap({ userSearch: '(uid=x)' }), /%s/],
  [ldap({ url: 'ldaps://d', startTls: 'true' }), /startTls/],
];
for (const [flags, message] of REFUSED)
  checks(`${flags.at(-1)} is refused`, () =>
    assert.throws(
      () => check(flags),
      (error: Error) => message.test(error.message),
    ),
  );

checks('secrets do not come back in messages', () => {
  assert.throws(
    () => check([...BASIC, 'svc.auth.authenticator.a.initialAdminPassword={"type":"vault","key":"hush"}']),
    (error: Error) => !error.message.includes('hush') && !error.message.includes('vault'),
  );
});

checks('properties of names that are not in the list, and unknown ones, have no effect and are told', () => {
  const { warnings } = Configuration.read({
    flags: [...BASIC, 'svc.auth.authenticator.b.type=basic', 'svc.auth.authorizer.r.initialAdminRol=x'],
  });
  assert.is(warnings.length, 2);
  assert.match(warnings.join('\n'), /does not name b/);
  assert.match(warnings.join('\n'), /did you mean svc\.auth\.authorizer\.r\.initialAdminRole/);
});

checks.run();
