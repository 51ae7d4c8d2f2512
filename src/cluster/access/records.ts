// Reads users, passwords, roles and group mappings out of JSON, from requests and from the metadata store.

import { ServiceError } from '../../base/errors.js';
import { ObjectReader, readContextOf } from '../../base/json-reader.js';
import { compileRegularExpression } from '../../expression/regular-expression.js';
import type { Permission } from '../../model/access/basic-authorizer.js';
import { parsePolicy } from '../../model/access/policy.js';
import { ACTIONS, RESOURCE_TYPES } from '../../model/access/resource.js';
import { groupPattern as readGroupPattern } from './distinguished-name.js';

/** A hashed password. */
export interface Credentials {
  /** Base64, as the hash. */
  readonly salt: string;
  readonly hash: string;
  readonly iterations: number;
}

/** A user of an authenticator; without credentials nobody can be it. */
export interface Login {
  readonly credentials: Credentials | null;
}

export interface GroupMapping {
  readonly name: string;
  readonly groupPattern: string;
  readonly roles: readonly string[];
}

/** Longest name of a user, role or mapping. */
const NAME_LENGTH_MAX = 1024;

/** @throws ServiceError `input_invalid` */
export function checkName(kind: string, name: string): void {
  if (name === '' || name.length > NAME_LENGTH_MAX || /\p{Cc}/u.test(name))
    throw new ServiceError(
      'input_invalid',
      `${kind}: found '${name.slice(0, 50)}', expected 1 to ${NAME_LENGTH_MAX} characters without controls`,
    );
}

/** A pattern of names of resources, which the whole of a name must match. @throws ServiceError `input_invalid` */
export function compileName(pattern: string): (name: string) => boolean {
  const expression = compileRegularExpression(pattern, 'input_invalid');
  return (name) => expression.groups(name) !== null;
}

function reader(value: unknown, root: string): ObjectReader {
  return new ObjectReader(value, '', readContextOf('input_invalid', root));
}

/** Permissions as they are sent. @throws ServiceError `input_invalid` naming the field */
export function parsePermissions(value: unknown): readonly Permission[] {
  const fields = reader({ permissions: value }, 'body');
  if (!Array.isArray(value)) throw fields.mismatch('permissions', 'an array of permissions');
  return fields.objects('permissions').map(parsePermission);
}

function parsePermission(fields: ObjectReader): Permission {
  const resource = fields.object('resource');
  const [type, name] = [resource.type(RESOURCE_TYPES), resource.string('name')];
  resource.accept(['name']);
  compileName(name);
  const action = ACTIONS.find((each) => each === fields.string('action'));
  if (action === undefined) throw fields.mismatch('action', ACTIONS.join(' or '));
  const policy = fields.has('policy') ? parsePolicy(fields.raw('policy'), fields.at('policy')) : null;
  fields.end();
  if (policy !== null && (type !== 'DATASOURCE' || action !== 'READ'))
    throw new ServiceError(
      'input_invalid',
      `${fields.at('policy')}: found with ${action} of ${type}, expected with READ of DATASOURCE only`,
    );
  return { resource: { type, name }, action, policy };
}

/** @throws ServiceError `input_invalid` */
export function parseGroupMapping(value: unknown, name: string): GroupMapping {
  const fields = reader(value, 'body');
  const given = fields.optionalString('name');
  if (given !== undefined && given !== name)
    throw new ServiceError('input_invalid', `name: found '${given}', expected '${name}' as in the path, or nothing`);
  const groupPattern = fields.string('groupPattern');
  const roles = fields.has('roles') ? fields.strings('roles') : [];
  fields.end();
  if (readGroupPattern(groupPattern) === undefined)
    throw fields.mismatch('groupPattern', 'a distinguished name of a group, *,<its end> or <its beginning>,*');
  return { name, groupPattern, roles: [...new Set(roles)] };
}

export function parseUserRoles(value: unknown): readonly string[] {
  return reader(value, 'user').strings('roles');
}

export function parseLogin(value: unknown): Login {
  const fields = reader(value, 'login');
  if (!fields.has('credentials')) return { credentials: null };
  const credentials = fields.object('credentials');
  return {
    credentials: {
      salt: credentials.string('salt'),
      hash: credentials.string('hash'),
      iterations: credentials.optionalInteger('iterations', 1) ?? 1,
    },
  };
}

/** A permission as it is sent, stored and shown. */
export function permissionBody({ resource, action, policy }: Permission): Readonly<Record<string, unknown>> {
  return { resource: { name: resource.name, type: resource.type }, action, ...(policy === null ? {} : { policy }) };
}
