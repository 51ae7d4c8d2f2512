// Reads user and password out of a request, and names what checks them.

import { ServiceError } from '../../base/errors.js';

export interface UserPassword {
  readonly user: string;
  readonly password: string;
}

/** Outcome of a check. `unknown`: the user is not there, or has no password; another authenticator may know it. */
export type Checked =
  | { readonly outcome: 'right'; readonly user: string; readonly groups: readonly string[] }
  | { readonly outcome: 'wrong' | 'unknown' | 'undecided' };

export interface CredentialsValidator {
  check(credentials: UserPassword): Promise<Checked>;
}

/** Longest value of the header that is looked at. */
const HEADER_LENGTH_MAX = 8192;

/** Credentials of `Authorization: Basic …`; undefined for another scheme. @throws ServiceError `unauthorized` for broken ones */
export function readBasic(header: string): UserPassword | undefined {
  const [, encoded] = /^basic +(.*)$/i.exec(header) ?? [];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const at = text.indexOf(':');
  if (at < 0 || header.length > HEADER_LENGTH_MAX) throw refusedLogin();
  return { user: text.slice(0, at), password: text.slice(at + 1) };
}

/** One message for every reason: it tells nobody which users there are. */
export function refusedLogin(): ServiceError {
  return new ServiceError('unauthorized', 'Unauthorized');
}
