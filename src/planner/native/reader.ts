import { ServiceError } from '../../base/errors.js';
import { parseInterval } from '../../base/interval.js';
import { describeValue } from '../../base/json.js';
import { own } from '../../base/names.js';
import { nearestName } from '../../base/nearest-name.js';
import type { Interval } from '../../model/interval.js';

/** Collected while one body is read. */
export interface ReadNotes {
  /** Unknown keys are accepted and listed rather than refused. */
  readonly lenient: boolean;
  /** Paths of unknown keys that were accepted. */
  readonly ignoredKeys: string[];
}

export function refuse(path: string, expected: string, found: unknown): never {
  throw new ServiceError('query_invalid', `${path}: expected ${expected}, found ${describeValue(found)}`);
}

/**
 * One object of a query body. Reads its fields by name and type, and at `end` refuses the keys nobody asked for, by
 * name and with the nearest known one. A null counts as left out, as clients send it so.
 */
export class ObjectReader {
  readonly path: string;
  readonly notes: ReadNotes;
  readonly #fields: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();

  constructor(value: unknown, path: string, notes: ReadNotes) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(path === '' ? 'query' : path, 'an object', value);
    this.#fields = value as Readonly<Record<string, unknown>>;
    this.path = path;
    this.notes = notes;
  }

  /** The path of a field, for messages. */
  at(key: string): string {
    return this.path === '' ? key : `${this.path}.${key}`;
  }

  raw(key: string): unknown {
    this.#known.add(key);
    const value = Object.hasOwn(this.#fields, key) ? own(this.#fields, key) : undefined;
    return value ?? undefined;
  }

  has(key: string): boolean {
    return this.raw(key) !== undefined;
  }

  /** As `raw`, telling a null from what was left out. */
  rawOrNull(key: string): unknown {
    this.#known.add(key);
    return Object.hasOwn(this.#fields, key) ? own(this.#fields, key) : undefined;
  }

  optionalString(key: string): string | undefined {
    const value = this.raw(key);
    if (value !== undefined && typeof value !== 'string') refuse(this.at(key), 'a string', value);
    return value;
  }

  string(key: string): string {
    return this.optionalString(key) ?? refuse(this.at(key), 'a string', undefined);
  }

  /** True and false, also as text. */
  boolean(key: string, otherwise: boolean): boolean {
    const value = this.raw(key);
    if (value === undefined) return otherwise;
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    return refuse(this.at(key), 'true or false', value);
  }

  optionalInteger(key: string, minimum: number): number | undefined {
    const value = this.raw(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    // A bound no row count reaches is no bound; clients send the largest LONG for it.
    if (typeof number === 'bigint' && number > 0n) return Number.MAX_SAFE_INTEGER;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < minimum)
      refuse(this.at(key), `an integer of at least ${minimum}`, value);
    return Math.min(number, Number.MAX_SAFE_INTEGER);
  }

  choice<Name extends string>(key: string, names: readonly Name[], otherwise: Name | undefined): Name {
    return readChoice(this.raw(key) ?? otherwise, this.at(key), names);
  }

  /** Elements as they are, for lists so long that a path for each would cost more than reading it. */
  array(key: string): readonly unknown[] {
    const value = this.raw(key) ?? [];
    return Array.isArray(value) ? value : refuse(this.at(key), 'an array', value);
  }

  list<Item>(key: string, read: (value: unknown, path: string) => Item): Item[] {
    return this.array(key).map((item, index) => read(item, `${this.at(key)}[${index}]`));
  }

  strings(key: string): string[] {
    return this.array(key).map((value, index) =>
      typeof value === 'string' ? value : refuse(`${this.at(key)}[${index}]`, 'a string', value),
    );
  }

  object(key: string): ObjectReader {
    return new ObjectReader(this.raw(key), this.at(key), this.notes);
  }

  optionalObject(key: string): ObjectReader | undefined {
    return this.raw(key) === undefined ? undefined : this.object(key);
  }

  /** Another object, at a path of its own. */
  reader(value: unknown, path: string): ObjectReader {
    return new ObjectReader(value, path, this.notes);
  }

  /** Names a documented key that is not supported unless it is left out. */
  unsupported(key: string): void {
    if (this.has(key)) throw new ServiceError('unsupported', `${this.at(key)} is not supported`);
  }

  /** Call last: every key that was not asked for by now is unknown. */
  end(): void {
    for (const key of Object.keys(this.#fields)) {
      if (this.#known.has(key)) continue;
      if (this.notes.lenient) {
        this.notes.ignoredKeys.push(this.at(key));
        continue;
      }
      const nearest = nearestName(key, this.#known);
      const hint = nearest === undefined ? `accepted: ${[...this.#known].join(', ')}` : `did you mean "${nearest}"?`;
      throw new ServiceError('query_invalid', `${this.path === '' ? 'query' : this.path}: unknown key "${key}"; ${hint}`);
    }
  }
}

/** One of a few names, upper and lower case alike. */
export function readChoice<Name extends string>(value: unknown, path: string, names: readonly Name[]): Name {
  const found = typeof value === 'string' ? names.find((name) => name.toLowerCase() === value.toLowerCase()) : undefined;
  return found ?? refuse(path, `one of ${names.join(', ')}`, value);
}

/** Reads an object by its `type` from a table; names outside of it are told apart into documented and unknown ones. */
export function readByType<Result>(
  reader: ObjectReader,
  table: Readonly<Record<string, (reader: ObjectReader) => Result>>,
  unsupported: readonly string[],
  what: string,
): Result {
  const type = reader.string('type');
  const read = Object.hasOwn(table, type) ? own(table, type) : undefined;
  if (read === undefined) {
    if (unsupported.includes(type)) {
      const why = type === 'javascript' ? ': JavaScript is disabled, and code that comes with a query is never run' : '';
      throw new ServiceError('unsupported', `${reader.at('type')}: ${what} "${type}" is not supported${why}`);
    }
    const nearest = nearestName(type, Object.keys(table));
    throw new ServiceError(
      'query_invalid',
      `${reader.at('type')}: unknown ${what} "${type}"${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}; accepted: ${Object.keys(table).join(', ')}`,
    );
  }
  const result = read(reader);
  reader.end();
  return result;
}

/** `intervals` of a query: one text or an array of texts, or `{type: 'intervals', intervals: [...]}`. */
export function readIntervals(reader: ObjectReader, key: string): readonly Interval[] | undefined {
  const value = reader.raw(key);
  if (value === undefined) return undefined;
  return readIntervalList(value, reader.at(key), reader);
}

function readIntervalList(value: unknown, path: string, reader: ObjectReader): readonly Interval[] {
  if (typeof value === 'string') return value.split(',').map((text) => parseInterval(text.trim()) ?? refuseInterval(path, text));
  if (Array.isArray(value))
    return value.map(
      (text: unknown, index) => (typeof text === 'string' ? parseInterval(text) : undefined) ?? refuseInterval(`${path}[${index}]`, text),
    );
  const spec = reader.reader(value, path);
  const type = spec.choice('type', ['intervals', 'LegacySegmentSpec', 'segments'], undefined);
  if (type === 'segments') throw new ServiceError('unsupported', `${spec.at('type')}: intervals by segment are not supported`);
  const intervals = readIntervalList(
    spec.raw('intervals') ?? refuse(spec.at('intervals'), 'an array of intervals', undefined),
    spec.at('intervals'),
    spec,
  );
  spec.end();
  return intervals;
}

function refuseInterval(path: string, value: unknown): never {
  return refuse(path, 'an ISO 8601 interval such as "2015-09-12/2015-09-13" that does not end before it starts', value);
}
