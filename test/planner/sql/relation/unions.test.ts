import { suite } from 'uvu';
import { RULES } from '../../../../src/planner/sql/relation/rules/rules.js';
import { DuckdbAnswers, type OracleQuery } from '../small-tables.js';

/*
 * Joins, aggregates, orders and conditions over UNION ALL, against DuckDB: with all rules, without those that take unions apart, and with none.
 * Both tables have nulls in all columns, and rows of `edits` that are in a union twice count twice.
 */

/** Strings, longs, doubles and times of two tables, as one. */
const BOTH = `(SELECT 'e' AS kind, city, usr AS k, added AS v, price AS p, __time AS t FROM edits WHERE added > 2 OR added IS NULL
  UNION ALL SELECT 'u', city, id, NULL, score, __time FROM users
  UNION ALL SELECT NULL, city, usr, -added, NULL, __time FROM edits) b`;
/** One of whose branches are groups, the first rows of an order, and none. */
const MIXED = `(SELECT city, usr AS k, SUM(added) AS v FROM edits GROUP BY city, usr
  UNION ALL SELECT city, k, v FROM (SELECT city, usr AS k, added AS v FROM edits ORDER BY added DESC NULLS LAST, __time, usr LIMIT 6)
  UNION ALL SELECT city, x, x FROM none
  UNION ALL SELECT u.city, e.usr, e.added FROM edits e JOIN users u ON e.usr = u.id
  UNION ALL (SELECT city, id, 1 FROM users UNION ALL SELECT name, id, 2 FROM users)) m`;

const QUERIES: readonly OracleQuery[] = [
  // Joins of all types, on either side.
  `SELECT u.name, COUNT(*), SUM(b.v), MIN(b.p) FROM ${BOTH} JOIN users u ON b.k = u.id GROUP BY u.name ORDER BY u.name`,
  `SELECT u.name, COUNT(*), COUNT(b.v), MAX(b.p) FROM ${BOTH} LEFT JOIN users u ON b.k = u.id AND u.score > 3 GROUP BY u.name ORDER BY u.name`,
  `SELECT u.name, COUNT(*), COUNT(b.k), SUM(b.v) FROM ${BOTH} RIGHT JOIN users u ON b.k = u.id AND b.v > 3 GROUP BY u.name ORDER BY u.name`,
  `SELECT u.name, COUNT(*), COUNT(b.k), COUNT(u.id) FROM ${BOTH} FULL JOIN users u ON b.k = u.id AND b.kind = 'e' GROUP BY u.name ORDER BY u.name`,
  `SELECT u.name, COUNT(*), COUNT(b.k), SUM(b.v) FROM users u LEFT JOIN ${BOTH} ON b.k = u.id AND b.v > 3 GROUP BY u.name ORDER BY u.name`,
  `SELECT COUNT(*), COUNT(b.v), SUM(b.v) FROM users u LEFT JOIN ${BOTH} ON b.k = u.id WHERE b.v > 3 OR b.v IS NULL`,
  `SELECT COUNT(*), SUM(b.v), COUNT(DISTINCT b.city) FROM ${BOTH} WHERE b.k IN (SELECT id FROM users WHERE score > 2)`,
  `SELECT b.kind, COUNT(*), SUM(b.v) FROM ${BOTH} WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.id = b.k AND u.score > 2) GROUP BY b.kind ORDER BY b.kind`,
  `SELECT COUNT(*), SUM(b.v) FROM ${BOTH} WHERE b.k IN (SELECT id FROM users) OR b.v > 20`,
  `SELECT COUNT(*), SUM(b.v) FROM ${BOTH} JOIN users u ON b.k > u.id AND b.city = u.city`,
  `SELECT COUNT(*), SUM(b.v) FROM ${BOTH} CROSS JOIN (SELECT id FROM users WHERE id < 5) u`,
  `SELECT u.city, COUNT(*) FROM users u JOIN ${BOTH} ON b.city = u.city WHERE b.p > 1 AND u.id > 3 GROUP BY u.city ORDER BY u.city`,
  `SELECT u.name, w.city, SUM(b.v), COUNT(*) FROM ${BOTH} JOIN users u ON b.k = u.id JOIN users w ON b.city = w.city WHERE w.score > 1 GROUP BY 1, 2 ORDER BY 1, 2`,
  `SELECT u.name, b.kind, b.v FROM ${BOTH} JOIN users u ON b.k = u.id ORDER BY u.name, b.kind NULLS FIRST, b.v NULLS FIRST, b.t, b.p`,
  // A literal of each branch as a key of the join, as a condition and as a key of groups.
  `SELECT d.w, COUNT(*), SUM(b.v) FROM ${BOTH} JOIN (VALUES ('e', 1), ('u', 2), ('x', 3)) AS d (k, w) ON d.k = b.kind GROUP BY d.w ORDER BY d.w`,
  `SELECT d.w, COUNT(*), SUM(b.v) FROM ${BOTH} LEFT JOIN (VALUES ('e', 1), ('u', 2)) AS d (k, w) ON d.k = b.kind GROUP BY d.w ORDER BY d.w NULLS FIRST`,
  `SELECT b.kind, COUNT(*), SUM(b.v), AVG(b.p), MIN(b.t) FROM ${BOTH} GROUP BY b.kind ORDER BY b.kind NULLS FIRST`,
  `SELECT COUNT(*), SUM(b.v) FROM ${BOTH} WHERE b.kind = 'e'`,
  `SELECT b.city, COUNT(*) FROM ${BOTH} WHERE b.kind = 'nothing' GROUP BY b.city`,
  `SELECT COUNT(*), COUNT(b.v), SUM(b.v) FROM ${BOTH} WHERE b.kind IS NULL AND b.v < 0`,
  `SELECT u.name, SUM(CASE WHEN b.kind = 'e' THEN b.v ELSE 0 END), SUM(CASE WHEN b.kind = 'u' THEN 1 END), COUNT(*) FILTER (WHERE b.kind IS NULL) FROM ${BOTH} JOIN users u ON b.k = u.id GROUP BY u.name ORDER BY u.name`,
  `SELECT CASE WHEN b.kind = 'e' THEN 'edit' WHEN b.kind = 'u' THEN b.city ELSE 'other' END AS c, COUNT(*) FROM ${BOTH} GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  // The first rows in no order: how many there are is certain.
  `SELECT COUNT(*), COUNT(b.x) FROM (SELECT 1 AS x, city FROM ${BOTH} LIMIT 7) b`,
  `SELECT COUNT(*), COUNT(DISTINCT x) FROM (SELECT 1 AS x FROM ${BOTH} LIMIT 5 OFFSET 3) b`,
  `SELECT COUNT(*) FROM (SELECT b.k FROM ${BOTH} WHERE b.v > 1000 LIMIT 5) c`,
  `SELECT COUNT(*) FROM (SELECT m.city FROM ${MIXED} LIMIT 9 OFFSET 2) c`,
  `SELECT COUNT(*) FROM (SELECT m.city, m.v FROM ${MIXED} LIMIT 1000 OFFSET 1) c`,
  `SELECT COUNT(*) FROM (SELECT m.city FROM ${MIXED} LIMIT 0) c`,
  // Aggregates whose parts are states or distinct values.
  `SELECT b.city, ROUND(VAR_POP(b.v), 6), ROUND(STDDEV_SAMP(b.p), 6), AVG(b.v) FROM ${BOTH} GROUP BY b.city ORDER BY b.city NULLS FIRST`,
  `SELECT ROUND(VAR_SAMP(v), 6), ROUND(STDDEV_POP(v), 6) FROM (SELECT added AS v FROM edits WHERE added > 1000 UNION ALL SELECT x FROM none)`,
  `SELECT b.kind, MIN(b.city), MAX(b.city), MIN(UPPER(b.city)) FROM ${BOTH} GROUP BY b.kind ORDER BY b.kind NULLS FIRST`,
  `SELECT MIN(b.city), MAX(b.city) FROM ${BOTH} WHERE b.v > 1000`,
  [
    `SELECT b.city, EARLIEST_BY(b.k, b.t), LATEST_BY(b.k, b.t) FROM ${BOTH} WHERE b.kind = 'e' OR b.kind = 'u' GROUP BY b.city ORDER BY b.city NULLS FIRST`,
    `SELECT b.city, ARG_MIN_NULL(b.k, b.t), ARG_MAX_NULL(b.k, b.t) FROM ${BOTH} WHERE b.kind = 'e' OR b.kind = 'u' GROUP BY b.city ORDER BY b.city NULLS FIRST`,
  ],
  `SELECT COUNT(DISTINCT b.city), COUNT(DISTINCT b.k), COUNT(DISTINCT b.v), COUNT(*), SUM(b.v), COUNT(DISTINCT b.k) FILTER (WHERE b.v > 2) FROM ${BOTH}`,
  `SELECT b.kind, COUNT(DISTINCT b.city), COUNT(DISTINCT b.k), SUM(DISTINCT b.v), SUM(b.v), COUNT(*), MAX(b.city) FROM ${BOTH} GROUP BY b.kind ORDER BY b.kind NULLS FIRST`,
  `SELECT u.name, COUNT(DISTINCT b.city), COUNT(DISTINCT b.v) FILTER (WHERE b.kind = 'e'), COUNT(DISTINCT CASE WHEN b.v > 3 THEN b.city END) FROM ${BOTH} JOIN users u ON b.k = u.id GROUP BY u.name ORDER BY u.name`,
  `SELECT COUNT(DISTINCT b.city), COUNT(DISTINCT b.k), COUNT(*), COUNT(b.v), SUM(b.v) FROM ${BOTH} WHERE b.v > 1000`,
  `SELECT COUNT(DISTINCT b.city), COUNT(DISTINCT b.k), COUNT(*) FROM ${BOTH} WHERE b.v > 1000 HAVING COUNT(*) = 0`,
  `SELECT b.city, COUNT(DISTINCT b.k) FILTER (WHERE b.v > 5) FROM ${BOTH} GROUP BY b.city ORDER BY b.city NULLS FIRST`,
  `SELECT COUNT(DISTINCT b.p), COUNT(DISTINCT b.city), COUNT(DISTINCT b.k) FROM ${BOTH}`,
  `SELECT b.city, ARRAY_AGG(b.v ORDER BY b.v NULLS FIRST, b.t), COUNT(*) FROM ${BOTH} GROUP BY b.city ORDER BY b.city NULLS FIRST`,
  `SELECT COUNT(*) FROM (SELECT DISTINCT b.city, b.k FROM ${BOTH})`,
  // The first rows, which may all come from one branch.
  `SELECT b.kind, b.k, b.v, b.t FROM ${BOTH} ORDER BY b.v DESC NULLS LAST, b.t, b.k, b.kind LIMIT 7`,
  `SELECT b.kind, b.k, b.v FROM ${BOTH} ORDER BY b.v NULLS FIRST, b.t, b.k, b.kind LIMIT 5 OFFSET 8`,
  `SELECT b.kind, u.name, b.v FROM ${BOTH} JOIN users u ON b.k = u.id ORDER BY b.kind DESC NULLS LAST, b.v NULLS LAST, b.t, u.name LIMIT 9 OFFSET 3`,
  `SELECT b.kind FROM ${BOTH} ORDER BY b.kind NULLS LAST LIMIT 3`,
  `SELECT b.k + 1 AS n, b.kind FROM ${BOTH} ORDER BY b.k * -1 NULLS LAST, b.kind NULLS LAST LIMIT 200 OFFSET 60`,
  `SELECT SUM(v) FROM (SELECT b.v FROM ${BOTH} ORDER BY b.v DESC NULLS LAST LIMIT 5)`,
  // Branches that are groups, the first of their rows, or unions themselves.
  `SELECT u.name, COUNT(*), SUM(m.v) FROM ${MIXED} JOIN users u ON m.k = u.id GROUP BY u.name ORDER BY u.name`,
  `SELECT m.city, COUNT(*), SUM(m.v), COUNT(DISTINCT m.k) FROM ${MIXED} GROUP BY m.city ORDER BY m.city NULLS FIRST`,
  `SELECT COUNT(*), SUM(m.v) FROM ${MIXED} WHERE m.v > 2 AND m.k IN (SELECT id FROM users)`,
  `SELECT m.city, m.k, m.v FROM ${MIXED} ORDER BY m.v DESC NULLS LAST, m.k NULLS LAST, m.city NULLS LAST LIMIT 12`,
  // Subqueries with computed columns on the left of joins, and a union that stands in a statement twice.
  'SELECT u.name, SUM(e.w), COUNT(*) FROM (SELECT usr AS k, added * 2 + 1 AS w, COALESCE(city, name) AS c FROM (SELECT *, UPPER(city) AS name FROM edits) WHERE added > 0) e JOIN users u ON e.k = u.id GROUP BY u.name ORDER BY u.name',
  "SELECT e.c, u.name, w.score FROM (SELECT usr + 0 AS k, COALESCE(city, 'none') AS c FROM edits) e LEFT JOIN users u ON e.k = u.id LEFT JOIN users w ON e.c = w.city AND w.id > 4 ORDER BY 1, 2, 3",
  'SELECT COUNT(*), COUNT(e.one), COUNT(u.id) FROM (SELECT usr AS k, 1 AS one FROM edits WHERE added > 5) e RIGHT JOIN users u ON e.k = u.id',
  'SELECT COUNT(*), COUNT(e.one), COUNT(u.id) FROM (SELECT usr AS k, 1 AS one FROM edits WHERE added > 5) e FULL JOIN users u ON e.k = u.id',
  // Rows that a join leaves are filtered, and joined again.
  'SELECT w.name, COUNT(*), COUNT(j.k) FROM (SELECT e.usr AS k, e.city AS c FROM edits e LEFT JOIN users u ON e.usr = u.id AND u.score > 3 WHERE u.id IS NULL) j JOIN users w ON w.city = j.c GROUP BY w.name ORDER BY w.name',
  'SELECT w.name, j.k, j.v FROM (SELECT e.usr AS k, e.added AS v FROM edits e LEFT JOIN users u ON e.usr = u.id WHERE e.added > u.score OR u.score IS NULL) j LEFT JOIN users w ON w.id = j.k AND j.v > 4 ORDER BY 1, 2, 3',
  'SELECT w.name, COUNT(*), COUNT(j.k) FROM (SELECT e.usr AS k FROM edits e LEFT JOIN users u ON e.usr = u.id WHERE u.score IS NULL OR u.score > 5) j FULL JOIN users w ON w.id = j.k GROUP BY w.name ORDER BY w.name',
  'SELECT j.x, COUNT(*) FROM (SELECT e.usr AS k, x.x FROM edits e CROSS JOIN UNNEST(ARRAY[added, usr]) AS x (x) WHERE x.x > 3) j JOIN users w ON w.id = j.k GROUP BY j.x ORDER BY j.x',
  'SELECT e.k IN (SELECT id FROM users WHERE score > 2) AS there, COUNT(*) FROM (SELECT usr * 1 AS k FROM edits) e GROUP BY 1 ORDER BY 1',
  'SELECT a.k, a.n, b.n FROM (SELECT j.k, COUNT(*) AS n FROM (SELECT e.usr AS k, u.name AS c FROM edits e JOIN users u ON e.usr = u.id) j JOIN users w ON j.c = w.name GROUP BY j.k) a JOIN (SELECT usr AS k, COUNT(*) AS n FROM edits GROUP BY usr) b ON a.k = b.k ORDER BY 1',
  `WITH b AS (SELECT * FROM ${BOTH}) SELECT x.name, x.n, y.n FROM (SELECT u.name, COUNT(*) AS n FROM b JOIN users u ON b.k = u.id GROUP BY u.name) x JOIN (SELECT u.name, SUM(b.v) AS n FROM b JOIN users u ON b.k = u.id WHERE b.v > 1 GROUP BY u.name) y ON x.name = y.name ORDER BY x.name`,
  `SELECT COUNT(*), SUM(a.v) FROM ${BOTH.replace(/b$/, 'a')} JOIN ${MIXED} ON a.k = m.k AND a.city = m.city`,
];

const unions = suite('unions, against DuckDB');

const answers = new DuckdbAnswers(QUERIES);
unions.before(() => answers.ask());

unions('every query gives the rows DuckDB gives', () => answers.check([]));
unions('and without any rule', () => answers.check(RULES.map(({ name }) => name)));
for (const { name, of } of RULES)
  if (of?.includes('union') === true || name.startsWith('lift-')) unions(`and without ${name}`, () => answers.check([name]));
unions.run();
