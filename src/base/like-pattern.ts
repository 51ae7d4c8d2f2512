// Patterns of SQL LIKE.

import { ServiceError } from './errors.js';

/**
 * A SQL LIKE pattern, parsed: strings that must occur as they stand, `_` (one code point) and `%` (any run of them). Runs of
 * wildcards are in one order, `_` first and at most one `%`.
 */
export type LikePattern = readonly LikePart[];

type LikePart = string | typeof ONE | typeof ANY;
const ONE = Symbol('_');
const ANY = Symbol('%');

/** Bytes that do not occur in UTF-8 stand for the wildcards in what the kernel `dictionaryLike` takes. */
export const LIKE_ANY = 0xff;
export const LIKE_ONE = 0xfe;

/**
 * @param escape  one character (code point) that makes the next one literal, or null
 * @throws ServiceError `query_invalid` when the escape is not one character or ends the pattern
 */
export function parseLike(pattern: string, escape: string | null): LikePattern {
  if (escape !== null && [...escape].length !== 1)
    throw new ServiceError('query_invalid', `LIKE escape: found ${JSON.stringify(escape)}, expected one character`);
  const parts: LikePart[] = [];
  let literal = '';
  let ones = 0;
  let any = false;
  const flush = (): void => {
    if (literal !== '') parts.push(literal);
    for (; ones > 0; ones--) parts.push(ONE);
    if (any) parts.push(ANY);
    literal = '';
    any = false;
  };
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === escape) {
      escaped = true;
    } else if (!escaped && (character === '%' || character === '_')) {
      if (literal !== '') flush();
      if (character === '%') any = true;
      else ones++;
    } else {
      if (ones > 0 || any) flush();
      literal += character;
      escaped = false;
    }
  }
  if (escaped) throw new ServiceError('query_invalid', `LIKE pattern ${JSON.stringify(pattern)} ends with its escape character`);
  flush();
  return parts;
}

/** The pattern of strings that begin with `prefix` and have `text` behind it. */
export function containing(text: string, prefix = ''): LikePattern {
  const parts: LikePart[] = prefix === '' ? [ANY] : [prefix, ANY];
  return text === '' ? parts : [...parts, text, ANY];
}

/**
 * The string that all matches begin with, `''` for none. `isAll`: whatever begins with it matches.
 */
export function likePrefix([first, second, ...rest]: LikePattern): { readonly prefix: string; readonly isAll: boolean } {
  return { prefix: typeof first === 'string' ? first : '', isAll: typeof first === 'string' && second === ANY && rest.length === 0 };
}

/** The pattern as a test of one string, in time proportional to string × pattern at worst: on a mismatch only the last `%` gives way. */
export function likeTest(parts: LikePattern): (value: string) => boolean {
  return (value) => {
    let at = 0;
    let part = 0;
    let retryPart = -1;
    let retryAt = 0;
    for (;;) {
      const current = parts[part];
      if (current === undefined) {
        if (at === value.length) return true;
      } else if (current === ANY) {
        if (part === parts.length - 1) return true;
        retryPart = ++part;
        retryAt = at;
        continue;
      } else {
        const length = current === ONE ? characterLength(value, at) : value.startsWith(current, at) ? current.length : 0;
        if (length > 0) {
          at += length;
          part++;
          continue;
        }
      }
      if (retryPart < 0 || retryAt >= value.length) return false;
      retryAt += characterLength(value, retryAt);
      at = retryAt;
      part = retryPart;
    }
  };
}

/** The pattern for the kernel `dictionaryLike`: UTF-8 with `LIKE_ANY` and `LIKE_ONE` for the wildcards. */
export function likeBytes(parts: LikePattern): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part === ANY ? LIKE_ANY : LIKE_ONE))));
}

function characterLength(value: string, at: number): number {
  const codePoint = value.codePointAt(at);
  return codePoint === undefined ? 0 : codePoint > 0xffff ? 2 : 1;
}
