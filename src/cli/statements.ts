/**
 * Cuts typed text at the semicolons that are outside of quotes and comments. `SET key = value;` stays with the statement it is for.
 * @returns  whole statements without their semicolon, trimmed, empty ones left out; `rest`: what follows the last one
 */
export function splitStatements(text: string): { readonly statements: readonly string[]; readonly rest: string } {
  const statements: string[] = [];
  let begin = 0;
  let piece = 0;
  for (const { 0: token, index } of text.matchAll(/'(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;/g)) {
    if (token !== ';') continue;
    const isSetting = /^SET\s/i.test(withoutComments(text.slice(piece, index)));
    piece = index + 1;
    if (isSetting) continue;
    const statement = text.slice(begin, index).trim();
    if (statement !== '') statements.push(statement);
    begin = index + 1;
  }
  return { statements, rest: text.slice(begin) };
}

const TOKENS = /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\s*\n\s*/g;

/** The statement on one line: comments to the end of a line become comments in the middle of one, strings stay as they are. */
export function onOneLine(statement: string): string {
  return statement
    .replace(TOKENS, (token) => {
      if (token.startsWith('--')) return `/*${token.slice(2).replaceAll('*/', '* /')} */`;
      return /^\s/.test(token) ? ' ' : token;
    })
    .trim();
}

/** Whether the statement loads rows: such a statement becomes a task. */
export function isIngestion(statement: string): boolean {
  return /^(SET\s[^;]*;\s*)*(INSERT|REPLACE)\s/i.test(withoutComments(statement));
}

/** Whether text after the last semicolon is more than white space and comments. */
export function isBlank(text: string): boolean {
  return withoutComments(text) === '';
}

function withoutComments(text: string): string {
  return text.replace(/--[^\n]*(\n|$)|\/\*[\s\S]*?\*\//g, '').trim();
}
