import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { statement } from '../drawn-statements.js';
import { answer, difference, nativeAnswer } from '../small-tables.js';

/** Native queries printed by EXPLAIN PLAN FOR: read back by the native planner, they must give the rows of the statement. */
const forms = suite('native forms of SQL');

const ANSWERED: readonly string[] = [
  'SELECT city, added FROM edits',
  "SELECT city, added + 1 AS more, UPPER(city) FROM edits WHERE city IN ('Oslo', 'Rio') AND added > 3 OR price BETWEEN 1 AND 5",
  'SELECT __time, city FROM edits ORDER BY __time DESC LIMIT 7 OFFSET 2',
  'SELECT city, added FROM edits ORDER BY added DESC, city, __time LIMIT 5',
  "SELECT usr FROM edits WHERE __time >= TIMESTAMP '2024-02-28' AND __time < TIMESTAMP '2024-02-29' AND NOT (usr = 3 OR usr IS NULL)",
  "SELECT city FROM edits WHERE city LIKE '%s%' OR city IS NULL",
  'SELECT usr FROM edits WHERE usr IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)',
  'SELECT usr FROM edits WHERE price <> 2.5 AND price > added',
  'SELECT COUNT(*), SUM(added), MIN(price), MAX(usr), AVG(price) FROM edits',
  "SELECT COUNT(*) FROM edits WHERE city = 'Nowhere'",
  'SELECT SUM(x), COUNT(*) FROM none',
  'SELECT city, COUNT(*), SUM(added) FILTER (WHERE price > 3) FROM edits GROUP BY city',
  'SELECT city, usr, SUM(added) AS s FROM edits GROUP BY 1, 2 HAVING SUM(added) > 5 ORDER BY s DESC, city, usr LIMIT 4 OFFSET 1',
  'SELECT FLOOR(__time TO HOUR) AS h, COUNT(*) FROM edits GROUP BY 1 ORDER BY h DESC LIMIT 3',
  "SELECT TIME_FLOOR(__time, 'PT6H', NULL, 'Europe/Paris') AS h, MAX(price) FROM edits GROUP BY 1",
  'SELECT added * 2 AS d, COUNT(*) + 1 FROM edits GROUP BY 1',
  'SELECT DISTINCT city FROM edits',
  'SELECT city, LATEST(added), EARLIEST(price) FROM edits GROUP BY city',
  'SELECT c, SUM(n) FROM (SELECT city AS c, usr, COUNT(*) AS n FROM edits GROUP BY city, usr) GROUP BY c',
  'SELECT MAX(n), MIN(n) FROM (SELECT COUNT(*) AS n FROM edits GROUP BY city HAVING COUNT(*) > 3)',
  'SELECT a FROM (SELECT added AS a, usr FROM edits ORDER BY added DESC, price, __time LIMIT 5) WHERE a > 20',
  'SELECT e.city, u.name, e.added FROM edits e JOIN users u ON e.usr = u.id',
  'SELECT u.name, COUNT(*) AS n, SUM(e.added) FROM edits e LEFT JOIN users u ON e.usr = u.id AND e.added > 10 GROUP BY u.name',
  'SELECT e.usr, u.id FROM edits e FULL JOIN users u ON e.usr = u.id',
  'SELECT t.usr, x.n FROM edits t JOIN (SELECT usr, COUNT(*) AS n FROM edits GROUP BY usr) x ON t.usr = x.usr WHERE x.n > 8',
  'SELECT COUNT(*) FROM edits CROSS JOIN users',
  'SELECT city FROM edits UNION ALL SELECT city FROM users',
  'SELECT city, COUNT(*) FROM (SELECT city, added AS v FROM edits UNION ALL SELECT city, id FROM users) GROUP BY city',
  "SELECT x, y FROM (VALUES (1, 'a'), (2, NULL)) AS t (x, y)",
  'SELECT 1 + 1',
  'SELECT e.city, v FROM edits e CROSS JOIN UNNEST(ARRAY[e.added, e.usr]) AS t (v) WHERE v > 4',
  'SELECT city, v FROM (SELECT city, added, usr FROM edits) UNPIVOT (v FOR k IN (added, usr))',
  'SELECT usr FROM edits WHERE usr IN (SELECT id FROM users)',
  'SELECT added FROM edits WHERE added > (SELECT AVG(added) FROM edits)',
];

for (const sql of ANSWERED)
  forms(sql, async () => {
    const found = await nativeAnswer(sql);
    if (typeof found === 'string') return assert.unreachable(`no native query: ${found}`);
    assert.is(difference(sql, found, await answer(sql)), undefined);
  });

const REFUSED: readonly { readonly sql: string; readonly says: RegExp }[] = [
  { sql: 'SELECT city, ROW_NUMBER() OVER (ORDER BY added) FROM edits', says: /window functions/ },
  { sql: 'SELECT city FROM edits ORDER BY added DESC NULLS FIRST', says: /nulls ordered/ },
  { sql: 'SELECT COUNT(DISTINCT city) FROM edits', says: /distinct values/ },
  { sql: 'SELECT city FROM edits LIMIT 0', says: /LIMIT 0/ },
  { sql: 'SELECT TRUNCATE(price) FROM edits', says: /the function truncate of SQL/ },
  {
    sql: 'SELECT a AS x, b AS a FROM (VALUES (1, 2), (3, 4)) AS t (a, b) UNION ALL SELECT usr, added FROM edits',
    says: /take names of others/,
  },
];
for (const { sql, says } of REFUSED)
  forms(`${sql} has none`, async () => {
    const found = await nativeAnswer(sql);
    assert.match(String(found), says);
  });
forms('drawn statements: the rows of the native query are those of the statement, where there is one', async () => {
  const canonical = (rows: readonly unknown[][]): string[] =>
    rows.map((row) => JSON.stringify(row.map((cell) => (typeof cell === 'number' ? Number(cell.toPrecision(12)) + 0 : cell)))).sort();
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(statement, async ({ ours }) => {
      const native = await nativeAnswer(ours);
      if (typeof native === 'string') return;
      compared++;
      assert.equal(canonical(native), canonical(await answer(ours)), ours);
    }),
    { numRuns: 100 },
  );
  assert.ok(compared > 10, `${compared} of 100 have a native query`);
});
forms.run();
