// String literals, with and without Unicode escapes.

import type { Token } from '../lexer.js';
import type { SourceText } from '../source-text.js';

/**
 * The value that a string token stands for, in either of its forms: 'it''s', or U&'\00e9'.
 * @throws ServiceError `sql_invalid` for an escape that names no character
 */
export function stringValue(source: SourceText, { text, start }: Token): string {
  const written = text.slice(text.indexOf("'") + 1, -1);
  const value = written.includes("''") ? written.replaceAll("''", "'") : written;
  return text.startsWith("'") ? value : decodeUnicode(source, start, value);
}

/** `\00e9`, `\+01f600` and `\\` of U&'...'. */
function decodeUnicode(source: SourceText, at: number, text: string): string {
  return text.replace(/\\(?:\+([0-9a-fA-F]{6})|([0-9a-fA-F]{4})|\\)/g, (escape, long: string | undefined, short: string | undefined) => {
    const digits = long ?? short;
    if (digits === undefined) return '\\';
    const point = Number.parseInt(digits, 16);
    if (point > 0x10ffff) throw source.error('sql_invalid', at, `${escape} names no character`);
    return String.fromCodePoint(point);
  });
}
