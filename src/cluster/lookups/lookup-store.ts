// The lookups that a process has loaded for queries.

import { ServiceError } from '../../base/errors.js';
import { describeValue, stringifyJson } from '../../base/json.js';

import { nearestName } from '../../base/nearest-name.js';
import type { Frame } from '../../model/frame.js';
import type { Lookup } from '../coordinator/lookups.js';

/** A lookup as a process holds it for queries. */
export interface LoadedLookup {
  readonly lookup: Lookup;
  readonly values: ReadonlyMap<string, string>;
}

/** The lookups of one process, replaced as a whole when the coordinator's configuration changes. */
export class LookupStore {
  #loaded: ReadonlyMap<string, LoadedLookup> = new Map();
  #failed: ReadonlyMap<string, string> = new Map();

  /** Replaces the lookups by the configured ones. One that cannot be loaded is listed in `failed`; its older version stays. */
  replace(configured: Readonly<Record<string, Lookup>>): void {
    const loaded = new Map<string, LoadedLookup>();
    const failed = new Map<string, string>();
    for (const [name, lookup] of Object.entries(configured)) {
      const known = this.#loaded.get(name);
      try {
        const isSame = known !== undefined && stringifyJson(known.lookup) === stringifyJson(lookup);
        loaded.set(name, isSame ? known : { lookup, values: loadLookup(lookup, name) });
      } catch (error) {
        failed.set(name, error instanceof Error ? error.message : String(error));
        if (known !== undefined) loaded.set(name, known);
      }
    }
    this.#loaded = loaded;
    this.#failed = failed;
  }

  get loaded(): ReadonlyMap<string, LoadedLookup> {
    return this.#loaded;
  }

  /** Why a lookup is not loaded, by name. */
  get failed(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#failed);
  }

  /** @throws ServiceError `query_invalid` for a name that is not loaded */
  values(name: string): ReadonlyMap<string, string> {
    const loaded = this.#loaded.get(name);
    if (loaded !== undefined) return loaded.values;
    const nearest = nearestName(name, this.#loaded.keys());
    const reason = this.#failed.get(name);
    const hint = reason ?? (nearest === undefined ? 'no lookup of that name is loaded' : `did you mean "${nearest}"?`);
    throw new ServiceError('query_invalid', `unknown lookup "${name}": ${hint}`);
  }

  /** Columns `k` and `v`, a row for each key. */
  rows(name: string): Frame {
    const values = this.values(name);
    const ids = Uint32Array.from({ length: values.size }, (_, row) => row);
    return {
      rowCount: values.size,
      columns: [
        { kind: 'string', name: 'k', ids, dictionary: [...values.keys()] },
        { kind: 'string', name: 'v', ids, dictionary: [...values.values()] },
      ],
    };
  }
}

/** Numbers and truth values are their strings. @throws ServiceError `unsupported` or `input_invalid` naming the field */
function loadLookup(lookup: Lookup, name: string): ReadonlyMap<string, string> {
  const { type, map, isOneToOne: _, injective: __, ...others } = lookup.lookupExtractorFactory;
  const path = `${name}.lookupExtractorFactory`;
  if (type !== 'map')
    throw new ServiceError('unsupported', `${path}.type: lookups of type "${String(type)}" are not supported; accepted: map`);
  const [stranger] = Object.keys(others);
  if (stranger !== undefined)
    throw new ServiceError('input_invalid', `${path}.${stranger}: unknown field; accepted are type, map and isOneToOne`);
  if (typeof map !== 'object' || map === null || Array.isArray(map))
    throw new ServiceError('input_invalid', `${path}.map: expected an object`);
  const values = new Map<string, string>();
  for (const [key, value] of Object.entries(map)) {
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') {
      values.set(key, String(value));
      continue;
    }
    if (typeof value !== 'string')
      throw new ServiceError('input_invalid', `${path}.map.${key}: expected a string, found ${describeValue(value)}`);
    values.set(key, value);
  }
  return values;
}
