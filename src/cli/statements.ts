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

/** Whether text after the last semicolon is more than white space and comments. */
export function isBlank(text: string): boolean {
  return withoutComments(text) === '';
}

function withoutComments(text: string): string {
  return text.replace(/--[^\n]*(\n|$)|\/\*[\s\S]*?\*\//g, '').trim();
}
