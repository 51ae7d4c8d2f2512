import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertRefused } from '../../../refusal.js';
import { planText } from '../plan-text.js';
import { differencesOf } from '../small-tables.js';

const pivots = suite('PIVOT and UNPIVOT');

/** Ours, and the same as DuckDB writes it; rows are compared by position of their columns. */
const QUERIES: readonly (readonly [ours: string, duckdb: string])[] = [
  ...[
    "SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FOR city IN ('Oslo', 'Rio'))",
    "SELECT * FROM (SELECT city, added FROM edits) PIVOT (SUM(added) FOR city IN ('Oslo', 'Nowhere'))",
    "SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) AS s, COUNT(*) AS n FOR city IN ('Oslo' AS o, 'Rio' AS r))",
    'SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FOR city IN (\'Oslo\' o, \'Rio\' AS "r s")) AS p WHERE p.o > 3 OR "r s" IS NULL',
    'SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (MIN(added) FOR usr IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10))',
    "SELECT usr, COUNT(*) FROM edits PIVOT (SUM(added) FOR city IN ('Oslo' AS o)) WHERE o IS NOT NULL GROUP BY usr",
    "SELECT u.name, p.o FROM users u JOIN (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FOR city IN ('Oslo' AS o)) AS p ON p.usr = u.id",
    "SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FOR city IN ('Oslo', 'Rio')) AS p (a, b, c) ORDER BY c DESC, a, b LIMIT 3",
    'SELECT * FROM (SELECT usr, added, price FROM edits) UNPIVOT (v FOR k IN (added, price))',
    'SELECT k, SUM(v), COUNT(*) FROM edits UNPIVOT (v FOR k IN (added, usr)) GROUP BY k',
    "SELECT * FROM (SELECT city, added, usr FROM edits) UNPIVOT (v FOR k IN (added AS 'plus', usr AS 'who')) AS u WHERE u.k = 'plus'",
    'SELECT * FROM (SELECT city, added, usr FROM edits) UNPIVOT INCLUDE NULLS (v FOR k IN (added, usr))',
    'WITH e AS (SELECT city, added, usr FROM edits) SELECT x.k, u.name FROM e UNPIVOT (v FOR k IN (added, usr)) AS x JOIN users u ON x.v = u.id',
  ].map((sql) => [sql, sql] as const),
  [
    "SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (COUNT(*) FOR (city, usr) IN (('Oslo', 1) AS a, ('Rio', 2)))",
    "SELECT added, COUNT(*) FILTER (city = 'Oslo' AND usr = 1), COUNT(*) FILTER (city = 'Rio' AND usr = 2) FROM edits GROUP BY added",
  ],
  [
    "SELECT * FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FILTER (WHERE added > 5) AS s FOR city IN ('Oslo'))",
    "SELECT usr, SUM(added) FILTER (added > 5 AND city = 'Oslo') FROM edits GROUP BY usr",
  ],
  [
    "SELECT * FROM (SELECT city, added FROM edits) PIVOT (AVG(added) FOR city IN ('Rio', NULL))",
    "SELECT AVG(added) FILTER (city = 'Rio'), NULL FROM edits",
  ],
  [
    'SELECT * FROM (SELECT city, added, usr, price FROM edits) UNPIVOT ((a, b) FOR k IN ((added, usr), (price, usr)))',
    "SELECT city, 'added_usr', added, usr FROM edits WHERE added IS NOT NULL OR usr IS NOT NULL UNION ALL " +
      "SELECT city, 'price_usr', price, usr FROM edits WHERE price IS NOT NULL OR usr IS NOT NULL",
  ],
  [
    "SELECT k, n, v FROM (SELECT added, usr FROM edits) UNPIVOT INCLUDING NULLS (v FOR (k, n) IN (added AS ('a', 1), usr AS ('u', 2)))",
    "SELECT 'a', 1, added FROM edits UNION ALL SELECT 'u', 2, usr FROM edits",
  ],
  [
    "SELECT k, SUM(v) FROM (SELECT city, usr, added FROM edits) PIVOT (SUM(added) FOR city IN ('Oslo' AS o, 'Rio' AS r)) UNPIVOT (v FOR k IN (o, r)) GROUP BY k",
    "SELECT lower(left(city, 1)), SUM(added) FROM edits WHERE city IN ('Oslo', 'Rio') GROUP BY 1",
  ],
];

pivots('give the rows DuckDB gives, with all rules and with none', async () => assert.is(await differencesOf(QUERIES), ''));

const NAMES: readonly { readonly sql: string; readonly columns: string }[] = [
  { sql: "(SELECT page, added FROM wiki) PIVOT (SUM(added) FOR page IN ('a', 'b c' AS b))", columns: "'a' BIGINT, b BIGINT" },
  {
    sql: "(SELECT page, city, added FROM wiki) PIVOT (SUM(added) AS s, MAX(added) m FOR page IN ('a' AS x, 'b'))",
    columns: "city VARCHAR, x_s BIGINT, x_m BIGINT, 'b'_s BIGINT, 'b'_m BIGINT",
  },
  {
    sql: "(SELECT page, city, added FROM wiki) PIVOT (COUNT(*) FOR (page, added) IN (('a', -1), ('b', 2) AS b2))",
    columns: "city VARCHAR, 'a'_-1 BIGINT, b2 BIGINT",
  },
  { sql: "(SELECT __time, page FROM wiki) PIVOT (COUNT(*) FOR page IN ('a' AS a))", columns: '__time TIMESTAMP, a BIGINT' },
  { sql: '(SELECT page, added, price FROM wiki) UNPIVOT (v FOR k IN (added, price))', columns: 'page VARCHAR, k VARCHAR, v DOUBLE' },
  { sql: '(SELECT page, added FROM wiki) UNPIVOT (v FOR k IN (added AS 7))', columns: 'page VARCHAR, k INTEGER, v BIGINT' },
];
for (const { sql, columns } of NAMES)
  pivots(`the columns of ${sql}`, () => assert.is(planText(`SELECT * FROM ${sql}`).split('→ ').at(-1), columns));

const REFUSED: readonly { readonly sql: string; readonly code?: string; readonly says: RegExp }[] = [
  { sql: "SELECT * FROM wiki PIVOT (added FOR page IN ('a'))", says: /^line 1, column 27: PIVOT takes calls of aggregate functions/ },
  { sql: "SELECT * FROM wiki PIVOT (UPPER(page) FOR page IN ('a'))", says: /column 27: PIVOT takes calls of aggregate/ },
  { sql: "SELECT * FROM wiki PIVOT (SUM(aded) FOR page IN ('a'))", says: /column 31: unknown column aded; did you mean added\?/ },
  { sql: "SELECT * FROM wiki PIVOT (SUM(added) FOR pag IN ('a'))", says: /column 42: unknown column pag; did you mean page\?/ },
  { sql: 'SELECT * FROM wiki PIVOT (SUM(added) FOR page IN (city))', says: /column 51: PIVOT takes literals/ },
  {
    sql: "SELECT * FROM wiki PIVOT (SUM(added) FOR (page, city) IN ('a'))",
    says: /column 59: PIVOT has 2 columns behind FOR and 1 values/,
  },
  { sql: "SELECT * FROM wiki PIVOT (SUM(added) FOR added IN ('x'))", says: /column 52: .*cannot be read as BIGINT/ },
  {
    sql: 'SELECT * FROM wiki PIVOT (SUM(added) FOR page)',
    code: 'sql_invalid',
    says: /column 46: expected IN \(\.\.\.\) after FOR in PIVOT, found \)/,
  },
  { sql: 'SELECT * FROM wiki PIVOT (SUM(added) FOR page IN ())', code: 'sql_invalid', says: /column 51: expected a value, found \)/ },
  {
    sql: "SELECT * FROM wiki PIVOT (SUM(added) FOR page IN ('a') x)",
    code: 'sql_invalid',
    says: /column 56: expected \) at the end of PIVOT, found x/,
  },
  { sql: "SELECT * FROM wiki PIVOT (FOR page IN ('a'))", code: 'sql_invalid', says: /column 27: expected an aggregate, found FOR/ },
  {
    sql: "SELECT * FROM wiki w PIVOT (SUM(added) FOR page IN ('a'))",
    code: 'sql_invalid',
    says: /column 22: PIVOT stands behind a table.*alias goes behind/,
  },
  { sql: "SELECT added PIVOT (SUM(added) FOR page IN ('a'))", code: 'sql_invalid', says: /column 14: PIVOT stands behind a table/ },
  { sql: "SELECT * FROM wiki PIVOT (SUM(added) FOR page IN ('a')) AS p (x)", says: /column 20: PIVOT gives \d+ columns, found 1 names/ },
  { sql: 'SELECT * FROM wiki UNPIVOT (v FOR k IN (added, nothing))', says: /column 48: unknown column nothing/ },
  { sql: 'SELECT * FROM wiki UNPIVOT (v FOR k IN (added, __time))', says: /column 48: UNPIVOT: v does not have one type/ },
  { sql: 'SELECT * FROM wiki UNPIVOT ((v, w) FOR k IN (added))', says: /column 46: UNPIVOT has 2 columns before FOR and 1 here/ },
  { sql: "SELECT * FROM wiki UNPIVOT (v FOR k IN (added AS ('a', 'b')))", says: /UNPIVOT has 1 columns behind FOR and 2 labels/ },
  { sql: 'SELECT * FROM wiki UNPIVOT (v FOR k IN (added AS page))', says: /column 50: UNPIVOT takes literals behind AS/ },
  { sql: 'SELECT * FROM wiki UNPIVOT (v FOR k IN (added + 1))', says: /column 41: UNPIVOT takes columns behind IN/ },
  {
    sql: 'SELECT * FROM wiki UNPIVOT (1 FOR k IN (added))',
    code: 'sql_invalid',
    says: /column 29: UNPIVOT takes the name of a column here/,
  },
  { sql: 'SELECT added FROM wiki UNPIVOT (v FOR k IN (added))', says: /column 8: unknown column added/ },
];
for (const { sql, code = 'sql_plan_invalid', says } of REFUSED)
  pivots(`${sql} is refused`, () => assertRefused(() => planText(sql), { code, says }));

pivots('PIVOT may name a column or a function that is not known', () => {
  assert.throws(() => planText('SELECT pivot(page) FROM wiki'), /unknown function PIVOT/);
  assert.match(planText('SELECT x.pivot FROM (SELECT page AS pivot FROM wiki) x'), /→ pivot VARCHAR/);
});
pivots.run();
