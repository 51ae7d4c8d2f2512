type Token = { readonly kind: 'any' } | { readonly kind: 'one' } | { readonly kind: 'text'; readonly text: string };

/**
 * A SQL LIKE pattern as a test: `%` any text, `_` one character (code point), `escape` before either makes it plain.
 * Takes time proportional to text × pattern at worst: on a mismatch only the last `%` gives way.
 */
export function compileLike(pattern: string, escape: string | null): (text: string) => boolean {
  const tokens = tokenize(pattern, escape);
  return (text) => {
    let at = 0;
    let token = 0;
    let retryToken = -1;
    let retryAt = 0;
    for (;;) {
      const current = tokens[token];
      if (current === undefined) {
        if (at === text.length) return true;
      } else if (current.kind === 'any') {
        if (token === tokens.length - 1) return true;
        retryToken = ++token;
        retryAt = at;
        continue;
      } else {
        const length = current.kind === 'one' ? characterLength(text, at) : text.startsWith(current.text, at) ? current.text.length : 0;
        if (length > 0) {
          at += length;
          token++;
          continue;
        }
      }
      if (retryToken < 0 || retryAt >= text.length) return false;
      retryAt += characterLength(text, retryAt);
      at = retryAt;
      token = retryToken;
    }
  };
}

function tokenize(pattern: string, escape: string | null): readonly Token[] {
  const tokens: Token[] = [];
  let text = '';
  const flush = (): void => {
    if (text !== '') tokens.push({ kind: 'text', text });
    text = '';
  };
  const characters = [...pattern];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? '';
    const next = characters[index + 1];
    if (character === escape && next !== undefined) {
      text += next;
      index++;
    } else if (character === '%' || character === '_') {
      flush();
      if (character === '_') tokens.push({ kind: 'one' });
      else if (tokens.at(-1)?.kind !== 'any') tokens.push({ kind: 'any' });
    } else text += character;
  }
  flush();
  return tokens;
}

function characterLength(text: string, at: number): number {
  const codePoint = text.codePointAt(at);
  return codePoint === undefined ? 0 : codePoint > 0xffff ? 2 : 1;
}
