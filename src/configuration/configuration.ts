// Reads the configuration from file, environment and command line, and checks it as a whole.

import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { getProperties } from 'properties-file';
import { ServiceError } from '../base/errors.js';
import { stringifyJson } from '../base/json.js';
import { createByName } from '../base/names.js';
import { nearestName } from '../base/nearest-name.js';
import { type Family, type Named, splitNamed } from './named-properties.js';
import { type NamedValues, readNamed, type Written } from './named-values.js';
import {
  isPropertyName,
  PROPERTIES,
  type PropertyName,
  type PropertyValue,
  portProperty,
  ROLES,
  type Role,
  tlsPortProperty,
} from './properties.js';
import { type Machine, type Property, type Resources, refuseValue } from './property.js';

/** Sources of the configuration, weakest first. */
export interface ConfigurationSources {
  /** Path of a `runtime.properties` file. */
  readonly file?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** `name=value` as given with --property. */
  readonly flags?: readonly string[];
  /** An unknown property is an error rather than a warning. */
  readonly strict?: boolean;
  readonly machine?: Machine;
}

/** The settings of a process: read and checked once, as a whole, at its start. */
export class Configuration {
  readonly #values: ReadonlyMap<PropertyName, unknown>;
  readonly #written: ReadonlyMap<string, Written>;
  readonly #named: NamedValues;
  /** One sentence for every property that was written and does not exist. */
  readonly warnings: readonly string[];

  private constructor(
    values: ReadonlyMap<PropertyName, unknown>,
    written: ReadonlyMap<string, Written>,
    named: NamedValues,
    warnings: readonly string[],
  ) {
    this.#values = values;
    this.#written = written;
    this.#named = named;
    this.warnings = warnings;
  }

  /** @throws ServiceError `input_invalid` naming the property, where it was written, what was found, what is accepted */
  static read(sources: ConfigurationSources = {}): Configuration {
    const machine = sources.machine ?? { cores: availableParallelism(), memoryBytes: totalmem() };
    const written = new Map<string, Written>();
    const warnings: string[] = [];
    for (const [name, value] of [
      ...fromFile(sources.file),
      ...fromEnvironment(sources.environment ?? {}),
      ...fromFlags(sources.flags ?? []),
    ]) {
      if (isPropertyName(name) || splitNamed(name) !== undefined) written.set(name, value);
      else warnings.push(unknownProperty(name, value.origin));
    }
    let resources: Resources = { ...machine, budgetBytes: machine.memoryBytes };
    const read = (name: PropertyName, base: string): unknown => {
      const property: Property<unknown> = PROPERTIES[name];
      const { defaultText } = property;
      const { text, origin } = written.get(name) ?? {
        text: typeof defaultText === 'string' ? defaultText : defaultText(resources),
        origin: 'default',
      };
      const value = property.read(text, base);
      if (value === undefined) throw refuseValue(name, property.isSecret === true ? '…' : text, property.accepts, origin);
      return value;
    };
    const dataDirectory = String(read('svc.data.directory', process.cwd()));
    resources = { ...resources, budgetBytes: Number(read('svc.memory.bytes', dataDirectory)) };
    const values = new Map<PropertyName, unknown>();
    for (const name of Object.keys(PROPERTIES).filter(isPropertyName)) {
      values.set(name, name === 'svc.data.directory' ? dataDirectory : read(name, dataDirectory));
    }
    const named = readNamed(written, (property) => values.get(property) as readonly string[], dataDirectory);
    const all = [...warnings, ...named.warnings];
    if (sources.strict === true && all.length > 0) throw new ServiceError('input_invalid', all.join('\n'));
    const configuration = new Configuration(values, written, named, all);
    configuration.#check();
    return configuration;
  }

  get<Name extends PropertyName>(name: Name): PropertyValue<Name> {
    // Every value in the map was made by the `read` of its own row of the table.
    return this.#values.get(name) as PropertyValue<Name>;
  }

  /** The authenticators of the chain, or the authorizers, in their order. */
  named<Of extends Family>(family: Of): readonly Named<Of>[] {
    return this.#named[family];
  }

  /** Port of a role, offset included. */
  port(role: Role): number {
    return this.get(portProperty(role)) + this.get('svc.portOffset');
  }

  /** Port of a role with TLS, offset included. */
  tlsPort(role: Role): number {
    return this.get(tlsPortProperty(role)) + this.get('svc.portOffset');
  }

  /** Roles of this process in the order of `ROLES`, without repeats. */
  roles(): readonly Role[] {
    const wanted = this.get('svc.roles');
    return ROLES.filter((role) => wanted.includes(role));
  }

  /** Properties for `/status/properties`: every property with the value in force (absolute paths), without hidden ones. */
  visibleProperties(): Readonly<Record<string, string>> {
    const hidden = this.get('svc.server.hiddenProperties').map((fragment) => fragment.toLowerCase());
    const shown = createByName<string>();
    for (const [name, value] of [...this.#values, ...this.#named.shown]) {
      const isSecret = isPropertyName(name) && (PROPERTIES[name] as Property<unknown>).isSecret === true;
      if (isSecret || hidden.some((fragment) => name.toLowerCase().includes(fragment))) continue;
      shown[name] = typeof value === 'string' ? value : stringifyJson(value);
    }
    return shown;
  }

  /** The words that differ from the defaults, as `name=value`: a child process reads the same configuration from them. */
  toFlags(): readonly string[] {
    const base = this.get('svc.data.directory');
    return [...this.#written].map(([name, { text }]) => `${name}=${name === 'svc.data.directory' ? base : text}`);
  }

  /** Checks that concern several properties. */
  #check(): void {
    const known: readonly string[] = ROLES;
    const stranger = this.get('svc.roles').find((role) => !known.includes(role));
    const origin = this.#written.get('svc.roles')?.origin ?? 'default';
    if (stranger !== undefined) throw refuseValue('svc.roles', stranger, `roles out of ${ROLES.join(', ')}`, origin);
    if (this.roles().length === 0) throw refuseValue('svc.roles', '', 'at least one role', origin);
    const word = this.get('svc.server.http.apiName');
    if (!/^[a-z][a-z0-9-]*$/.test(word)) {
      throw refuseValue(
        'svc.server.http.apiName',
        word,
        'a lower-case word',
        this.#written.get('svc.server.http.apiName')?.origin ?? 'default',
      );
    }
    for (const role of this.roles()) {
      if (Math.max(this.port(role), this.tlsPort(role)) > 65535)
        throw refuseValue(
          'svc.portOffset',
          String(this.get('svc.portOffset')),
          `an offset that keeps the port of ${role} below 65536`,
          'with its port',
        );
    }
  }
}

function* fromFile(file: string | undefined): Iterable<[string, Written]> {
  if (file === undefined) return;
  const path = resolve(file);
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ServiceError(
      'input_invalid',
      `cannot read the configuration file ${path}: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
  for (const [name, text] of Object.entries(getProperties(content))) yield [name, { text, origin: path }];
}

/** `svc_processing_numThreads` sets `svc.processing.numThreads`. */
function* fromEnvironment(environment: Readonly<Record<string, string | undefined>>): Iterable<[string, Written]> {
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith('svc_') || text === undefined) continue;
    yield [variable.replaceAll('_', '.'), { text, origin: `environment variable ${variable}` }];
  }
}

function* fromFlags(flags: readonly string[]): Iterable<[string, Written]> {
  for (const flag of flags) {
    const at = flag.indexOf('=');
    if (at <= 0) throw new ServiceError('input_invalid', `--property: found '${flag}', expected name=value`);
    yield [flag.slice(0, at).trim(), { text: flag.slice(at + 1), origin: '--property' }];
  }
}

function unknownProperty(name: string, origin: string): string {
  const nearest = nearestName(name, Object.keys(PROPERTIES));
  return `unknown property ${name} (${origin}) has no effect${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}
