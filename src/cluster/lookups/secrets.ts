// Keeps passwords of lookups out of what is read back.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';
import { own } from '../../base/names.js';
import { parseConnectionUri } from '../../configuration/connection-uri.js';
import { isSecretUrl } from '../../ingestion/source/secrets.js';

type Factory = Readonly<Record<string, unknown>>;

/** Stands where a secret is; a lookup that is sent back with it keeps the secret that it had. */
export const HIDDEN = '********';

/** Names of fields whose strings are not shown. */
const SECRET = /password|secret|jaas|credential|token|keystore\.key|key\.pem/i;
/** Names of fields whose contents are told nobody but who was told them before. */
const GUARDED = new RegExp(`${SECRET.source}|provider|^(?:sasl|ssl)\\.`, 'i');

/** A `lookupExtractorFactory` to show: passwords and connection strings that might hold one are hidden. */
export function withoutSecrets(factory: Factory): Factory {
  // The entries of a map are data, whatever their keys.
  return own(factory, 'type') === 'map' ? factory : (shown(factory) as Factory);
}

function shown(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(shown);
  // Names of variables are no secrets.
  const isByVariable = (name: string): boolean => name === 'variables' && own(value as Factory, 'type') === 'environment';
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (isByVariable(name)) return [name, each];
      return [name, typeof each === 'string' && isHidden(name, each) ? HIDDEN : shown(each)];
    }),
  );
}

function isHidden(name: string, text: string): boolean {
  if (isSecretUrl(text)) return true;
  return SECRET.test(name) || (/uri$/i.test(name) && /^jdbc:/i.test(text) && !isPlain(text)) || /^[a-z][a-z0-9+.-]*:\/\/[^/]*@/i.test(text);
}

function isPlain(uri: string): boolean {
  try {
    parseConnectionUri(uri);
    return true;
  } catch {
    return false;
  }
}

/**
 * A factory with secrets that were hidden when it was read put in again, if nothing else of it has changed that decides who is
 * told them.
 * @throws ServiceError `input_invalid` when there is nothing to put in
 */
export function withSecretsOf(factory: Factory, known: Factory | undefined, path: string): Factory {
  if (own(factory, 'type') === 'map') return factory;
  const restored = restore(factory, known, `${path}.lookupExtractorFactory`);
  return restored as Factory;
}

/** @param isAround  whether the settings around are those of before, where they say who is told the secrets in here */
function restore(value: unknown, known: unknown, path: string, isAround = true): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const before = typeof known === 'object' && known !== null ? (known as Factory) : undefined;
  const isSame = isAround && before !== undefined && stringifyJson(shown(value)) === stringifyJson(shown(before));
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const there = own(before, name);
      if (each !== HIDDEN) return [name, restore(each, there, `${path}.${name}`, isSame || (isAround && !GUARDED.test(name)))];
      if (!isSame || typeof there !== 'string')
        throw new ServiceError(
          'input_invalid',
          `${path}.${name}: a hidden value stands for the stored one only beside the same settings; send it`,
        );
      return [name, there];
    }),
  );
}
