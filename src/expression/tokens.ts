import { ServiceError } from '../base/errors.js';

type TokenKind = 'long' | 'double' | 'string' | 'name' | 'quotedName' | 'symbol' | 'end';

/** A word of the native expression language. */
export interface Token {
  readonly kind: TokenKind;
  /** Without quotes and escapes. */
  readonly text: string;
  readonly at: number;
}

const SPACE = /\s*/y;
const TOKEN =
  /(?:(?<double>(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+)|(?<long>\d+)|'(?<string>[^'\\]*(?:\\.[^'\\]*)*)'|(?<name>[A-Za-z_$][\w$]*)|"(?<quotedName>[^"\\]*(?:\\.[^"\\]*)*)"|(?<symbol>->|&&|\|\||[<>=!]=|[-+*/%^<>!(),[\]{}:;?.@]))/sy;

/** @throws ServiceError `query_invalid` with the column of what is no word; the last token is of kind `end` */
export function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    SPACE.lastIndex = at;
    at += SPACE.exec(text)?.[0].length ?? 0;
    if (at === text.length) return [...tokens, { kind: 'end', text: '', at }];
    TOKEN.lastIndex = at;
    const groups = TOKEN.exec(text)?.groups;
    const found = groups === undefined ? undefined : Object.entries(groups).find(([, part]) => part !== undefined);
    if (found === undefined) throw mistake(text, at, 'what is no name, number, string or operator');
    const [kind, part] = found;
    tokens.push({ kind: kind as TokenKind, text: kind === 'string' || kind === 'quotedName' ? unescape(part) : part, at });
    at = TOKEN.lastIndex;
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, character: string) =>
    hex === undefined ? (ESCAPES[character] ?? character) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** What was found where in an expression; `expected` says what is accepted there. */
export function mistake(text: string, at: number, found: string, expected = ''): ServiceError {
  return new ServiceError(
    'query_invalid',
    `expression "${text.length > 200 ? `${text.slice(0, 200)}...` : text}": found ${found} at column ${at + 1}${expected === '' ? '' : `; expected ${expected}`}`,
  );
}
