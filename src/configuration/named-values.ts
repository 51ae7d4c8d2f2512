// Reads and checks the properties of authenticators and authorizers.

import { own } from '../base/names.js';
import { nearestName } from '../base/nearest-name.js';
import { type Family, NAMED_PROPERTIES, type Named, splitNamed } from './named-properties.js';
import { type Property, refuseValue } from './property.js';

export interface Written {
  readonly text: string;
  /** Origin of the value, for messages: `runtime.properties`, `environment variable svc_host`, `--property`. */
  readonly origin: string;
}

export type NamedValues = { readonly [Of in Family]: readonly Named<Of>[] } & {
  /** Values that may be shown, by the whole name of their property. */
  readonly shown: ReadonlyMap<string, unknown>;
  readonly warnings: readonly string[];
};

/**
 * @param names  the list of names in a property such as `svc.auth.authorizers`
 * @throws ServiceError `input_invalid` naming the property, where it was written, what was found, what is accepted
 */
export function readNamed(
  written: ReadonlyMap<string, Written>,
  names: (property: (typeof NAMED_PROPERTIES)[Family]['names']) => readonly string[],
  dataDirectory: string,
): NamedValues {
  const shown = new Map<string, unknown>();
  const readFamily = <Of extends Family>(family: Of): readonly Named<Of>[] => {
    const { types, properties, names: listed } = NAMED_PROPERTIES[family];
    const table: Readonly<Record<string, Property<unknown>>> = properties;
    return names(listed).map((name, at, all) => {
      const origin = written.get(listed)?.origin ?? 'default';
      if (!/^[^.\s/]+$/.test(name) || all.indexOf(name) !== at) throw refuseValue(listed, name, 'names without dots, each once', origin);
      const values = new Map<string, unknown>([['name', name]]);
      for (const [property, row] of Object.entries(table)) {
        const full = `${family}.${name}.${property}`;
        const given = written.get(full);
        const text = given?.text ?? String(row.defaultText);
        const value = property === 'type' ? knownType(full, text || name, types, given?.origin ?? origin) : row.read(text, dataDirectory);
        if (value === undefined) throw refuseValue(full, row.isSecret === true ? '…' : text, row.accepts, given?.origin ?? 'default');
        values.set(property, value);
        if (given !== undefined && row.isSecret !== true) shown.set(full, value);
      }
      // Each value was made by the `read` of its own row of the table.
      return Object.fromEntries(values) as unknown as Named<Of>;
    });
  };
  const authenticators = readFamily('svc.auth.authenticator');
  const authorizers = readFamily('svc.auth.authorizer');
  return {
    'svc.auth.authenticator': authenticators,
    'svc.auth.authorizer': authorizers,
    shown,
    warnings: [...written].flatMap(([full, { origin }]) => warningOf(full, origin, names)),
  };
}

/** Types of the original that are known by name, with the reason why they are not here. */
const REFUSED_TYPES: Readonly<Record<string, string>> = {
  trustedDomain: 'trustedDomain believes the name that an address claims, which whoever answers for it may choose',
  kerberos: 'kerberos is not there',
  pac4j: 'pac4j is not there',
};

function knownType(full: string, found: string, types: readonly string[], origin: string): string {
  if (types.includes(found)) return found;
  const reason = own(REFUSED_TYPES, found);
  throw refuseValue(full, found, `one of ${types.join(', ')}${reason === undefined ? '' : `; ${reason}`}`, origin);
}

/** A property that nobody reads: an unknown one, or of a name that is not in its list. */
function warningOf(
  full: string,
  origin: string,
  names: (property: (typeof NAMED_PROPERTIES)[Family]['names']) => readonly string[],
): string[] {
  const split = splitNamed(full);
  if (split === undefined) return [];
  const { family, name, property } = split;
  const { names: listed, properties } = NAMED_PROPERTIES[family];
  if (!Object.hasOwn(properties, property) && property !== 'name') {
    const nearest = nearestName(property, Object.keys(properties));
    return [
      `unknown property ${full} (${origin}) has no effect${nearest === undefined ? '' : `; did you mean ${family}.${name}.${nearest}?`}`,
    ];
  }
  return names(listed).includes(name) ? [] : [`property ${full} (${origin}) has no effect: ${listed} does not name ${name}`];
}
