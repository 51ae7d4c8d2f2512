import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertRefused } from '../../../refusal.js';
import { planText } from '../plan-text.js';
import { differencesOf } from '../small-tables.js';

const functions = suite('table functions');

const BOTH = '(SELECT * FROM edits UNION ALL BY NAME SELECT * FROM users)';
const APPENDED: readonly (readonly [ours: string, duckdb: string])[] = [
  ["SELECT city, usr, name FROM TABLE(APPEND('edits', 'users'))", `SELECT city, usr, name FROM ${BOTH}`],
  [
    "SELECT t.city, COUNT(*), SUM(added), COUNT(t.name) FROM TABLE(APPEND('edits', 'users')) AS t WHERE added > 3 OR score > 2 GROUP BY t.city",
    `SELECT t.city, COUNT(*), SUM(added), COUNT(t.name) FROM ${BOTH} AS t WHERE added > 3 OR score > 2 GROUP BY t.city`,
  ],
  [
    "SELECT MIN(__time), MAX(__time), COUNT(*) FROM TABLE(APPEND('users', 'none', 'edits')) WHERE __time >= TIMESTAMP '2024-02-28 06:00:00'",
    `SELECT MIN(__time), MAX(__time), COUNT(*) FROM ${BOTH} WHERE __time >= TIMESTAMP '2024-02-28 06:00:00'`,
  ],
  [
    "SELECT __time, id FROM TABLE(APPEND('users', 'edits')) ORDER BY __time DESC LIMIT 9",
    `SELECT __time, id FROM ${BOTH} ORDER BY __time DESC LIMIT 9`,
  ],
  ["SELECT COUNT(*) FROM TABLE(APPEND('none'))", 'SELECT COUNT(*) FROM none'],
  [
    "SELECT a.name, COUNT(*) FROM TABLE(APPEND('users', 'none')) a JOIN edits e ON a.id = e.usr GROUP BY a.name",
    'SELECT a.name, COUNT(*) FROM users a JOIN edits e ON a.id = e.usr GROUP BY a.name',
  ],
];

functions('APPEND gives the rows of all tables, with all rules and with none', async () => assert.is(await differencesOf(APPENDED), ''));

functions('EXTERN takes its arguments by position or by name', () => {
  const planned = [
    `EXTERN('{"type":"inline"}', '{"type":"json"}')) (x VARCHAR)`,
    `EXTERN(inputFormat => '{"type":"json"}', inputSource => '{"type":"inline"}')) EXTEND (x VARCHAR)`,
    `EXTERN(signature => '[{"name":"x","type":"string"}]', inputFormat => '{"type":"json"}', inputSource => '{"type":"inline"}'))`,
  ].map((call) => planText(`SELECT x FROM TABLE(${call}`));
  assert.is(new Set(planned).size, 1);
});

const REFUSED: readonly { readonly from: string; readonly code?: string; readonly says: RegExp }[] = [
  { from: "TABLE(APPEND('wiki', 'wikki'))", says: /column 36: unknown table wikki; did you mean wiki\?/ },
  { from: 'TABLE(APPEND(wiki))', says: /column 28: APPEND takes the names of tables as literal strings/ },
  { from: 'TABLE(APPEND())', code: 'sql_invalid', says: /APPEND takes the names of tables/ },
  { from: "TABLE(APPEND('wiki')) AS t (a, b)", code: 'unsupported', says: /column names after a table/ },
  {
    from: "TABLE(EXTERN(inputSource => '{}', '{}'))",
    code: 'sql_invalid',
    says: /column 49: EXTERN takes all of its arguments by name, or none/,
  },
  { from: "TABLE(EXTERN(inputSorce => '{}'))", says: /column 28: EXTERN has no argument inputSorce; did you mean inputSource\?/ },
  { from: "TABLE(EXTERN(inputSource => '{}', inputSource => '{}'))", says: /column 49: EXTERN has the argument inputSource twice/ },
  { from: "TABLE(EXTERN(inputSource => '{}'))", says: /EXTERN needs the argument inputFormat/ },
  { from: "TABLE(LOCALFILES(baseDir => '/tmp'))", code: 'unsupported', says: /the table function LOCALFILES/ },
];
for (const { from, code = 'sql_plan_invalid', says } of REFUSED)
  functions(`${from} is refused`, () => assertRefused(() => planText(`SELECT * FROM ${from}`), { code, says }));
functions.run();
