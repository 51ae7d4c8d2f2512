// Kinds of properties (text, integer, size, duration, list) and how their values are read.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseBytes } from '../base/data-size.js';
import { ServiceError } from '../base/errors.js';
import { parseJsonWithDoubles } from '../base/json.js';
import { own } from '../base/names.js';
import { type Period, parsePeriod } from '../base/time.js';
import { canonicalHost, parseAddressRange } from './network-names.js';

/** Machine facts that automatic defaults derive from; passed in, so that tests choose them. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** Resources that defaults are shares of: the machine, and the part of its memory that the process may take. */
export interface Resources extends Machine {
  readonly budgetBytes: number;
}

/** One row of the table of properties. Defaults are texts, read by the same parser as what people write. */
export interface Property<Value> {
  /** Named in error messages and in the reference: "an integer from 1 to 65535". */
  readonly accepts: string;
  readonly defaultText: string | ((resources: Resources) => string);
  readonly meaning: string;
  /** Never shown, and not repeated in messages. */
  readonly isSecret?: true;
  /** `undefined` when the text is not acceptable. `dataDirectory` is absolute. */
  read(text: string, dataDirectory: string): Value | undefined;
}

type Default = string | ((resources: Resources) => string);

export function text(defaultText: Default, meaning: string): Property<string> {
  return { accepts: 'a string', defaultText, meaning, read: (written) => written };
}

/** A string of a form that `accepts` describes. */
export function formed(pattern: RegExp, accepts: string, defaultText: string, meaning: string): Property<string> {
  return { accepts, defaultText, meaning, read: (written) => (pattern.test(written) ? written : undefined) };
}

export function integer(range: { readonly min: number; readonly max: number }, defaultText: Default, meaning: string): Property<number> {
  return {
    accepts: `an integer from ${range.min} to ${range.max}`,
    defaultText,
    meaning,
    read(written) {
      const value = /^-?\d{1,15}$/.test(written) ? Number(written) : Number.NaN;
      return value >= range.min && value <= range.max ? value : undefined;
    },
  };
}

/** May be left out: an empty text is `null`, and that is the default. */
export function optional<Value>(property: Property<Value>): Property<Value | null> {
  return {
    accepts: `${property.accepts}, or nothing`,
    defaultText: '',
    meaning: property.meaning,
    ...(property.isSecret === true ? { isSecret: true } : {}),
    read: (written, dataDirectory) => (written === '' ? null : property.read(written, dataDirectory)),
  };
}

/** A documented property that nothing here can follow: any value is refused. */
export function refused(reason: string): Property<null> {
  return {
    accepts: `nothing: ${reason}`,
    defaultText: '',
    meaning: `Refused: ${reason}.`,
    read: (written) => (written === '' ? null : undefined),
  };
}

/**
 * A password: itself, or a JSON object that says where it is: `{"type":"environment","variable":"V"}`,
 * `{"type":"file","path":"P"}` (its first line), `{"type":"default","password":"P"}`. One that is empty there is missing.
 */
export function secret(meaning: string): Property<string> {
  return {
    accepts: 'a password, or where it stands: {"type":"environment","variable":"V"} of a variable that is set, {"type":"file","path":"P"}',
    defaultText: '',
    meaning,
    isSecret: true,
    read: (written, dataDirectory) => (/^\s*\{/.test(written) ? readProvider(written, dataDirectory) || undefined : written),
  };
}

function readProvider(written: string, dataDirectory: string): string | undefined {
  try {
    const provider = parseJsonWithDoubles(written) as Readonly<Record<string, unknown>>;
    const field = (name: string): string | undefined => {
      const value = own(provider, name);
      return typeof value === 'string' ? value : undefined;
    };
    const [variable, file] = [field('variable'), field('path')];
    switch (field('type')) {
      case 'default':
        return field('password');
      case 'environment':
        return variable === undefined ? undefined : own(process.env, variable);
      case 'file':
        return file === undefined ? undefined : readFileSync(resolve(dataDirectory, file), 'utf8').split(/\r?\n/, 1)[0];
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/** A JSON object of numbers above 0. */
export function limits(meaning: string): Property<ReadonlyMap<string, number>> {
  return {
    accepts: 'a JSON object of integers from 1, such as {"reports":2}',
    defaultText: '{}',
    meaning,
    read(written) {
      try {
        const value: unknown = parseJsonWithDoubles(written);
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
        const entries = Object.entries(value).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]) && entry[1] >= 1);
        return entries.length === Object.keys(value).length ? new Map(entries) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

export function bytes(range: { readonly min: number; readonly max: number }, defaultText: Default, meaning: string): Property<number> {
  return {
    accepts: `a number of bytes from ${range.min} to ${range.max}, such as 67108864 or 64MiB`,
    defaultText,
    meaning,
    read(written) {
      const value = parseBytes(written);
      return value !== undefined && value >= range.min && value <= range.max ? value : undefined;
    },
  };
}

/** Milliseconds, written as a number or as an ISO period of days and less. */
export function milliseconds(
  range: { readonly min: number; readonly max: number },
  defaultText: Default,
  meaning: string,
): Property<number> {
  return {
    accepts: `milliseconds from ${range.min} to ${range.max}, such as 300000 or PT5M`,
    defaultText,
    meaning,
    read(written) {
      const value = /^\d{1,15}$/.test(written) ? Number(written) : readIsoPeriod(written);
      return value !== undefined && value >= range.min && value <= range.max ? value : undefined;
    },
  };
}

function readIsoPeriod(written: string): number | undefined {
  const parts = /^P(?:(\d{1,6})D)?(?:T(?=\d)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6}(?:\.\d{1,3})?)S)?)?$/.exec(written);
  if (parts === null || written === 'P') return undefined;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0'] = parts;
  return ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60_000 + Math.round(Number(seconds) * 1000);
}

/** An ISO 8601 period; it may be negative. */
export function period(defaultText: Default, meaning: string): Property<Period> {
  return { accepts: 'an ISO 8601 period such as P90D or -PT1H', defaultText, meaning, read: parsePeriod };
}

export function flag(defaultText: 'true' | 'false', meaning: string): Property<boolean> {
  return {
    accepts: 'true or false',
    defaultText,
    meaning,
    read: (written) => (written === 'true' ? true : written === 'false' ? false : undefined),
  };
}

export function choice<const Name extends string>(names: readonly Name[], defaultText: Name, meaning: string): Property<Name> {
  return { accepts: `one of ${names.join(', ')}`, defaultText, meaning, read: (written) => names.find((name) => name === written) };
}

/** A JSON array of texts, or texts separated by commas. */
export function texts(defaultText: string, meaning: string): Property<readonly string[]> {
  return { accepts: 'a JSON array of strings, or strings separated by commas', defaultText, meaning, read: readTexts };
}

/** A list of some of `names`. */
export function choices<const Name extends string>(
  names: readonly Name[],
  defaultText: string,
  meaning: string,
): Property<readonly Name[]> {
  const isName = (each: string): each is Name => names.some((name) => name === each);
  return {
    accepts: `a JSON array of ${names.join(', ')}, or some of them separated by commas`,
    defaultText,
    meaning,
    read(written) {
      const found = readTexts(written)?.map((each) => each.toLowerCase());
      return found?.every(isName) ? found : undefined;
    },
  };
}

/** Hosts as `canonicalHost` spells them; `*.` before a name stands for every name below it. */
export function hosts(defaultText: string, meaning: string): Property<readonly string[]> {
  return {
    accepts: 'a JSON array of hosts without ports, such as ["data.example.com","*.example.org"]',
    defaultText,
    meaning,
    read(written) {
      const found = readTexts(written)?.map((each) => {
        const [, wildcard = '', host = ''] = /^(\*\.)?(.*)$/.exec(each) ?? [];
        const canonical = host.includes('*') ? undefined : canonicalHost(host);
        return canonical === undefined ? undefined : wildcard + canonical;
      });
      return found?.every((each) => each !== undefined) ? found : undefined;
    },
  };
}

export function addressRanges(defaultText: string, meaning: string): Property<readonly string[]> {
  return {
    accepts: 'a JSON array of addresses and ranges, such as ["10.0.0.0/8","fd00::1"]',
    defaultText,
    meaning,
    read(written) {
      const found = readTexts(written);
      return found?.every((each) => parseAddressRange(each) !== undefined) ? found : undefined;
    },
  };
}

/** An absolute path; what is written is relative to the data directory. */
export function path(defaultText: string, meaning: string, resolve: (base: string, path: string) => string): Property<string> {
  return {
    accepts: 'a path, absolute or relative to the data directory',
    defaultText,
    meaning,
    read: (written, dataDirectory) => (written === '' ? undefined : resolve(dataDirectory, written)),
  };
}

export function paths(defaultText: string, meaning: string, resolve: (base: string, path: string) => string): Property<readonly string[]> {
  return {
    accepts: 'a JSON array of paths, absolute or relative to the data directory',
    defaultText,
    meaning,
    read: (written, dataDirectory) => readTexts(written)?.map((each) => resolve(dataDirectory, each)),
  };
}

function readTexts(written: string): readonly string[] | undefined {
  if (!written.trimStart().startsWith('[')) {
    return written
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  try {
    const list: unknown = parseJsonWithDoubles(written);
    return Array.isArray(list) && list.every((each) => typeof each === 'string') ? list : undefined;
  } catch {
    return undefined;
  }
}

/** The error of a value that its property refuses; `origin` says where it was written. */
export function refuseValue(name: string, found: string, accepts: string, origin: string): ServiceError {
  return new ServiceError('input_invalid', `property ${name} (${origin}): found '${found}', expected ${accepts}`);
}

export const MEBIBYTE = 2 ** 20;
export const GIBIBYTE = 2 ** 30;
export const DAY_MS = 86_400_000;
/** The most that one WebAssembly memory can address. */
export const BANK_BYTES_MAX = 4 * GIBIBYTE;

/** Bytes as a default is written. */
export const wholeMebibytes = (count: number): string => String(Math.floor(count / MEBIBYTE) * MEBIBYTE);
