// Passwords in specs, as the spec writes them or in variables of the environment.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';

/** A password of a spec. */
export type Password = { readonly kind: 'written'; readonly text: string } | { readonly kind: 'variable'; readonly name: string };

/** A string, or a provider: `{type: "default", password}` or `{type: "environment", variable}`; null when absent. */
export function parsePassword(fields: ObjectReader, key: string): Password | null {
  const written = fields.raw(key);
  if (written === undefined) return null;
  if (typeof written !== 'object') return { kind: 'written', text: fields.string(key) };
  const provider = fields.object(key);
  if (provider.type(['default', 'environment']) === 'default') {
    provider.accept(['password']);
    return { kind: 'written', text: provider.string('password') };
  }
  provider.accept(['variable']);
  return { kind: 'variable', name: provider.string('variable') };
}

/**
 * The password itself.
 * @param allowedVariables  those that specs may name: whoever may load could send others of the server to a host of their own
 * @throws ServiceError `forbidden`, `input_unreadable` for a variable that is not set
 */
export function passwordText(
  password: Password,
  allowedVariables: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string {
  if (password.kind === 'written') return password.text;
  if (!allowedVariables.includes(password.name))
    throw new ServiceError('forbidden', `the variable ${password.name} is not among svc.ingestion.passwordVariables`);
  const text = own(environment, password.name);
  if (text === undefined) throw new ServiceError('input_unreadable', `the variable ${password.name} of the environment is not set`);
  return text;
}
