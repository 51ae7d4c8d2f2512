// Paths into nested data: JSONPath and jq syntax, parsed once for all users.

import { ServiceError } from '../base/errors.js';
import { own } from '../base/names.js';

/** One step into nested data: a member of an object, or an element of an array; a negative index counts from the end. */
export type PathPart = { readonly kind: 'field'; readonly name: string } | { readonly kind: 'element'; readonly index: number };

export type Path = readonly PathPart[];

const PARTS_MAX = 500;

/** `.name`, `['name']`, `["name"]` or `[number]`; quotes inside of names are escaped with a backslash. */
const JSON_PATH_PART = /\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|\[(-?\d{1,10})\]/sy;

/**
 * The JSONPath subset: `$` for the whole, then members and elements. `$.` is the whole as well.
 * @throws ServiceError `query_invalid` naming the column of the mistake
 */
export function parseJsonPath(text: string): Path {
  if (!text.startsWith('$')) throw refusal('JSONPath', text, 0, '"$"');
  return text === '$.' ? [] : parseParts('JSONPath', text, 1, JSON_PATH_PART);
}

/** `.name`, `."name"`, `.["name"]`, `["name"]`, `.[number]` or `[number]`; `?` behind a part changes nothing. */
const JQ_PART = /(?:\.([^.[\]"'?|,\s]+)|\."((?:[^"\\]|\\.)*)"|\.?\[["']((?:[^"'\\]|\\.)*)["']\]|\.?\[(-?\d{1,10})\])\??/sy;

/**
 * The jq subset: `.` for the whole, then members and elements.
 * @throws ServiceError `query_invalid` naming the column of the mistake
 */
export function parseJqPath(text: string): Path {
  if (!text.startsWith('.')) throw refusal('jq path', text, 0, '"."');
  return text === '.' ? [] : parseParts('jq path', text, 0, JQ_PART);
}

function parseParts(what: string, text: string, start: number, pattern: RegExp): Path {
  const parts: PathPart[] = [];
  for (let at = start; at < text.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) throw refusal(what, text, at, 'a member or an element');
    if (parts.length === PARTS_MAX) throw new ServiceError('query_invalid', `${what} "${shortened(text)}": more than ${PARTS_MAX} parts`);
    const [, plain, quoted, bracketed, index] = found;
    const name = plain ?? (quoted ?? bracketed)?.replace(/\\(.)/gs, '$1');
    parts.push(name === undefined ? { kind: 'element', index: Number(index) } : { kind: 'field', name });
  }
  return parts;
}

function refusal(what: string, text: string, at: number, expected: string): ServiceError {
  const found = at >= text.length ? 'the end' : `"${text.slice(at, at + 10)}"`;
  return new ServiceError('query_invalid', `${what} "${shortened(text)}": found ${found} at column ${at + 1}; expected ${expected}`);
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
