import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../../../case-count.js';
import { answer, difference, memory, type Oracle, openOracle } from '../small-tables.js';

/** Drawn trees of set operations, with orders and limits of their branches, in FROM and in conditions, against DuckDB. */
const sets = suite('set operations, against DuckDB');
let oracle: Oracle;

sets.before(async () => {
  oracle = await openOracle();
});
sets.after(() => {
  oracle.close();
  assert.is(memory.allocatedBytes, 0);
});

/** Two columns: a text and a number. Orders are total as far as the selected columns tell. */
const BRANCHES = [
  'SELECT city, usr FROM edits',
  'SELECT city, id FROM users',
  'SELECT city, added FROM edits WHERE added < 6',
  'SELECT DISTINCT city, usr FROM edits',
  'SELECT city, COUNT(*) FROM edits GROUP BY city',
  'SELECT name, score FROM users',
  'SELECT city, x FROM none',
  "VALUES ('Oslo', 1), ('Oslo', 1), (NULL, 2.5)",
  'SELECT NULL, NULL',
  "SELECT 'Rio', 3",
  '(SELECT city, usr FROM edits ORDER BY usr NULLS LAST, city LIMIT 12)',
  '(SELECT city, id FROM users ORDER BY id DESC NULLS LAST LIMIT 5 OFFSET 2)',
  'SELECT city, RANK() OVER (ORDER BY city) FROM users',
];
const operator = fc.constantFrom('UNION', 'UNION ALL', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL');
/** Two columns of whole numbers, which nulls are among. */
const NUMBER_BRANCHES = [
  'SELECT usr, added FROM edits',
  'SELECT usr, usr FROM edits WHERE added < 6',
  'SELECT id, id FROM users',
  'SELECT DISTINCT usr, added % 3 FROM edits',
  'SELECT usr, COUNT(*) FROM edits GROUP BY usr',
  'VALUES (1, 1), (1, 1), (NULL, 2)',
  'SELECT NULL, 1',
  '(SELECT usr, added FROM edits ORDER BY usr NULLS LAST, added LIMIT 12)',
  'SELECT id, RANK() OVER (ORDER BY city) FROM users',
];
/** Two columns of doubles, zeros of both signs, numbers that are none and nulls among them. */
const DOUBLE_BRANCHES = [
  'SELECT price, score FROM edits JOIN users ON usr = id',
  'SELECT price, price * 0 FROM edits',
  'SELECT price * 0, price FROM edits WHERE price < 2',
  'SELECT score, score FROM users',
  "SELECT price, CASE WHEN price > 3 THEN CAST('NaN' AS DOUBLE) ELSE score END FROM edits LEFT JOIN users ON usr = id",
  "SELECT CASE WHEN score > 3 THEN CAST('NaN' AS DOUBLE) END, score FROM users",
];
const treeOf = (branches: readonly string[]) =>
  fc.letrec<{ tree: string; branch: string; node: string }>((tie) => ({
    tree: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('branch'), tie('node'), tie('node')),
    branch: fc.constantFrom(...branches),
    node: fc.tuple(tie('tree'), operator, tie('tree'), fc.boolean(), fc.boolean()).map(([left, between, right, isLeft, isRight]) => {
      const inside = (part: string, wanted: boolean): string => (wanted || /\b(VALUES|LIMIT)\b/.test(part) ? `(${part})` : part);
      return `${inside(left, isLeft)} ${between} ${inside(right, isRight)}`;
    }),
  })).tree;
const around = fc.constantFrom(
  (query: string) => query,
  (query: string) => `SELECT * FROM (${query}) AS t(a, b) ORDER BY a, b`,
  (query: string) => `SELECT a, COUNT(*), SUM(b) FROM (${query}) AS t(a, b) GROUP BY a`,
  (query: string) => `WITH t(a, b) AS (${query}) SELECT DISTINCT b FROM t WHERE a IS NOT NULL UNION ALL SELECT MAX(b) FROM t`,
  (query: string) => `SELECT id FROM users WHERE id IN (SELECT b FROM (${query}) AS t(a, b) WHERE b IS NOT NULL)`,
  (query: string) => `SELECT u.id, t.a FROM users u JOIN (${query}) AS t(a, b) ON u.id = t.b`,
);

/** Extremes of numbers that are none differ from DuckDB's. */
const aroundDoubles = fc.constantFrom(
  (query: string) => query,
  (query: string) => `SELECT a, b, COUNT(*) FROM (${query}) AS t(a, b) GROUP BY a, b`,
  (query: string) => `SELECT COUNT(*), COUNT(a), COUNT(b) FROM (${query}) AS t(a, b)`,
);

for (const [what, branches, places] of [
  ['texts and numbers', BRANCHES, around],
  ['whole numbers', NUMBER_BRANCHES, around],
  ['doubles', DOUBLE_BRANCHES, aroundDoubles],
] as const)
  sets(`of ${what}, nested in each other and in other queries`, () =>
    fc.assert(
      fc.asyncProperty(treeOf(branches), places, async (query, place) => {
        const sql = place(query);
        assert.is(difference(sql, await answer(sql), await oracle.rows(sql)), undefined);
      }),
      { numRuns: caseCount(80), seed: 8 },
    ),
  );

/** Names that the plans of set operations give to columns of their own. */
const OWN_NAMES = [
  'number among equal rows',
  'number of equal rows',
  'side of a set operation',
  'min side of a set operation',
  'max side of a set operation',
  'j0.b',
];
for (const name of OWN_NAMES)
  sets(`of columns that are called ${name}, as columns of plans are`, async () => {
    for (const between of ['INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL'])
      for (const [left, right] of [
        ['SELECT usr AS "?", city AS b FROM edits', 'SELECT id, city FROM users'],
        ['SELECT id AS a, id AS "?" FROM users', 'SELECT usr, usr FROM edits'],
        ['VALUES (1, 2), (1, 2), (3, 4)', 'SELECT 1, 2 AS "?"'],
        ['SELECT 1 AS "?", city FROM users', "VALUES (1, 'Oslo')"],
        ['SELECT city AS "?", added AS "_?" FROM edits', '(SELECT city, id FROM users ORDER BY id LIMIT 4)'],
      ] as const) {
        const sql = `${left} ${between} ${right}`.replaceAll('?', name);
        assert.is(difference(sql, await answer(sql), await oracle.rows(sql)), undefined);
      }
  });

sets.run();
