import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileRegularExpression } from '../../../src/expression/regular-expression.js';
import { ALLOW_ALL_AUTHORIZERS, Authorizers, demand, permits, permitsWhole } from '../../../src/model/access/authorizer.js';
import { createBasicAuthorizer, type Permission } from '../../../src/model/access/basic-authorizer.js';
import { ALLOW_ALL_IDENTITY, type Identity } from '../../../src/model/access/identity.js';
import { type Policy, unionOfPolicies } from '../../../src/model/access/policy.js';
import type { Action, Resource, ResourceType } from '../../../src/model/access/resource.js';

const access = suite('access: the basic authorizer');

const allow = (type: ResourceType, name: string, action: Action, policy: Policy | null = null): Permission => ({
  resource: { type, name },
  action,
  policy,
});
const isEu = { type: 'equals', column: 'region', matchValueType: 'STRING', matchValue: 'eu' };
const isUs = { ...isEu, matchValue: 'us' };

const ROLES: Readonly<Record<string, readonly Permission[]>> = {
  reader: [allow('DATASOURCE', 'wiki', 'READ'), allow('DATASOURCE', 'log.*', 'READ')],
  writer: [allow('DATASOURCE', 'wiki|news', 'WRITE')],
  state: [allow('STATE', '.*', 'READ')],
  eu: [allow('DATASOURCE', 'sales', 'READ', { rowFilter: isEu, columns: null })],
  us: [allow('DATASOURCE', 'sales', 'READ', { rowFilter: isUs, columns: ['region', 'price'] })],
  broken: [allow('DATASOURCE', '(', 'READ')],
};

const compile = (pattern: string) => {
  const expression = compileRegularExpression(pattern, 'input_invalid');
  return (name: string) => expression.groups(name) !== null;
};

function identity(user: string): Identity {
  return { user, authenticator: 'test', authorizer: 'basic', groups: [] };
}

/** A user is named by its roles, joined by `+`. */
function authorizersOf(roles: () => ReadonlyMap<string, readonly Permission[]>): Authorizers {
  const basic = createBasicAuthorizer({ roles, rolesOf: ({ user }) => user.split('+').filter((role) => role !== ''), compile });
  return new Authorizers(new Map([['basic', basic]]));
}

const fixed = new Map(Object.entries(ROLES));
const authorizers = authorizersOf(() => fixed);

const cases: readonly [user: string, type: ResourceType, name: string, action: Action, allowed: boolean][] = [
  ['', 'DATASOURCE', 'wiki', 'READ', false],
  ['unknown', 'DATASOURCE', 'wiki', 'READ', false],
  ['reader', 'DATASOURCE', 'wiki', 'READ', true],
  ['reader', 'DATASOURCE', 'wiki', 'WRITE', false],
  // A pattern matches the whole of a name.
  ['reader', 'DATASOURCE', 'wiki2', 'READ', false],
  ['reader', 'DATASOURCE', 'a wiki', 'READ', false],
  ['reader', 'DATASOURCE', 'logs', 'READ', true],
  ['reader', 'DATASOURCE', 'blogs', 'READ', false],
  ['writer', 'DATASOURCE', 'news', 'WRITE', true],
  ['writer', 'DATASOURCE', 'newspaper', 'WRITE', false],
  // WRITE does not include READ.
  ['writer', 'DATASOURCE', 'wiki', 'READ', false],
  ['reader+writer', 'DATASOURCE', 'wiki', 'READ', true],
  ['state', 'STATE', 'STATE', 'READ', true],
  ['state', 'CONFIG', 'STATE', 'READ', false],
  ['state', 'DATASOURCE', 'wiki', 'READ', false],
  // A pattern that cannot be read gives nothing.
  ['broken', 'DATASOURCE', '(', 'READ', false],
  ['broken+reader', 'DATASOURCE', 'wiki', 'READ', true],
];

for (const [user, type, name, action, allowed] of cases) {
  access(`'${user}' may ${allowed ? '' : 'not '}${action} ${type} ${name}`, () => {
    const resource: Resource = { type, name };
    const caller = authorizers.callerOf(identity(user));
    assert.is(permits(caller, resource, action), allowed);
    // Asked again, of the decisions that are kept.
    assert.is(caller.access(resource, action).allowed, allowed);
    if (allowed) demand(caller, [{ resource, action }]);
    else assert.throws(() => demand(caller, [{ resource, action }]), /Unauthorized/);
  });
}

const SALES: Resource = { type: 'DATASOURCE', name: 'sales' };

access('a permission with a policy allows, but not the whole', () => {
  const caller = authorizers.callerOf(identity('eu'));
  assert.equal(caller.access(SALES, 'READ'), { allowed: true, policy: { rowFilter: isEu, columns: null } });
  assert.is(permits(caller, SALES, 'READ'), true);
  assert.is(permitsWhole(caller, SALES, 'READ'), false);
  assert.throws(() => demand(caller, [{ resource: SALES, action: 'READ' }]), /Unauthorized/);
});

const unions: readonly { readonly name: string; readonly policies: readonly Policy[]; readonly union: Policy | null }[] = [
  { name: 'one', policies: [{ rowFilter: isEu, columns: null }], union: { rowFilter: isEu, columns: null } },
  {
    name: 'rows of either',
    policies: [
      { rowFilter: isEu, columns: null },
      { rowFilter: isUs, columns: null },
    ],
    union: { rowFilter: { type: 'or', fields: [isEu, isUs] }, columns: null },
  },
  {
    name: 'the same rows twice',
    policies: [
      { rowFilter: isEu, columns: null },
      { rowFilter: isEu, columns: null },
    ],
    union: { rowFilter: isEu, columns: null },
  },
  {
    name: 'columns that both show',
    policies: [
      { rowFilter: isEu, columns: ['price', 'region'] },
      { rowFilter: isUs, columns: ['price', 'city'] },
    ],
    union: { rowFilter: { type: 'or', fields: [isEu, isUs] }, columns: ['price'] },
  },
  {
    name: 'all rows of few columns, all columns of some rows',
    policies: [
      { rowFilter: null, columns: ['price'] },
      { rowFilter: isUs, columns: null },
    ],
    union: { rowFilter: null, columns: ['price'] },
  },
  { name: 'no restriction', policies: [{ rowFilter: null, columns: null }], union: null },
];
for (const { name, policies, union } of unions) access(`union of policies: ${name}`, () => assert.equal(unionOfPolicies(policies), union));

access('a change of roles counts at once', () => {
  let roles: ReadonlyMap<string, readonly Permission[]> = new Map();
  const caller = authorizersOf(() => roles).callerOf(identity('reader'));
  const wiki: Resource = { type: 'DATASOURCE', name: 'wiki' };
  assert.is(permits(caller, wiki, 'READ'), false);
  roles = fixed;
  assert.is(permits(caller, wiki, 'READ'), true);
  roles = new Map();
  assert.is(permits(caller, wiki, 'READ'), false);
});

access('an identity of an unknown authorizer may do nothing', () => {
  const caller = authorizers.callerOf({ ...identity('reader'), authorizer: 'other' });
  assert.is(caller.isUnrestricted, false);
  assert.is(permits(caller, { type: 'DATASOURCE', name: 'wiki' }, 'READ'), false);
});

access('without security everything is allowed', () => {
  const caller = ALLOW_ALL_AUTHORIZERS.callerOf(ALLOW_ALL_IDENTITY);
  assert.is(caller.isUnrestricted, true);
  assert.equal(caller.access(SALES, 'WRITE'), { allowed: true, policy: null });
});

access.run();
