import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { Authentication, type Authenticator } from '../../../src/cluster/access/authentication.js';
import type { Checked, UserPassword } from '../../../src/cluster/access/credentials.js';
import { LoginThrottle } from '../../../src/cluster/access/login-throttle.js';
import { MetadataCredentials } from '../../../src/cluster/access/metadata-credentials.js';
import { PasswordHasher } from '../../../src/cluster/access/password-hash.js';
import type { Credentials } from '../../../src/cluster/access/records.js';
import type { Identity } from '../../../src/model/access/identity.js';

const authentication = suite('authentication');

const header = (text: string) => ({
  headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` },
  remoteAddress: '1.1.1.1',
});

interface Fake {
  readonly checks: UserPassword[];
  readonly authenticator: Authenticator;
}

/** Knows `name:password` pairs, and counts what it is asked. */
function fake(name: string, users: Readonly<Record<string, string>>, skipOnFailure = false): Fake {
  const checks: UserPassword[] = [];
  const known = new Map(Object.entries(users));
  const check = async (credentials: UserPassword): Promise<Checked> => {
    checks.push(credentials);
    const password = known.get(credentials.user);
    if (password === 'down') return { outcome: 'undecided' };
    if (password === undefined) return { outcome: 'unknown' };
    return password === credentials.password ? { outcome: 'right', user: credentials.user, groups: [] } : { outcome: 'wrong' };
  };
  const trust = { idleMs: 100, maxMs: 250 };
  return { checks, authenticator: { type: 'basic', name, authorizer: `${name}Authorizer`, validator: { check }, skipOnFailure, trust } };
}

function chainOf(chain: readonly Authenticator[], now = { value: 0 }): Authentication {
  return new Authentication({
    chain,
    throttle: new LoginThrottle({ failuresMax: 5, windowMs: 1000, now: () => now.value }),
    keptMax: 10,
    now: () => now.value,
    onUndecided: () => undefined,
  });
}

async function outcome(work: () => Identity | Promise<Identity>): Promise<string> {
  try {
    const { authenticator, user } = await work();
    return `${authenticator}/${user}`;
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

const anonymous: Authenticator = { type: 'anonymous', name: 'anonymous', authorizer: 'r', identity: 'guest' };
const CHAINS: readonly {
  readonly name: string;
  readonly chain: () => readonly Authenticator[];
  readonly sent: string | null;
  readonly result: string;
}[] = [
  { name: 'a right password', chain: () => [fake('m', { a: 'x' }).authenticator], sent: 'a:x', result: 'm/a' },
  { name: 'a password with colons', chain: () => [fake('m', { a: 'x:y:' }).authenticator], sent: 'a:x:y:', result: 'm/a' },
  { name: 'a wrong password', chain: () => [fake('m', { a: 'x' }).authenticator], sent: 'a:y', result: 'unauthorized' },
  { name: 'an unknown user', chain: () => [fake('m', { a: 'x' }).authenticator], sent: 'b:x', result: 'unauthorized' },
  { name: 'no credentials', chain: () => [fake('m', { a: 'x' }).authenticator], sent: null, result: 'unauthorized' },
  { name: 'no colon', chain: () => [fake('m', { a: 'x' }).authenticator], sent: 'a', result: 'unauthorized' },
  {
    name: 'a user of the second authenticator, where the first skips',
    chain: () => [fake('m', { a: 'x' }, true).authenticator, fake('l', { b: 'y' }).authenticator],
    sent: 'b:y',
    result: 'l/b',
  },
  {
    name: 'a user of the second authenticator, where the first does not skip',
    chain: () => [fake('m', { a: 'x' }).authenticator, fake('l', { b: 'y' }).authenticator],
    sent: 'b:y',
    result: 'unauthorized',
  },
  {
    name: 'a wrong password for a user of the first, which skips',
    chain: () => [fake('m', { a: 'x' }, true).authenticator, fake('l', { a: 'y' }).authenticator],
    sent: 'a:y',
    result: 'unauthorized',
  },
  {
    name: 'a directory that does not answer, which skips',
    chain: () => [fake('l', { a: 'down' }, true).authenticator, fake('m', { a: 'x' }).authenticator],
    sent: 'a:x',
    result: 'm/a',
  },
  {
    name: 'nobody, where guests may come',
    chain: () => [fake('m', { a: 'x' }).authenticator, anonymous],
    sent: null,
    result: 'anonymous/guest',
  },
  {
    name: 'a wrong password, where guests may come',
    chain: () => [fake('m', { a: 'x' }).authenticator, anonymous],
    sent: 'a:y',
    result: 'unauthorized',
  },
  { name: 'everybody', chain: () => [{ type: 'allowAll' }], sent: 'x:y', result: 'allowAll/allowAll' },
];
for (const { name, chain, sent, result } of CHAINS)
  authentication(name, async () => {
    const request = sent === null ? { headers: {}, remoteAddress: '1.1.1.1' } : header(sent);
    assert.is(await outcome(() => chainOf(chain()).identify(request)), result);
  });

authentication('other schemes are nobody, broken credentials are refused', async () => {
  const one = chainOf([fake('m', { a: 'x' }).authenticator, anonymous]);
  const sent = (value: string) => outcome(() => one.identify({ headers: { authorization: value }, remoteAddress: '' }));
  assert.is(await sent('Bearer abc'), 'anonymous/guest');
  assert.is(await sent('Negotiate'), 'anonymous/guest');
  assert.is(await sent('Basic !!!'), 'unauthorized');
  assert.is(await sent(`Basic ${'A'.repeat(20_000)}`), 'unauthorized');
  assert.is(await sent(`bAsIc   ${Buffer.from('a:x').toString('base64')}`), 'm/a');
});

authentication('checked credentials are recognised at once until they have not been sent for a while, and not for ever', async () => {
  const now = { value: 0 };
  const { checks, authenticator } = fake('m', { a: 'x' });
  const one = chainOf([authenticator], now);
  await one.identify(header('a:x'));
  for (const nowMs of [90, 180, 240]) {
    now.value = nowMs;
    assert.not(one.identify(header('a:x')) instanceof Promise);
  }
  now.value = 251;
  assert.ok(one.identify(header('a:x')) instanceof Promise);
  await one.identify(header('a:x'));
  now.value = 360;
  await one.identify(header('a:x'));
  assert.is(checks.length, 3);
});

authentication('a header of a moment ago is recalled, until time has passed or users have changed', async () => {
  const now = { value: 0 };
  const one = chainOf([fake('m', { a: 'x' }).authenticator], now);
  assert.is(one.recall(header('a:x')), undefined);
  await one.identify(header('a:x'));
  const identity = one.identify(header('a:x'));
  assert.is(one.recall(header('a:x')), identity);
  assert.is(one.recall(header('a:y')), undefined);
  assert.is(one.recall({ headers: {}, remoteAddress: '' }), undefined);
  now.value = 100;
  assert.is(one.recall(header('a:x')), undefined, 'it was not sent for as long as it is trusted');
  await one.identify(header('a:x'));
  one.identify(header('a:x'));
  assert.ok(one.recall(header('a:x')));
  one.forget();
  assert.is(one.recall(header('a:x')), undefined);
});

authentication('the same credentials at once are checked once', async () => {
  const { checks, authenticator } = fake('m', { a: 'x' });
  const one = chainOf([authenticator]);
  await Promise.all(Array.from({ length: 50 }, () => one.identify(header('a:x'))));
  assert.is(checks.length, 1);
});

authentication('a change of users counts at once, also for checks under way', async () => {
  const { checks, authenticator } = fake('m', { a: 'x' });
  const one = chainOf([authenticator]);
  const running = one.identify(header('a:x'));
  one.forget();
  await running;
  await one.identify(header('a:x'));
  one.forget();
  await one.identify(header('a:x'));
  assert.is(checks.length, 3);
});

authentication('who guesses is slowed down, who works is not', async () => {
  const { checks, authenticator } = fake('m', { a: 'x' });
  const one = chainOf([authenticator]);
  await one.identify(header('a:x'));
  const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, number) => outcome(() => one.identify(header(`a:${number}`)))));
  assert.is(outcomes.filter((each) => each === 'unauthorized').length, 5);
  assert.is(outcomes.filter((each) => each === 'capacity_exceeded').length, 995);
  assert.is(checks.length, 6);
  assert.is(await outcome(() => one.identify(header('a:x'))), 'm/a');
});

authentication('hashes are those of PBKDF2 with HMAC-SHA-512, each with a salt of its own', async () => {
  const hasher = new PasswordHasher(10);
  const [one, other] = [await hasher.hash('secret', 1000), await hasher.hash('secret', 1000)];
  assert.is.not(one.salt, other.salt);
  assert.is.not(one.hash, other.hash);
  assert.ok(await hasher.matches('secret', one));
  assert.not(await hasher.matches('secret ', one));
  assert.not(await hasher.matches('secret', { ...one, hash: other.hash }));
  // Computed by Python: hashlib.pbkdf2_hmac('sha512', b'secret', b'salt', 1000)
  const known = '929yOBt18N6xwzkzSoyJdDZsrbxr9GRg+Xg2PejSENvM+npZCM/lDmFyv2vE17ct1I8dVDzkhzbaf3/PbbRnLA==';
  assert.ok(await hasher.matches('secret', { salt: Buffer.from('salt').toString('base64'), hash: known, iterations: 1000 }));
});

authentication('a bounded number of passwords waits to be checked', async () => {
  const hasher = new PasswordHasher(3);
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => hasher.hash('x', 1000)));
  assert.is(outcomes.filter(({ status }) => status === 'fulfilled').length, 5);
  assert.ok(await hasher.hash('x', 1000));
});

authentication('a check costs as many rounds for a user that is not there, and for one with few', async () => {
  const hasher = new PasswordHasher(10);
  const logins = new Map<string, { credentials: Credentials | null }>([
    ['known', { credentials: await hasher.hash('right', 20_000) }],
    ['few', { credentials: await hasher.hash('right', 1000) }],
    ['without', { credentials: null }],
  ]);
  let rounds = 0;
  const counting = new PasswordHasher(10, (password, salt, iterations, ...rest) => {
    rounds += iterations;
    return promisify(pbkdf2)(password, salt, iterations, ...rest);
  });
  for (const iterations of [5000, 20_000, 30_000]) {
    const credentials = new MetadataCredentials({ logins: () => logins, hasher: counting, iterations });
    const found: [string, string, string, number][] = [];
    for (const user of ['known', 'few', 'unknown', 'without'])
      for (const password of ['wrong', 'right']) {
        rounds = 0;
        const { outcome: checked } = await credentials.check({ user, password });
        found.push([user, password, checked, rounds]);
      }
    const all = Math.max(20_000, iterations);
    const known = (user: string) =>
      [
        [user, 'wrong', 'wrong', all],
        [user, 'right', 'right', all],
      ] as const;
    const unknown = (user: string) => ['wrong', 'right'].map((password) => [user, password, 'unknown', all] as const);
    assert.equal(found, [...known('known'), ...known('few'), ...unknown('unknown'), ...unknown('without')]);
  }
});

authentication.run();
