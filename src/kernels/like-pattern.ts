import { ServiceError } from '../base/errors.js';

/** Bytes that no UTF-8 text contains stand for the wildcards of a compiled pattern. */
export const LIKE_ANY = 0xff; // `%`: any text, also none
export const LIKE_ONE = 0xfe; // `_`: one code point

/**
 * Compiles a SQL LIKE pattern for the kernel `dictionaryLike`: the UTF-8 bytes of the literal parts with `LIKE_ANY`
 * and `LIKE_ONE` for wildcards. Runs of wildcards are brought into one order (`_` first, then one `%`), so that the
 * kernel recognises equality, prefix, suffix and contains.
 * @param escape  one character that makes the next one literal, or null
 * @throws ServiceError `query_invalid` when the escape is not one character or ends the pattern
 */
export function compileLikePattern(pattern: string, escape: string | null): Uint8Array {
  if (escape !== null && [...escape].length !== 1) {
    throw new ServiceError('query_invalid', `LIKE escape: found ${JSON.stringify(escape)}, expected one character`);
  }
  const bytes: number[] = [];
  let literal = '';
  let ones = 0;
  let any = false;
  const flushLiteral = (): void => {
    for (const byte of Buffer.from(literal)) bytes.push(byte);
    literal = '';
  };
  const flushWildcards = (): void => {
    for (; ones > 0; ones--) bytes.push(LIKE_ONE);
    if (any) bytes.push(LIKE_ANY);
    any = false;
  };
  let escaped = false;
  for (const character of pattern) {
    if (!escaped && character === escape) {
      escaped = true;
      continue;
    }
    if (!escaped && (character === '%' || character === '_')) {
      flushLiteral();
      if (character === '%') any = true;
      else ones++;
      continue;
    }
    flushWildcards();
    literal += character;
    escaped = false;
  }
  if (escaped) throw new ServiceError('query_invalid', `LIKE pattern ${JSON.stringify(pattern)} ends with its escape character`);
  flushLiteral();
  flushWildcards();
  return Uint8Array.from(bytes);
}
