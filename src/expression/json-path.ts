// Paths into nested data: JSONPath and jq syntax, parsed once for all users.

import { type ErrorCode, ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';

/** One step into nested data: a member of an object, or an element of an array; a negative index counts from the end. */
export type PathPart = { readonly kind: 'field'; readonly name: string } | { readonly kind: 'element'; readonly index: number };

export type Path = readonly PathPart[];

const PARTS_MAX = 500;

/** `.name`, `['name']`, `["name"]` or `[number]`; quotes inside of names are escaped with a backslash. */
const JSON_PATH_PART = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[(-?\d{1,10})\]/sy;

/** Syntax of paths in one language, and its error messages. */
interface Dialect {
  /** Named in messages. */
  readonly name: string;
  readonly part: RegExp;
  /** Names without quotes that are accepted; left out: all that `part` finds. */
  readonly plainName?: RegExp;
  /** Code of what is behind the first character and not a part. */
  readonly code: ErrorCode;
}

const JSON_PATH: Dialect = { name: 'JSONPath', part: JSON_PATH_PART, code: 'query_invalid' };

/**
 * The JSONPath subset: `$` for the whole, then members and elements. `$.` is the whole as well.
 * @throws ServiceError `query_invalid` naming the column of the mistake
 */
export function parseJsonPath(text: string): Path {
  if (!text.startsWith('$')) throw refusal(JSON_PATH, text, 0, '"$"');
  return text === '$.' ? [] : parseParts(JSON_PATH, text, 1);
}

/**
 * The same subset as paths of input are written (`flattenSpec`): there a name without quotes may also be a wildcard or a
 * function, which are not answered.
 * @param field  named in messages
 * @throws ServiceError `input_invalid`; `unsupported` for wildcards, filters, slices, functions and `..`
 */
export function parseInputPath(text: string, field: string): Path {
  const dialect: Dialect = { name: `${field}: JSONPath`, part: JSON_PATH_PART, plainName: /^[^*@()?'"\s]+$/, code: 'unsupported' };
  if (!text.startsWith('$')) throw refusal({ ...dialect, code: 'input_invalid' }, text, 0, '"$"');
  return parseParts(dialect, text, 1);
}

/** `.name`, `."name"`, `.["name"]`, `["name"]`, `.[number]` or `[number]`; `?` behind a part changes nothing. */
const JQ_PART = /(?:\.([^.[\]"'?|,\s]+)|\."((?:[^"\\]|\\.)*)"|\.?\[["']((?:[^"'\\]|\\.)*)["']\]|\.?\[(-?\d{1,10})\])\??/sy;

const JQ_PATH: Dialect = { name: 'jq path', part: JQ_PART, code: 'query_invalid' };

/**
 * The jq subset: `.` for the whole, then members and elements.
 * @throws ServiceError `query_invalid` naming the column of the mistake
 */
export function parseJqPath(text: string): Path {
  if (!text.startsWith('.')) throw refusal(JQ_PATH, text, 0, '"."');
  return text === '.' ? [] : parseParts(JQ_PATH, text, 0);
}

function parseParts(dialect: Dialect, text: string, start: number): Path {
  const { name: what, part: pattern, plainName, code } = dialect;
  const parts: PathPart[] = [];
  for (let at = start; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    const [, plain, quoted, bracketed, index] = found ?? [];
    if (found === null || (plain !== undefined && plainName?.test(plain) === false))
      throw refusal(dialect, text, at, 'a member or an element');
    if (parts.length === PARTS_MAX) throw new ServiceError(code, `${what} "${shortened(text)}": more than ${PARTS_MAX} parts`);
    const name = plain ?? (quoted ?? bracketed)?.replace(/\\(.)/gs, '$1');
    parts.push(name === undefined ? { kind: 'element', index: Number(index) } : { kind: 'field', name });
  }
  return parts;
}

function refusal({ name: what, code }: Dialect, text: string, at: number, expected: string): ServiceError {
  const found = at >= text.length ? 'the end' : `"${text.slice(at, at + 10)}"`;
  return new ServiceError(code, `${what} "${shortened(text)}": found ${found} at column ${at + 1}; expected ${expected}`);
}

function shortened(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}

/** The path as `json_paths` writes it: `$.a[0]['b c']`. */
export function printJsonPath(path: Path): string {
  let text = '$';
  for (const part of path) {
    if (part.kind === 'element') text += `[${part.index}]`;
    else text += /^[^.[\]'"\\\s]+$/.test(part.name) ? `.${part.name}` : `['${part.name.replace(/[\\']/g, '\\$&')}']`;
  }
  return text;
}

/** The value at a path in parsed JSON; undefined where there is none. */
export function findAtPath(data: unknown, path: Path): unknown {
  let current = data;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    if (part.kind === 'element') {
      if (!Array.isArray(current)) return undefined;
      current = current.at(part.index);
    } else {
      if (Array.isArray(current) || !Object.hasOwn(current, part.name)) return undefined;
      current = own(current as Readonly<Record<string, unknown>>, part.name);
    }
  }
  return current;
}
