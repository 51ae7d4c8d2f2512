import { ServiceError } from '../../base/errors.js';
import { own } from '../../base/names.js';
import { nearestName } from '../../base/nearest-name.js';

/**
 * One JSON object of a spec, read field by field. Every error names the path of the field, what was found and what
 * is accepted; null counts as absent. `accept` refuses every other key.
 */
export class Fields {
  readonly path: string;
  /** As they were sent. */
  readonly members: Readonly<Record<string, unknown>>;

  constructor(value: unknown, path: string) {
    this.path = path;
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new ServiceError('input_invalid', `${path || 'the task'}: expected an object, found ${shown(value)}`);
    this.members = value as Readonly<Record<string, unknown>>;
  }

  keys(): readonly string[] {
    return Object.keys(this.members);
  }

  /** `type` is always accepted. `inert`: keys that have nothing left to do. */
  accept(keys: readonly string[], inert: readonly string[] = []): void {
    for (const key of this.keys()) {
      if (key === 'type' || keys.includes(key) || inert.includes(key)) continue;
      const nearest = nearestName(key, keys);
      throw new ServiceError(
        'input_invalid',
        `${this.at(key)}: unknown key${nearest === undefined ? '' : `; did you mean "${nearest}"?`} Accepted: ${keys.join(', ')}`,
      );
    }
  }

  has(key: string): boolean {
    return this.value(key) !== null;
  }

  value(key: string): unknown {
    return Object.hasOwn(this.members, key) ? (own(this.members, key) ?? null) : null;
  }

  /** The `type` member: one of `accepted`; `known` ones are refused as not supported. */
  type<Type extends string>(accepted: readonly Type[], known: readonly string[] = []): Type {
    return this.choice('type', accepted, undefined, known);
  }

  choice<Choice extends string>(key: string, accepted: readonly Choice[], otherwise?: Choice, known: readonly string[] = []): Choice {
    const value = this.value(key);
    if (value === null && otherwise !== undefined) return otherwise;
    const found = accepted.find((choice) => choice === value);
    if (found !== undefined) return found;
    if (typeof value === 'string' && known.includes(value)) throw this.unsupported(key, `accepted: ${accepted.join(', ')}`);
    const nearest = typeof value === 'string' ? nearestName(value, accepted) : undefined;
    throw this.invalid(
      key,
      `expected ${accepted.join(', ')}, found ${shown(value)}${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
    );
  }

  string(key: string): string {
    const value = this.value(key);
    if (typeof value !== 'string') throw this.invalid(key, `expected text, found ${shown(value)}`);
    return value;
  }

  optionalString(key: string): string | null {
    return this.has(key) ? this.string(key) : null;
  }

  boolean(key: string, otherwise: boolean): boolean {
    const value = this.value(key) ?? otherwise;
    if (typeof value === 'boolean') return value;
    if (value === 'true' || value === 'false') return value === 'true';
    throw this.invalid(key, `expected true or false, found ${shown(value)}`);
  }

  integer<Otherwise extends number | null>(
    key: string,
    otherwise: Otherwise,
    bounds: { readonly min: number; readonly max?: number },
  ): number | Otherwise {
    const value = this.value(key);
    if (value === null) return otherwise;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    const { min, max = Number.MAX_SAFE_INTEGER } = bounds;
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= min && number <= max) return number;
    throw this.invalid(
      key,
      `expected an integer of at least ${min}${bounds.max === undefined ? '' : ` and at most ${max}`}, found ${shown(value)}`,
    );
  }

  array(key: string): readonly unknown[] {
    const value = this.value(key) ?? [];
    if (!Array.isArray(value)) throw this.invalid(key, `expected an array, found ${shown(value)}`);
    return value;
  }

  /** An element of an array, as an object. */
  element(key: string, position: number): Fields {
    return new Fields(this.array(key)[position], `${this.at(key)}[${position}]`);
  }

  elements(key: string): readonly Fields[] {
    return this.array(key).map((_, position) => this.element(key, position));
  }

  strings(key: string): readonly string[] {
    return this.array(key).map((value, position) => {
      if (typeof value !== 'string') throw this.invalid(`${key}[${position}]`, `expected text, found ${shown(value)}`);
      return value;
    });
  }

  object(key: string): Fields {
    if (!this.has(key)) throw this.invalid(key, 'is missing; expected an object');
    return new Fields(this.value(key), this.at(key));
  }

  optionalObject(key: string): Fields | null {
    return this.has(key) ? this.object(key) : null;
  }

  /** `{type: "default", password}`; other providers would read the environment of the server. */
  passwordProvider(): string {
    this.type(['default'], ['environment']);
    this.accept(['password']);
    return this.string('password');
  }

  invalid(key: string, message: string): ServiceError {
    return new ServiceError('input_invalid', `${this.at(key)}: ${message}`);
  }

  unsupported(key: string, instead = ''): ServiceError {
    return new ServiceError(
      'unsupported',
      `${this.at(key)}: ${shown(this.value(key))} is not supported${instead === '' ? '' : `; ${instead}`}`,
    );
  }

  at(key: string): string {
    return key === '' ? this.path : this.path === '' ? key : `${this.path}.${key}`;
  }
}

export function shown(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  const text = JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member)) ?? typeof value;
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
