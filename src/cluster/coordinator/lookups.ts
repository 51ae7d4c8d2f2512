// The configured lookups by tier: reading, merging and versions.

import { ServiceError } from '../../base/errors.js';
import { describeValue } from '../../base/json.js';
import { own } from '../../base/names.js';
import { withoutSecrets, withSecretsOf } from '../lookups/secrets.js';

/** Name of the configuration entry that holds all lookups. */
export const LOOKUPS_NAME = 'lookups';

/** A lookup as it is configured. What `lookupExtractorFactory` may hold is checked where it is loaded. */
export interface Lookup {
  readonly version: string | null;
  readonly lookupExtractorFactory: Readonly<Record<string, unknown>>;
}

/** Lookups by tier, then by name. A tier without lookups does not exist. */
export type Lookups = Readonly<Record<string, Readonly<Record<string, Lookup>>>>;

/** @throws ServiceError `input_invalid` naming the path of what is wrong */
export function parseLookup(value: unknown, path: string): Lookup {
  const fields = fieldsOf(value, path);
  const stranger = [...fields.keys()].find((name) => name !== 'version' && name !== 'lookupExtractorFactory');
  if (stranger !== undefined)
    throw new ServiceError('input_invalid', `${path}.${stranger}: unknown field; accepted are version and lookupExtractorFactory`);
  const version = fields.get('version') ?? null;
  if (version !== null && typeof version !== 'string')
    throw new ServiceError('input_invalid', `${path}.version: found ${describeValue(version)}, expected a string`);
  const factory = fieldsOf(fields.get('lookupExtractorFactory'), `${path}.lookupExtractorFactory`);
  if (typeof factory.get('type') !== 'string')
    throw new ServiceError('input_invalid', `${path}.lookupExtractorFactory.type: expected a string such as map`);
  return { version, lookupExtractorFactory: Object.fromEntries(factory) };
}

/** The body of a bulk update: lookups by tier and name. */
export function parseLookups(value: unknown): Lookups {
  const tiers = [...fieldsOf(value, 'body')].map(([tier, lookups]) => {
    const parsed = [...fieldsOf(lookups, tier)].map(([name, lookup]) => [name, parseLookup(lookup, `${tier}.${name}`)] as const);
    return [tier, Object.fromEntries(parsed)] as const;
  });
  return Object.fromEntries(tiers);
}

/**
 * Adds or replaces; nothing is removed.
 * @throws ServiceError `input_invalid` when a version is not higher, compared as text, than the one it replaces
 */
export function mergeLookups(current: Lookups, changes: Lookups): Lookups {
  const merged = new Map(Object.entries(current).map(([tier, lookups]) => [tier, new Map(Object.entries(lookups))]));
  for (const [tier, lookups] of Object.entries(changes)) {
    const ofTier = merged.get(tier) ?? new Map<string, Lookup>();
    for (const [name, lookup] of Object.entries(lookups)) {
      const known = ofTier.get(name);
      if (known !== undefined && (lookup.version ?? '') <= (known.version ?? ''))
        throw new ServiceError(
          'input_invalid',
          `${tier}.${name}.version: found '${lookup.version ?? ''}', expected a string above '${known.version ?? ''}'`,
        );
      const factory = withSecretsOf(lookup.lookupExtractorFactory, known?.lookupExtractorFactory, `${tier}.${name}`);
      ofTier.set(name, { ...lookup, lookupExtractorFactory: factory });
    }
    if (ofTier.size > 0) merged.set(tier, ofTier);
  }
  return Object.fromEntries([...merged].map(([tier, lookups]) => [tier, Object.fromEntries(lookups)]));
}

/** A lookup to show: without passwords. */
export function shownLookup({ version, lookupExtractorFactory }: Lookup): Lookup {
  return { version, lookupExtractorFactory: withoutSecrets(lookupExtractorFactory) };
}

export function shownLookups(lookups: Readonly<Record<string, Lookup>>): Readonly<Record<string, Lookup>> {
  return Object.fromEntries(Object.entries(lookups).map(([name, lookup]) => [name, shownLookup(lookup)]));
}

/** Removes one lookup, or the whole tier; undefined when it does not exist. */
export function removeLookup(current: Lookups, tier: string, name: string | null): Lookups | undefined {
  const lookups = own(current, tier);
  if (lookups === undefined || (name !== null && own(lookups, name) === undefined)) return undefined;
  const rest = name === null ? {} : Object.fromEntries(Object.entries(lookups).filter(([each]) => each !== name));
  const others = Object.entries(current).filter(([each]) => each !== tier);
  return Object.fromEntries(Object.keys(rest).length === 0 ? others : [...others, [tier, rest]]);
}

function fieldsOf(value: unknown, path: string): ReadonlyMap<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ServiceError('input_invalid', `${path}: found ${describeValue(value)}, expected an object`);
  return new Map(Object.entries(value));
}
