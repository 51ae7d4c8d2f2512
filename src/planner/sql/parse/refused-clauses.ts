// Refuses clauses by name that are known but not answered.

import type { TokenStream } from './token-stream.js';

/** Words in a row that begin what is not answered here; the first of each is a reserved word of SQL, or says nothing else before the next. */
const REFUSED: readonly (readonly [words: readonly string[], what: string])[] = [
  [['TABLESAMPLE'], 'TABLESAMPLE'],
  [['MATCH_RECOGNIZE', '('], 'MATCH_RECOGNIZE'],
  [['FOR', 'SYSTEM_TIME'], 'FOR SYSTEM_TIME'],
  [['ASOF', 'JOIN'], 'ASOF JOIN'],
  [['WITHIN', 'DISTINCT'], 'WITHIN DISTINCT'],
  [['WITH', 'TIES'], 'WITH TIES'],
  [['NEXT', 'VALUE', 'FOR'], 'NEXT VALUE FOR'],
  [['CURRENT', 'VALUE', 'FOR'], 'CURRENT VALUE FOR'],
  [['MULTISET', '['], 'MULTISET'],
  [['MULTISET', '('], 'MULTISET'],
  [['PLAN', 'AS'], 'EXPLAIN PLAN AS'],
  [['PLAN', 'WITH'], 'EXPLAIN PLAN WITH'],
  [['PLAN', 'WITHOUT'], 'EXPLAIN PLAN WITHOUT'],
  [['PLAN', 'EXCLUDING'], 'EXPLAIN PLAN EXCLUDING'],
  [['PLAN', 'INCLUDING'], 'EXPLAIN PLAN INCLUDING'],
];
const BY_FIRST_WORD = new Map(REFUSED.map(([[first = '']]) => [first, REFUSED.filter(([[other]]) => other === first)]));

/** Statements of SQL that are neither queries nor ingestion; the parser knows some of them, and would name the others by a word in them. */
const STATEMENTS: ReadonlySet<string> = new Set(
  'ALTER ANALYZE BEGIN CALL COMMIT COPY CREATE DELETE DESCRIBE DROP GRANT MERGE RESET REVOKE ROLLBACK SHOW TRUNCATE UPDATE UPSERT USE'.split(
    ' ',
  ),
);

/** Statements that are told apart by their second word. */
const OF_SECOND_WORD: ReadonlySet<string> = new Set(['ALTER', 'CREATE', 'DROP', 'SHOW', 'TRUNCATE']);

/**
 * Refuses what would be read as something else, or fail at a word that says little, at the place where it stands.
 * @throws ServiceError `unsupported`
 */
export function refuseByName(stream: TokenStream): void {
  const { source, tokens } = stream;
  if (STATEMENTS.has(stream.text(0)) && stream.isWord(0)) {
    const second = OF_SECOND_WORD.has(stream.text(0)) && stream.isWord(1) ? ` ${stream.text(1)}` : '';
    throw source.unsupported(stream.start(0), `the statement ${stream.text(0)}${second}`);
  }
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (token?.kind === 'symbol' && token.text === '{') throw source.unsupported(token.start, 'the JDBC escape {...}');
    const candidates = token?.kind === 'word' && !stream.is(index - 1, '.') ? BY_FIRST_WORD.get(token.text) : undefined;
    const found = candidates?.find(([words]) => stream.is(index, ...words));
    if (found === undefined || (found[0][0] === 'PLAN' && index !== 1)) continue;
    throw source.unsupported(stream.start(index), found[1]);
  }
}
