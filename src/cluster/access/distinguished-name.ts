// Distinguished names of a directory, compared part by part.

/** Parts from the left, each in one spelling, so that equal ones are the same string. */
export type DistinguishedName = readonly string[];

/**
 * Reads the string form of RFC 4514: parts separated by commas, of `attribute=value` joined by `+`; values with escapes (`\,`, `\2c`) or
 * in quotes. Upper and lower case, and blanks around parts, make no difference. Undefined for anything else.
 */
export function parseDistinguishedName(text: string): DistinguishedName | undefined {
  if (text.trim() === '') return undefined;
  const parts = splitOutside(text, ',').map((part) => splitOutside(part, '+').map(pairOf));
  return parts.every((pairs) => pairs.every((pair) => pair !== undefined)) ? parts.map((pairs) => pairs.sort().join('+')) : undefined;
}

/**
 * Whether a group is meant by a pattern: one name, `*,` before its end, or `,*` after its beginning. Undefined for a pattern that
 * cannot be read.
 */
export function groupPattern(pattern: string): ((name: DistinguishedName) => boolean) | undefined {
  const text = pattern.trim();
  const isEnd = text.startsWith('*,');
  const isBeginning = !isEnd && text.endsWith(',*');
  const wanted = parseDistinguishedName(isEnd ? text.slice(2) : isBeginning ? text.slice(0, -2) : text);
  if (wanted === undefined) return undefined;
  const { length } = wanted;
  return (name) => {
    if (isEnd || isBeginning ? name.length < length : name.length !== length) return false;
    const from = isEnd ? name.length - length : 0;
    return wanted.every((part, at) => part === name[from + at]);
  };
}

/** Cuts at a separator that is neither escaped nor in quotes. */
function splitOutside(text: string, separator: string): string[] {
  const parts: string[] = [];
  let begin = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '\\') at++;
    else if (sign === '"') quoted = !quoted;
    else if (sign === separator && !quoted) {
      parts.push(text.slice(begin, at));
      begin = at + 1;
    }
  }
  parts.push(text.slice(begin));
  return parts;
}

function pairOf(text: string): string | undefined {
  const [, attribute, written] = /^\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*(.*)$/s.exec(text) ?? [];
  if (attribute === undefined || written === undefined) return undefined;
  const value = valueOf(withoutBlanksBehind(written));
  return value === undefined ? undefined : `${attribute.toLowerCase()}=${JSON.stringify(value.toLowerCase())}`;
}

/** A blank at the end that is escaped belongs to the value. */
function withoutBlanksBehind(text: string): string {
  const trimmed = text.trimEnd();
  const escapes = /\\*$/.exec(trimmed)?.[0].length ?? 0;
  return escapes % 2 === 1 ? `${trimmed}${text[trimmed.length] ?? ''}` : trimmed;
}

/** The value as UTF-8 text, escapes taken out. */
function valueOf(text: string): string | undefined {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1];
  const body = quoted ?? text;
  if (quoted === undefined && /^"|[^\\]"/.test(text)) return undefined;
  const bytes: Buffer[] = [];
  for (const [, hex, escaped, plain] of body.matchAll(/\\([0-9a-fA-F]{2})|\\(.)|([^\\]+|\\$)/gsu)) {
    if (plain === '\\') return undefined;
    bytes.push(hex === undefined ? Buffer.from(escaped ?? plain ?? '') : Buffer.from(hex, 'hex'));
  }
  return Buffer.concat(bytes).toString('utf8');
}
