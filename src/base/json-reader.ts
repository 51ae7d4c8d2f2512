// Reads unknown JSON field by field, with errors that name the field.

import { parseBytes } from './data-size.js';
import { type ErrorCode, ServiceError } from './errors.js';
import { describeValue } from './json.js';
import { own } from './names.js';
import { nearestName } from './nearest-name.js';

/** State shared by all readers of one JSON document: how its objects are read, and what was noticed on the way. */
export interface ReadContext {
  /** Code of every error of the document. */
  readonly code: ErrorCode;
  /** Name of the outermost object in messages; its path is empty. */
  readonly root: string;
  /** Unknown keys are accepted and listed rather than refused. */
  readonly lenient: boolean;
  /** Paths of unknown keys that were accepted. */
  readonly ignoredKeys: string[];
  /** Paths of known keys that have no effect. */
  readonly inertKeys: string[];
}

/** A context for one document. */
export function readContextOf(code: ErrorCode, root: string, lenient = false): ReadContext {
  return { code, root, lenient, ignoredKeys: [], inertKeys: [] };
}

/**
 * One object of a JSON document from outside. Reads its fields by name and type; every error names the path of the field,
 * what was found and what is accepted. A null counts as absent, because clients send it that way. `end` or `accept`
 * refuses unknown keys, with the nearest known name.
 */
export class ObjectReader {
  readonly path: string;
  readonly context: ReadContext;
  /** The fields as they were sent. */
  readonly members: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();

  constructor(value: unknown, path: string, context: ReadContext) {
    if (!isObject(value)) throw mismatch(context.code, path === '' ? context.root : path, 'an object', value);
    this.members = value;
    this.path = path;
    this.context = context;
  }

  /** The path of a field, for messages; '' is the object itself. */
  at(key: string): string {
    return key === '' ? this.path || this.context.root : this.path === '' ? key : `${this.path}.${key}`;
  }

  keys(): readonly string[] {
    return Object.keys(this.members);
  }

  /** The value as it was sent; undefined when absent or null. */
  raw(key: string): unknown {
    return this.rawOrNull(key) ?? undefined;
  }

  /** The value as it was sent; null differs from undefined, which means absent. */
  rawOrNull(key: string): unknown {
    this.#known.add(key);
    return own(this.members, key);
  }

  has(key: string): boolean {
    return this.raw(key) !== undefined;
  }

  optionalString(key: string): string | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== 'string') throw this.mismatch(key, 'a string');
    return value;
  }

  string(key: string): string {
    const value = this.optionalString(key);
    if (value === undefined) throw this.mismatch(key, 'a string');
    return value;
  }

  /** True and false, also as strings. */
  boolean(key: string, otherwise: boolean): boolean {
    const value = this.raw(key);
    if (value === undefined) return otherwise;
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    throw this.mismatch(key, 'true or false');
  }

  /** An integer, also as a string. Without `max`, larger values mean "no bound" and become the largest safe integer. */
  optionalInteger(key: string, min: number, max?: number): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number === 'bigint' && number > 0n && max === undefined) return Number.MAX_SAFE_INTEGER;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < min || (max !== undefined && number > max))
      throw this.mismatch(key, `an integer of at least ${min}${max === undefined ? '' : ` and at most ${max}`}`);
    return Math.min(number, Number.MAX_SAFE_INTEGER);
  }

  /** A number of bytes, also as text such as 64MiB; values beyond the largest safe integer mean "no bound". */
  optionalBytes(key: string): number | undefined {
    const value = this.raw(key);
    if (typeof value !== 'string' || /^-?\d+$/.test(value)) return this.optionalInteger(key, 0);
    const bytes = parseBytes(value);
    if (bytes === undefined) throw this.mismatch(key, 'a number of bytes such as 67108864 or 64MiB');
    return Math.min(bytes, Number.MAX_SAFE_INTEGER);
  }

  /** One of a few names, upper and lower case alike. */
  choice<Name extends string>(key: string, names: readonly Name[], otherwise?: Name): Name {
    const value = this.raw(key) ?? otherwise;
    const found = typeof value === 'string' ? names.find((name) => name.toLowerCase() === value.toLowerCase()) : undefined;
    if (found === undefined) throw this.mismatch(key, `one of ${names.join(', ')}`);
    return found;
  }

  /** The `type` field: one of `accepted`, case included. `documented` types are refused as not supported. */
  type<Type extends string>(accepted: readonly Type[], { otherwise, documented = [] }: TypeOptions<Type> = {}): Type {
    const value = this.raw('type') ?? otherwise;
    const found = accepted.find((type) => type === value);
    if (found !== undefined) return found;
    if (typeof value === 'string' && documented.includes(value)) throw this.unsupported('type', `accepted: ${accepted.join(', ')}`);
    const nearest = typeof value === 'string' ? nearestName(value, accepted) : undefined;
    throw this.mismatch('type', accepted.join(', '), nearest === undefined ? '' : `; did you mean "${nearest}"?`);
  }

  /** Elements as they were sent, for lists so long that a path for each would cost more than reading it. */
  array(key: string): readonly unknown[] {
    const value = this.raw(key) ?? [];
    if (!Array.isArray(value)) throw this.mismatch(key, 'an array');
    return value;
  }

  list<Item>(key: string, read: (value: unknown, path: string) => Item): Item[] {
    return this.array(key).map((item, index) => read(item, `${this.at(key)}[${index}]`));
  }

  strings(key: string): string[] {
    return this.list(key, (value, path) => {
      if (typeof value !== 'string') throw mismatch(this.context.code, path, 'a string', value);
      return value;
    });
  }

  stringsAndNulls(key: string): (string | null)[] {
    return this.list(key, (value, path) => {
      if (typeof value !== 'string' && value !== null) throw mismatch(this.context.code, path, 'a string or null', value);
      return value;
    });
  }

  object(key: string): ObjectReader {
    return this.reader(this.raw(key), this.at(key));
  }

  optionalObject(key: string): ObjectReader | undefined {
    return this.has(key) ? this.object(key) : undefined;
  }

  /** The elements of an array of objects. */
  objects(key: string): ObjectReader[] {
    return this.list(key, (value, path) => this.reader(value, path));
  }

  /** Another object of the same document. */
  reader(value: unknown, path: string): ObjectReader {
    return new ObjectReader(value, path, this.context);
  }

  /** Refuses a documented key that is not supported, unless it is absent. */
  refuseUnsupported(...keys: readonly string[]): void {
    for (const key of keys) if (this.has(key)) throw new ServiceError('unsupported', `${this.at(key)} is not supported`);
  }

  /** Accepts keys that have nothing to do. */
  ignore(...keys: readonly string[]): void {
    for (const key of keys) this.#known.add(key);
  }

  /**
   * Refuses every key but these and `type`.
   * @param inert  further keys, whose values have no effect
   */
  accept(keys: readonly string[], inert: readonly string[] = []): void {
    for (const key of inert) if (this.has(key)) this.context.inertKeys.push(this.at(key));
    this.#refuseUnknown(new Set(['type', ...keys, ...inert]), keys);
  }

  /** Refuses every key that was not read by now. */
  end(): void {
    this.#refuseUnknown(this.#known, [...this.#known]);
  }

  #refuseUnknown(known: ReadonlySet<string>, advertised: readonly string[]): void {
    for (const key of this.keys()) {
      if (known.has(key)) continue;
      if (this.context.lenient) {
        this.context.ignoredKeys.push(this.at(key));
        continue;
      }
      const nearest = nearestName(key, advertised);
      const hint = nearest === undefined ? `accepted: ${advertised.join(', ')}` : `did you mean "${nearest}"?`;
      throw new ServiceError(this.context.code, `${this.at('')}: unknown key "${key}"; ${hint}`);
    }
  }

  /** The error of a field with the wrong type or value. */
  mismatch(key: string, expected: string, hint = ''): ServiceError {
    return mismatch(this.context.code, this.at(key), expected, own(this.members, key), hint);
  }

  /** The error of a field that is wrong for a reason of its own. */
  invalid(key: string, message: string): ServiceError {
    return new ServiceError(this.context.code, `${this.at(key)}: ${message}`);
  }

  /** The error of a documented value that is not supported. */
  unsupported(key: string, instead = ''): ServiceError {
    const value = describeValue(own(this.members, key));
    return new ServiceError('unsupported', `${this.at(key)}: ${value} is not supported${instead === '' ? '' : `; ${instead}`}`);
  }
}

interface TypeOptions<Type> {
  readonly otherwise?: Type;
  readonly documented?: readonly string[];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The error that names a path, what was expected there and what was found. */
export function mismatch(code: ErrorCode, path: string, expected: string, found: unknown, hint = ''): ServiceError {
  return new ServiceError(code, `${path}: expected ${expected}, found ${describeValue(found)}${hint}`);
}
