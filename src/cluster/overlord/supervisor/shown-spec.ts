// Specs of supervisors as they are shown: without secrets, which are put in again when a shown spec is sent back.

import { ServiceError } from '../../../base/errors.js';
import { isRecord } from '../../../base/json.js';
import { createByName, own } from '../../../base/names.js';

type Document = Readonly<Record<string, unknown>>;

const HIDDEN = '********';
/** Consumer properties that may be secrets. */
const SECRETS: ReadonlySet<string> = new Set([
  'sasl.jaas.config',
  'sasl.password',
  'ssl.key.password',
  'ssl.keystore.key',
  'ssl.key.pem',
  'awsExternalId',
]);
const PROVIDERS: ReadonlySet<string> = new Set(['druid.dynamic.config.provider', 'svc.dynamic.config.provider']);

/** A copy whose secrets are hidden; names of variables are none. */
export function shownDocument(document: Document): Document {
  return changed(document, (value) => (hasNoSecret(value) ? value : HIDDEN)) as Document;
}

/** Providers by reference say where a secret lies, not which it is. */
function hasNoSecret(value: unknown): boolean {
  return value === null || (isRecord(value) && own(value, 'type') === 'environment');
}

/**
 * The document with hidden values of a shown one put in again from what is stored, as long as the brokers are the same: a secret is sent
 * nowhere but where it was sent before.
 * @throws ServiceError `input_invalid` for a hidden value that nothing is stored for
 */
export function withStoredSecrets(sent: Document, stored: Document | undefined): Document {
  const isSamePlace = stored !== undefined && addressOf(sent) === addressOf(stored);
  return changed(sent, (value, path) => {
    if (value !== HIDDEN) return value;
    const known = isSamePlace ? path.reduce<unknown>((at, name) => (isRecord(at) ? own(at, name) : undefined), stored) : undefined;
    if (known === undefined)
      throw new ServiceError(
        'input_invalid',
        `${path.join('.')}: a hidden value stands for the stored one only with the same brokers; send it`,
      );
    return known;
  }) as Document;
}

function addressOf(document: Document): string {
  const spec = own(document, 'spec');
  const io = isRecord(spec) ? own(spec, 'ioConfig') : undefined;
  if (!isRecord(io)) return '';
  const properties = own(io, 'consumerProperties');
  const servers = isRecord(properties) ? [own(properties, 'bootstrap.servers'), own(properties, 'security.protocol')] : [];
  return JSON.stringify([servers, own(io, 'endpoint') ?? null, own(io, 'region') ?? null]);
}

/** A copy with the values at places of secrets changed. */
function changed(value: unknown, change: (value: unknown, path: readonly string[]) => unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((each, index) => changed(each, change, [...path, String(index)]));
  if (!isRecord(value)) return value;
  const copy = createByName<unknown>();
  for (const [name, member] of Object.entries(value)) {
    const at = [...path, name];
    if (SECRETS.has(name)) copy[name] = change(member, at);
    else if (PROVIDERS.has(name) && isRecord(member) && own(member, 'type') === 'mapString') copy[name] = change(member, at);
    else copy[name] = changed(member, change, at);
  }
  return copy;
}
