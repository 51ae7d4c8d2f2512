import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RULES } from '../../../../src/planner/sql/relation/rules/rules.js';
import { answer, difference, memory, openOracle } from '../small-tables.js';

/** Statements over several relations, against DuckDB; with all rules, with each one off, and with none. */
const QUERIES: readonly (string | readonly [ours: string, duckdb: string])[] = [
  // Subqueries in FROM, at any depth.
  'SELECT c, SUM(n) FROM (SELECT city AS c, usr, COUNT(*) AS n FROM edits GROUP BY city, usr) GROUP BY c ORDER BY c',
  'SELECT MAX(n), MIN(n) FROM (SELECT COUNT(*) AS n FROM edits GROUP BY city)',
  'SELECT COUNT(*) FROM (SELECT DISTINCT city, usr FROM edits)',
  'SELECT a + 1 FROM (SELECT added AS a FROM edits ORDER BY added DESC NULLS LAST, price, __time LIMIT 5) WHERE a > 20 ORDER BY 1',
  'SELECT n, COUNT(*) FROM (SELECT usr, COUNT(*) AS n FROM (SELECT * FROM edits WHERE added > 0) WHERE price IS NOT NULL GROUP BY usr) GROUP BY n ORDER BY n',
  'SELECT city, n * 2 AS m FROM (SELECT city, COUNT(*) AS n FROM edits GROUP BY city) WHERE n > 10 ORDER BY m DESC, city',
  'SELECT d, COUNT(*) FROM (SELECT __time AS d, city FROM edits) GROUP BY d HAVING COUNT(*) > 1',
  'SELECT MAX(__time), MIN(t) FROM (SELECT __time, __time AS t FROM users ORDER BY score, __time LIMIT 4 OFFSET 1)',
  // CTEs.
  'WITH big AS (SELECT * FROM edits WHERE added > 10), per AS (SELECT usr, SUM(added) AS s FROM big GROUP BY usr) SELECT COUNT(*), MAX(s) FROM per',
  'WITH a(x) AS (SELECT city FROM edits), b AS (SELECT x FROM a UNION SELECT city FROM users) SELECT x FROM b ORDER BY x',
  // Joins.
  'SELECT e.city, u.name, e.added FROM edits e JOIN users u ON e.usr = u.id',
  'SELECT COUNT(*), SUM(u.score) FROM edits AS e INNER JOIN users AS u ON e.usr = u.id WHERE e.added > 5 AND u.score < 8',
  'SELECT e.usr, u.name FROM edits e LEFT JOIN users u ON e.usr = u.id',
  'SELECT e.usr, u.name, u.__time FROM edits e RIGHT JOIN users u ON e.usr = u.id AND e.added > 10',
  'SELECT e.__time, e.usr, u.name FROM edits e FULL JOIN users u ON e.usr = u.id AND u.score > 2',
  'SELECT e.usr, u.name FROM edits e LEFT JOIN users u ON e.usr = u.id AND e.added > 10 AND u.score > 3',
  'SELECT COUNT(*) FROM edits e LEFT JOIN users u ON e.added > 10 AND u.score > 3',
  'SELECT e.usr, e.added, u.name FROM edits e LEFT JOIN users u ON e.usr = u.id AND e.added > u.score * 2',
  'SELECT e.usr, u.id FROM edits e FULL JOIN users u ON e.usr = u.id AND e.price < u.score',
  'SELECT e.usr, u.id FROM edits e RIGHT JOIN users u ON e.added > u.score * 4',
  'SELECT u.name, COUNT(*) AS n, SUM(e.added) FROM edits e JOIN users u ON e.usr = u.id GROUP BY u.name ORDER BY n DESC, u.name',
  'SELECT e.city FROM edits e JOIN users u ON e.city = u.city AND e.usr <> u.id',
  'SELECT COUNT(*) FROM edits, users WHERE edits.usr = users.id AND edits.city = users.city',
  'SELECT COUNT(*) FROM edits CROSS JOIN users',
  // Inputs that share a column with a later one only; what all branches of an OR ask for.
  'SELECT a.id, b.id, e.usr FROM users a, users b, edits e WHERE a.id = e.usr AND b.city = e.city AND a.score < b.score',
  'SELECT * FROM users a, none n, edits e WHERE a.id = e.usr AND n.x = e.usr',
  'SELECT a.id, c.id FROM (SELECT * FROM users WHERE score > 1) a, users b, (SELECT usr AS id, city FROM edits) c WHERE a.id + b.id = c.id AND a.city = c.city',
  "SELECT e.usr, u.name FROM edits e, users u WHERE (e.usr = u.id AND u.score > 5 AND e.added > 3) OR (e.usr = u.id AND u.score < 3 AND e.city = 'Rio')",
  'SELECT COUNT(*) FROM edits WHERE (added > 3 AND price > 2) OR (price > 2 AND added > 3 AND usr = 2) OR (price > 2 AND added > 3)',
  "SELECT e.__time, u.id FROM edits e JOIN users u ON e.usr = u.id WHERE (e.city = 'Rio' AND u.name = 'u1') OR (e.city = 'Oslo' AND u.name = 'u3') OR (e.added > 20 AND u.name = 'u0' AND e.city IS NULL)",
  "SELECT a.id, b.id, e.added FROM users a, edits e, users b WHERE a.id = e.usr AND b.city = e.city AND ((a.name = 'u1' AND b.name = 'u2') OR (a.name = 'u2' AND b.score > 3 AND (e.added > 5 OR a.score > 2)))",
  // Joins of many inputs: equal to what another equals, keys of two columns, conditions of one side and of none, inputs without a key.
  "SELECT a.name, b.name, c.name, e.added FROM users a, edits e, users b, users c WHERE a.id = e.usr AND e.usr = b.id AND b.id = c.id AND c.name <> 'u1'",
  'SELECT COUNT(*), SUM(e.added), MIN(u.score) FROM edits e JOIN users u ON e.usr = u.id AND e.city = u.city JOIN edits f ON f.usr = u.id AND f.city = u.city JOIN users v ON v.city = f.city',
  "SELECT u.id, COUNT(*) FROM users u, edits e, users v, edits f WHERE u.id = e.usr AND v.id = f.usr AND e.city = v.city AND f.added = e.added AND u.name = 'u3' GROUP BY u.id",
  'SELECT a.id, b.id FROM users a, users b, edits e WHERE a.id = e.usr AND a.id = b.id AND b.score = e.usr AND e.added > 0 AND 1 = 1',
  'SELECT COUNT(*) FROM users a, (VALUES (1), (2)) AS v(x), edits e, users b WHERE a.id = e.usr AND b.id = 4',
  'SELECT x.n, y.id, z.added FROM (SELECT city AS c, COUNT(*) AS n FROM edits GROUP BY city) x, users y, edits z WHERE x.c = y.city AND z.city = x.c AND z.usr = y.id AND x.n > 5',
  'SELECT e.__time, f.__time, u.__time FROM users u, edits e, edits f WHERE u.id = e.usr AND f.usr = e.usr AND f.added = e.added AND u.id < 6',
  "SELECT a.id, d.added FROM users a JOIN (users b JOIN edits c ON b.id = c.usr) ON a.city = b.city JOIN edits d ON d.usr = a.id LEFT JOIN users g ON g.id = d.added WHERE a.name = 'u2' OR g.id IS NULL",
  'SELECT COUNT(*) FROM users a JOIN users b ON a.id = b.id JOIN users c ON b.id = c.id JOIN users d ON c.id = d.id JOIN users e ON d.id = e.id JOIN users f ON e.id = f.id JOIN users g ON f.id = g.id JOIN users h ON g.id = h.id JOIN users i ON h.id = i.id JOIN users j ON i.id = j.id JOIN edits k ON j.id = k.usr',
  'SELECT COUNT(*) FROM edits e LEFT JOIN users u ON (e.usr = u.id AND u.score > 5) OR (e.usr = u.id AND e.added > 5)',
  'SELECT COUNT(*) FROM edits WHERE NOT ((added > 3 AND price > 2) OR (added > 3 AND usr = 2))',
  'SELECT a.usr, b.usr, c.name FROM edits a JOIN edits b ON a.city = b.city AND a.added < b.added JOIN users c ON b.usr = c.id WHERE a.price > 5',
  'SELECT a.id, b.id FROM users a JOIN users b ON a.id < b.id AND a.city = b.city',
  'SELECT a.id, b.id FROM users a JOIN users b ON a.id + 1 = b.id * 1',
  'SELECT a.id, b.id FROM users a JOIN users b ON a.city IS NOT DISTINCT FROM b.city AND a.id <> b.id',
  'SELECT id, city, name FROM users JOIN (SELECT DISTINCT city FROM edits) AS c USING (city)',
  'SELECT * FROM (SELECT city, usr FROM edits) e FULL JOIN (SELECT city, id FROM users) u USING (city)',
  'SELECT city, id FROM (SELECT city, usr AS id FROM edits) a NATURAL JOIN (SELECT city, id FROM users) b',
  'SELECT city FROM (SELECT city FROM edits) a NATURAL LEFT JOIN (SELECT id, city FROM users) b',
  'SELECT t.usr, x.n FROM edits t JOIN (SELECT usr, COUNT(*) AS n FROM edits GROUP BY usr) x ON t.usr = x.usr WHERE x.n > 8',
  'SELECT u.name FROM users u LEFT JOIN none n ON u.id = n.x',
  'SELECT u.name FROM users u JOIN none n ON u.id = n.x',
  'SELECT COUNT(n.x), COUNT(*) FROM users u LEFT JOIN none n ON u.id = n.x WHERE u.score > 1',
  'SELECT u.name FROM edits e RIGHT JOIN users u ON u.id = e.usr WHERE e.usr IS NULL',
  "SELECT a.city, b.city FROM (VALUES (1, 'x'), (2, 'y')) AS a(id, city) JOIN users b ON a.id + 1 = b.id",
  "SELECT COUNT(*) FROM edits e JOIN users u ON e.usr = u.id WHERE e.__time >= TIMESTAMP '2024-02-28 00:00:00' AND u.__time < TIMESTAMP '2024-02-29 12:00:00'",
  [
    'SELECT FLOOR(e.__time TO DAY) AS d, u.name, COUNT(*) FROM edits e JOIN users u ON e.usr = u.id GROUP BY 1, 2 ORDER BY 1, 2',
    "SELECT date_trunc('day', e.__time) AS d, u.name, COUNT(*) FROM edits e JOIN users u ON e.usr = u.id GROUP BY 1, 2 ORDER BY 1, 2",
  ],
  'SELECT u.name, e.city FROM edits e JOIN users u ON e.usr = u.id ORDER BY e.added DESC NULLS LAST, e.__time, u.name LIMIT 7 OFFSET 2',
  'SELECT COUNT(*) FROM edits e JOIN users u ON e.price = u.id',
  'SELECT (a.id), b.n FROM users a LEFT JOIN (SELECT usr, COUNT(*) AS n FROM edits WHERE added > 3 GROUP BY usr) b ON a.id = b.usr WHERE COALESCE(b.n, 0) < 9',
  // Sums of one value with constants.
  'SELECT SUM(added + 1), SUM(added + 2), SUM(3 - added), SUM(added - 5), COUNT(added), SUM(added), COUNT(*) FROM edits',
  "SELECT usr, SUM(added + 1) AS a, SUM(2 + added), SUM(added + 3) FILTER (WHERE city = 'Rio'), SUM(added + 4) FILTER (WHERE city = 'Rio'), SUM(added + 5) FILTER (WHERE city = 'Rio'), MAX(added) FROM edits GROUP BY usr HAVING SUM(added + 3) > 5 ORDER BY a, usr",
  'SELECT SUM(added + 1), SUM(added + 2), SUM(added + 3), COUNT(added) FROM edits WHERE added > 1000000',
  'SELECT c, SUM(n + 1), SUM(n + 2), SUM(n * 2 - 3), SUM(n * 2 + 4), SUM(n * 2 + 5) FROM (SELECT city AS c, added AS n FROM edits) GROUP BY c ORDER BY SUM(n + 1) DESC, c LIMIT 3',
  // Keys that follow from keys before them, or after; ordered by them; asked for by HAVING.
  'SELECT usr, usr + 1, usr * 2 - 1, city, UPPER(city), COUNT(*) FROM edits GROUP BY 1, 2, 3, 4, 5 ORDER BY 6 DESC, 1, 2, 3, 4, 5 LIMIT 7',
  'SELECT UPPER(city) AS u, city, COUNT(*) FROM edits GROUP BY 1, 2 ORDER BY u DESC, city LIMIT 5',
  'SELECT city, LENGTH(city) AS l, COUNT(*) FROM edits GROUP BY 1, 2 ORDER BY l DESC, city LIMIT 5',
  'SELECT city, LENGTH(city) AS l, COUNT(*) FROM edits GROUP BY 1, 2 HAVING LENGTH(city) > 3 ORDER BY city, l LIMIT 5',
  'SELECT usr, usr + added AS n, added, COUNT(*) FROM edits GROUP BY 1, 2, 3 ORDER BY usr, added, n LIMIT 5 OFFSET 2',
  'SELECT usr, usr - 9 AS n, COUNT(*) AS c FROM edits GROUP BY 1, 2 ORDER BY usr, n + COUNT(*) LIMIT 5',
  'SELECT price, price * 2, COUNT(*) FROM edits GROUP BY 1, 2 ORDER BY 3 DESC, 1 NULLS FIRST LIMIT 3',
  'SELECT DISTINCT usr, usr + 1 FROM edits ORDER BY usr, usr + 1 LIMIT 4',
  // Smallest and largest texts, truth values and arrays.
  'SELECT MIN(city), MAX(city), MIN(DISTINCT city), MAX(name) FILTER (WHERE id > 4) FROM users',
  'SELECT usr, MIN(city), MAX(city), COUNT(*) FROM edits GROUP BY usr ORDER BY usr',
  "SELECT usr, MAX(city) FILTER (WHERE city < 'P'), MIN(UPPER(city)), MIN(city || 'x') FROM edits GROUP BY usr ORDER BY usr",
  'SELECT MIN(city), MAX(city) FROM none',
  'SELECT city, MIN(added > 3), MAX(price > 5) FROM edits GROUP BY city ORDER BY city',
  'SELECT MAX(name), MIN(u.city) FROM users u JOIN edits e ON e.usr = u.id WHERE e.added > 3',
  'SELECT name, (SELECT MIN(city) FROM edits e WHERE e.usr = u.id) AS c FROM users u',
  'SELECT city FROM edits GROUP BY city HAVING MAX(city) > MIN(city) OR MIN(city) IS NULL ORDER BY MAX(city) DESC',
  'SELECT MIN(ARRAY[added, usr]), MAX(ARRAY[added, usr]) FROM edits WHERE added IS NOT NULL AND usr IS NOT NULL',
  'SELECT id, MIN(city) OVER (ORDER BY id), MAX(name) OVER (PARTITION BY city) FROM users',
  'SELECT city, MAX(MIN(name)) OVER (ORDER BY city), MIN(name) FROM users GROUP BY city ORDER BY city',
  // Aggregates of distinct values, beside others.
  'SELECT SUM(DISTINCT added), AVG(DISTINCT added), COUNT(DISTINCT added), SUM(added), SUM(DISTINCT price), AVG(DISTINCT price) FROM edits',
  'SELECT city, SUM(DISTINCT added), SUM(added), AVG(DISTINCT price), COUNT(*) FROM edits GROUP BY city ORDER BY city',
  'SELECT usr, SUM(DISTINCT price) FILTER (WHERE added > 3), COUNT(DISTINCT city) FILTER (WHERE price > 1), MIN(DISTINCT price) FROM edits GROUP BY usr ORDER BY 1',
  'SELECT SUM(DISTINCT x), AVG(DISTINCT x), COUNT(DISTINCT x) FROM none',
  'SELECT city, usr, SUM(DISTINCT added) FROM edits GROUP BY ROLLUP (city, usr) ORDER BY 1, 2, 3',
  'SELECT city, ROUND(VAR_POP(DISTINCT added), 6), ROUND(STDDEV_SAMP(DISTINCT price), 6) FROM edits GROUP BY city HAVING COUNT(DISTINCT price) > 2 ORDER BY 1',
  'SELECT BIT_XOR(DISTINCT usr), BIT_AND(DISTINCT usr + 1), BIT_OR(DISTINCT usr) FROM edits',
  'SELECT city, SUM(DISTINCT usr) AS s FROM edits GROUP BY city ORDER BY s DESC NULLS LAST, city LIMIT 3',
  'SELECT name, (SELECT SUM(DISTINCT added) FROM edits e WHERE e.usr = u.id) AS s FROM users u',
  [
    'SELECT COUNT(DISTINCT city, usr), COUNT(city, usr) FROM edits',
    'SELECT COUNT(DISTINCT CASE WHEN city IS NOT NULL AND usr IS NOT NULL THEN (city, usr) END), COUNT(*) FILTER (WHERE city IS NOT NULL AND usr IS NOT NULL) FROM edits',
  ],
  'SELECT SUM(DISTINCT added * 2 - usr), SUM(DISTINCT CASE WHEN price > 3 THEN 1.5 ELSE 2 END), SUM(DISTINCT EXTRACT(HOUR FROM __time)) FROM edits',
  ['SELECT STRING_AGG(name, 100 ORDER BY id) FROM users', "SELECT STRING_AGG(name, '100' ORDER BY id) FROM users"],
  // Lists in an order.
  'SELECT ARRAY_AGG(added ORDER BY __time, usr DESC) FROM edits',
  'SELECT city, ARRAY_AGG(usr ORDER BY added DESC NULLS LAST, __time) FROM edits GROUP BY city ORDER BY city',
  "SELECT usr, STRING_AGG(city, '-' ORDER BY city DESC), STRING_AGG(city, ',' ORDER BY __time) FILTER (WHERE price > 1) FROM edits GROUP BY usr ORDER BY usr",
  'SELECT ARRAY_AGG(DISTINCT usr ORDER BY usr DESC NULLS LAST), ARRAY_AGG(DISTINCT city ORDER BY city NULLS LAST) FROM edits',
  "SELECT STRING_AGG(DISTINCT city, ',' ORDER BY city) FROM edits",
  "SELECT ARRAY_AGG(x ORDER BY x), STRING_AGG(city, ',' ORDER BY x) FROM none",
  ["SELECT LISTAGG(name, '/') WITHIN GROUP (ORDER BY id DESC) FROM users", "SELECT STRING_AGG(name, '/' ORDER BY id DESC) FROM users"],
  [
    'SELECT ARRAY_CONCAT_AGG(ARRAY[id, score] ORDER BY score DESC NULLS LAST, id NULLS LAST) FROM users',
    'SELECT flatten(ARRAY_AGG(ARRAY[id, score] ORDER BY score DESC NULLS LAST, id NULLS LAST)) FROM users',
  ],
  // Set operations.
  'SELECT city FROM edits UNION ALL SELECT city FROM users',
  'SELECT city FROM edits UNION SELECT city FROM users ORDER BY 1 DESC',
  'SELECT city, usr FROM edits INTERSECT SELECT city, id FROM users',
  'SELECT usr FROM edits EXCEPT SELECT id FROM users',
  'SELECT id FROM users EXCEPT SELECT usr FROM edits UNION ALL SELECT 99',
  'SELECT usr AS k FROM edits UNION ALL SELECT score FROM users UNION ALL SELECT NULL ORDER BY k LIMIT 9',
  'SELECT 1 UNION SELECT 1 UNION ALL SELECT 1',
  'SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 2',
  '(SELECT usr FROM edits ORDER BY usr, __time LIMIT 3) UNION ALL (SELECT id FROM users ORDER BY id LIMIT 2) ORDER BY 1',
  'SELECT city, SUM(v), COUNT(*), MIN(v), AVG(v) FROM (SELECT city, added AS v FROM edits UNION ALL SELECT city, id FROM users) GROUP BY city ORDER BY city',
  'SELECT COUNT(*), SUM(v) FROM (SELECT added AS v FROM edits WHERE added > 1000 UNION ALL SELECT x FROM none)',
  "SELECT COUNT(*) FROM (SELECT city, added AS v FROM edits UNION ALL SELECT city, id FROM users) WHERE v > 3 AND city = 'Rio'",
  'SELECT u.name, x.v FROM users u JOIN (SELECT usr AS v FROM edits UNION SELECT 2) x ON u.id = x.v',
  'WITH a AS (SELECT usr AS k FROM edits) SELECT k FROM a UNION SELECT id FROM users ORDER BY k LIMIT 4',
  '(SELECT __time FROM edits UNION ALL SELECT __time FROM users) ORDER BY 1 LIMIT 5',
  'SELECT city, usr FROM edits INTERSECT ALL SELECT city, id FROM users',
  'SELECT usr FROM edits EXCEPT ALL SELECT id FROM users',
  'SELECT city FROM edits EXCEPT ALL SELECT city FROM users UNION ALL SELECT city FROM users',
  'SELECT usr FROM edits WHERE added > 3 INTERSECT ALL SELECT usr FROM edits WHERE price > 3 ORDER BY 1 LIMIT 9',
  'SELECT usr FROM edits EXCEPT ALL (SELECT id FROM users INTERSECT ALL SELECT usr FROM edits)',
  '(SELECT usr FROM edits ORDER BY added DESC NULLS LAST, __time LIMIT 20) INTERSECT ALL (SELECT usr FROM edits ORDER BY price DESC NULLS LAST, __time LIMIT 20 OFFSET 3) ORDER BY 1',
  'SELECT COUNT(*) FROM edits WHERE usr IN (SELECT id FROM users EXCEPT SELECT usr FROM edits WHERE added > 10)',
  'SELECT (SELECT COUNT(*) FROM (SELECT usr FROM edits INTERSECT SELECT id FROM users)), (SELECT MAX(usr) FROM (SELECT usr FROM edits EXCEPT ALL SELECT id FROM users))',
  'WITH a AS (SELECT city FROM edits EXCEPT ALL SELECT city FROM users) SELECT city, COUNT(*) FROM a GROUP BY city ORDER BY city',
  'SELECT added, price FROM edits INTERSECT ALL SELECT price, added FROM edits',
  'SELECT name FROM users EXCEPT SELECT NULL UNION SELECT city FROM edits ORDER BY 1',
  'SELECT usr, SUM(added) FROM edits GROUP BY usr EXCEPT ALL SELECT usr, SUM(added) FROM edits WHERE price IS NOT NULL GROUP BY usr',
  "(SELECT city FROM edits UNION SELECT city FROM users) EXCEPT ALL (VALUES ('Oslo'), ('Oslo'))",
  'SELECT usr FROM edits WHERE usr = 1 UNION SELECT city FROM users',
  'SELECT 1 UNION ALL SELECT 2.5 UNION ALL SELECT NULL',
  'SELECT added > 3 FROM edits UNION SELECT NULL',
  "SELECT __time FROM users UNION SELECT DATE '2024-02-28'",
  // Grouping sets.
  'SELECT city, COUNT(*) FROM edits GROUP BY GROUPING SETS ((city), (city), (), ())',
  'SELECT city, COUNT(*), GROUPING_ID(city, usr), GROUPING(usr) FROM edits GROUP BY GROUPING SETS ((city), (usr), ()) ORDER BY GROUPING(city), city, usr',
  'SELECT city, COUNT(*) FROM edits GROUP BY GROUPING SETS (ROLLUP (city), CUBE (usr))',
  'SELECT city FROM edits GROUP BY ROLLUP (city) HAVING GROUPING(city) = 1 OR SUM(added) > 100 ORDER BY GROUPING(city), city',
  'SELECT 1 FROM edits HAVING COUNT(*) > 1',
  'SELECT city, RANK() OVER (PARTITION BY GROUPING(city) ORDER BY COUNT(*)) AS r FROM edits GROUP BY ROLLUP (city, usr) ORDER BY r, city NULLS FIRST',
  'SELECT city, usr, COUNT(*) FROM edits GROUP BY ROLLUP (city, usr) ORDER BY 1, 2, 3',
  'SELECT city, usr, SUM(added) FROM edits GROUP BY CUBE (city, usr)',
  'SELECT city, usr, GROUPING(city, usr) AS g, COUNT(*) FROM edits GROUP BY GROUPING SETS ((city, usr), (city), ()) HAVING COUNT(*) > 2',
  'SELECT city, usr, COUNT(*) FROM edits GROUP BY city, ROLLUP (usr)',
  // Coarser sets are made of the groups of a finer one, where these are few.
  'SELECT city, COUNT(*), COUNT(added), SUM(added), MIN(usr), MAX(price) FROM edits GROUP BY ROLLUP (city)',
  'SELECT city, SUM(added) FILTER (WHERE price > 2) AS s, COUNT(*) FILTER (WHERE usr < 4) AS n, COUNT(*) AS m FROM edits GROUP BY CUBE (city) HAVING COUNT(*) > 1 ORDER BY m DESC, city',
  'SELECT usr IS NULL AS a, city, COUNT(*) AS n, MAX(added) AS m, AVG(added) AS v FROM edits GROUP BY GROUPING SETS ((1, 2), (1), (2), ()) ORDER BY n DESC, 1, 2',
  [
    'SELECT city, COUNT(*), SUM(added) FROM edits WHERE usr > 100 GROUP BY ROLLUP (city)',
    'SELECT city, COUNT(*), SUM(added) FROM edits WHERE usr > 100 GROUP BY city',
  ],
  'SELECT city, SUM(price), COUNT(DISTINCT usr), COUNT(*) FROM edits GROUP BY ROLLUP (city)',
  'SELECT e.city AS a, u.city AS b, COUNT(*) AS n, SUM(e.added) AS s, MAX(u.score) AS m, COUNT(e.price) AS p FROM edits e, users u GROUP BY CUBE (e.city, u.city)',
  'SELECT e.city AS a, u.city AS b, GROUPING(u.city, e.city) AS g, MIN(u.name) AS m, COUNT(*) AS n FROM edits e, users u WHERE e.added > 3 GROUP BY ROLLUP (e.city, u.city) HAVING COUNT(*) > 20 ORDER BY n DESC, 3, 1, 2',
  'SELECT GROUPING(city), city, COUNT(*) FROM edits GROUP BY city ORDER BY 2',
  'SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS n FROM edits GROUP BY ROLLUP (city)) WHERE city IS NULL',
  ['SELECT x, COUNT(*) FROM none GROUP BY ROLLUP (x)', 'SELECT x, COUNT(*) FROM none GROUP BY x'],
  // Seconds over days: too many to be runs of time.
  'SELECT EXTRACT(EPOCH FROM __time) AS s, COUNT(*), MAX(added) FROM edits GROUP BY 1',
  'SELECT EXTRACT(SECOND FROM __time) AS s, COUNT(DISTINCT EXTRACT(SECOND FROM __time) + usr) FROM edits GROUP BY 1 ORDER BY s',
  'SELECT EXTRACT(SECOND FROM e.__time) AS s, u.name, COUNT(*) FROM edits e JOIN users u ON e.usr = u.id GROUP BY 1, 2',
  // IN, EXISTS, scalar subqueries.
  'SELECT COUNT(*) FROM edits WHERE usr IN (SELECT id FROM users)',
  'SELECT COUNT(*) FROM edits WHERE 3 IN (SELECT id FROM users)',
  'SELECT COUNT(*) FROM edits WHERE 3 NOT IN (SELECT usr FROM edits)',
  'SELECT usr, NULL IN (SELECT id FROM users), 3 IN (SELECT id FROM users), 77 IN (SELECT id FROM users) FROM edits',
  'SELECT usr IN (SELECT id FROM users) AS i, COUNT(*) FROM edits GROUP BY 1',
  'SELECT COUNT(*), usr IN (SELECT id FROM users) AS i FROM edits GROUP BY i HAVING COUNT(*) > 1 ORDER BY i',
  'SELECT EXISTS (SELECT 1 FROM none) AS x, added > (SELECT AVG(id) FROM users) AS y, COUNT(*) FROM edits GROUP BY 1, 2',
  'SELECT (SELECT MAX(id) FROM users) - usr AS d, SUM(added), (SELECT MIN(id) FROM users) AS m FROM edits GROUP BY 1',
  'SELECT COUNT(*) FROM edits WHERE usr NOT IN (SELECT id FROM users)',
  'SELECT COUNT(*) FROM edits WHERE usr NOT IN (SELECT id FROM users WHERE id IS NOT NULL)',
  'SELECT COUNT(*) FROM edits WHERE usr NOT IN (SELECT x FROM none)',
  'SELECT usr, usr IN (SELECT id FROM users) AS i FROM edits',
  'SELECT usr, usr IN (SELECT id FROM users WHERE id < 6) AS i FROM edits',
  'SELECT COUNT(*) FROM edits WHERE (city, usr) IN (SELECT city, id FROM users)',
  'SELECT COUNT(*) FROM edits WHERE usr IN (SELECT id FROM users) OR added > 20',
  'SELECT name FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND e.added > 20)',
  'SELECT name, id FROM users u WHERE NOT EXISTS (SELECT * FROM edits e WHERE e.usr = u.id AND e.city = u.city)',
  'SELECT name FROM users WHERE EXISTS (SELECT 1 FROM none)',
  'SELECT name FROM users WHERE NOT EXISTS (SELECT 1 FROM none) AND EXISTS (SELECT 1 FROM edits)',
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND e.added <> u.score)',
  'SELECT id FROM users u WHERE NOT EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND e.added < u.score)',
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.added > u.score * 3)',
  'SELECT COUNT(*) FROM edits WHERE added > (SELECT AVG(added) FROM edits)',
  'SELECT usr, added - (SELECT MIN(added) FROM edits) AS d FROM edits WHERE price > 2',
  'SELECT name, (SELECT COUNT(*) FROM edits e WHERE e.usr = u.id) AS n FROM users u',
  'SELECT name, (SELECT MAX(added) FROM edits e WHERE e.usr = u.id AND e.price > 1) AS m FROM users u',
  'SELECT name, (SELECT SUM(added) + COUNT(*) FROM edits e WHERE e.usr = u.id) AS m FROM users u',
  'SELECT COUNT(*) FROM edits e WHERE added > (SELECT AVG(added) FROM edits x WHERE x.city = e.city)',
  'SELECT city, COUNT(*) FROM edits GROUP BY city HAVING COUNT(*) > (SELECT COUNT(*) FROM users) ORDER BY city',
  'SELECT city, SUM(added), (SELECT MAX(score) FROM users u WHERE u.city = e.city) AS m FROM edits e GROUP BY city ORDER BY city',
  'SELECT SUM(CASE WHEN usr IN (SELECT id FROM users) THEN 1 ELSE 0 END) FROM edits',
  'SELECT COUNT(*) FROM edits WHERE usr IN (SELECT id FROM users WHERE city IN (SELECT city FROM edits WHERE added > 30))',
  'SELECT COUNT(*) FROM edits e WHERE usr IN (SELECT id FROM users u WHERE u.city = e.city)',
  'SELECT COUNT(*) FROM edits e WHERE usr NOT IN (SELECT id FROM users u WHERE u.city = e.city)',
  'SELECT (SELECT MAX(id) FROM users), (SELECT name FROM users ORDER BY __time LIMIT 1)',
  'SELECT COUNT(*) FROM edits WHERE (SELECT COUNT(*) FROM none) = 0',
  'SELECT usr, COUNT(*) FROM edits WHERE usr IN (SELECT usr FROM edits GROUP BY usr HAVING SUM(added) > 50) GROUP BY usr ORDER BY usr',
  // Comparisons of any kind with the outer query (DuckDB takes a row with a null in it for unknown, whatever its other columns say), several of them, and conditions of both.
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.added > u.score AND e.price < u.score AND e.usr = u.id)',
  "SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.city > u.city OR (e.usr = u.id AND u.name = 'u2'))",
  'SELECT id FROM users u WHERE NOT EXISTS (SELECT 1 FROM edits e WHERE e.usr + u.id = 7 AND e.city <> u.city)',
  'SELECT id, (SELECT COUNT(*) FROM edits e WHERE e.added > u.score) AS n, (SELECT SUM(price) FROM edits e WHERE e.added < u.score OR e.usr = u.id) AS s FROM users u',
  'SELECT id, (SELECT COUNT(*) FROM edits e WHERE e.usr = u.id HAVING COUNT(*) > 5) AS n, (SELECT COUNT(*) FROM edits e WHERE e.usr = u.id HAVING COUNT(*) < 9) AS m FROM users u',
  'SELECT id, (SELECT MAX(e.added + u.score) FROM edits e WHERE e.usr = u.id) AS m, (SELECT u.id + 1) AS p, (SELECT u.name) AS q FROM users u',
  'SELECT id FROM users u WHERE EXISTS (SELECT COUNT(*) FROM edits e WHERE e.usr = u.id)',
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id GROUP BY city HAVING SUM(added) > u.score * 4)',
  'SELECT id, (SELECT added FROM edits e WHERE e.usr = u.id ORDER BY added DESC NULLS LAST, __time LIMIT 1) AS m FROM users u',
  'SELECT id, (SELECT added FROM edits e WHERE e.usr = u.id ORDER BY added DESC NULLS LAST, __time LIMIT 1 OFFSET 2) AS m FROM users u',
  'SELECT id FROM users u WHERE 20 IN (SELECT added FROM edits e WHERE e.usr = u.id ORDER BY added DESC NULLS LAST LIMIT 3)',
  'SELECT id, id IN (SELECT usr FROM edits e WHERE e.added > u.score) AS i, id NOT IN (SELECT usr FROM edits e WHERE e.city = u.city) AS j FROM users u',
  [
    'SELECT usr, (usr, city) IN (SELECT id, city FROM users) AS i FROM edits',
    'SELECT usr, CASE WHEN EXISTS (SELECT 1 FROM users u WHERE e.usr = u.id AND e.city = u.city) THEN TRUE WHEN EXISTS (SELECT 1 FROM users u WHERE (e.usr = u.id AND e.city = u.city) IS NULL) THEN NULL ELSE FALSE END AS i FROM edits e',
  ],
  [
    'SELECT COUNT(*) FROM edits WHERE (usr, city) NOT IN (SELECT id, city FROM users)',
    'SELECT COUNT(*) FROM edits e WHERE NOT CASE WHEN EXISTS (SELECT 1 FROM users u WHERE e.usr = u.id AND e.city = u.city) THEN TRUE WHEN EXISTS (SELECT 1 FROM users u WHERE (e.usr = u.id AND e.city = u.city) IS NULL) THEN NULL ELSE FALSE END',
  ],
  [
    'SELECT COUNT(*) FROM edits e WHERE (usr, city) NOT IN (SELECT id, city FROM users u WHERE u.score > e.price)',
    'SELECT COUNT(*) FROM edits e WHERE NOT EXISTS (SELECT 1 FROM users u WHERE u.score > e.price AND (e.usr = u.id AND e.city = u.city) IS NOT FALSE)',
  ],
  // Two and three levels deep.
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND EXISTS (SELECT 1 FROM edits f WHERE f.added = e.added AND f.city = u.city))',
  'SELECT id FROM users u WHERE EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND NOT EXISTS (SELECT 1 FROM users v WHERE v.city = e.city AND v.score > u.score))',
  'SELECT id FROM users u WHERE NOT EXISTS (SELECT 1 FROM edits e WHERE e.usr = u.id AND e.city NOT IN (SELECT city FROM users v WHERE v.id <> u.id))',
  'SELECT id, (SELECT MAX(added) FROM edits e WHERE e.usr = u.id AND e.price > (SELECT AVG(price) FROM edits f WHERE f.city = u.city)) AS m FROM users u',
  'SELECT id, (SELECT COUNT(*) FROM edits e WHERE e.usr IN (SELECT v.id FROM users v WHERE EXISTS (SELECT 1 FROM edits f WHERE f.usr = v.id AND f.city = e.city AND f.added > u.id))) AS n FROM users u',
  // Set operations, windows, joins and groups that use values of the outer query.
  'SELECT id, (SELECT COUNT(*) FROM (SELECT usr FROM edits WHERE city = u.city UNION ALL SELECT id FROM users WHERE score > u.score)) AS n FROM users u',
  'SELECT id FROM users u WHERE id IN (SELECT usr FROM edits WHERE city = u.city UNION SELECT id + 1 FROM users WHERE name = u.name)',
  'SELECT id, (SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY added) AS r FROM edits WHERE usr = u.id)) AS r FROM users u',
  [
    'SELECT id, (SELECT COUNT(*) FROM edits e LEFT JOIN users v ON e.usr = v.id AND v.score > u.score WHERE e.city = u.city AND v.id IS NULL) AS n FROM users u',
    'SELECT id, (SELECT COUNT(*) FROM edits e WHERE e.city = u.city AND NOT EXISTS (SELECT 1 FROM users v WHERE e.usr = v.id AND v.score > u.score)) AS n FROM users u',
  ],
  [
    'SELECT id, (SELECT COUNT(v.id) FROM users v RIGHT JOIN edits e ON e.usr = v.id AND v.score > u.score) AS n FROM users u',
    'SELECT id, (SELECT COUNT(*) FROM users v JOIN edits e ON e.usr = v.id WHERE v.score > u.score) AS n FROM users u',
  ],
  [
    'SELECT id, (SELECT COUNT(*) FROM (SELECT * FROM edits WHERE added > u.score) e FULL JOIN (SELECT * FROM users WHERE score < u.score) v ON e.usr = v.id) AS n FROM users u',
    'SELECT id, (SELECT COUNT(*) FROM edits WHERE added > u.score) + (SELECT COUNT(*) FROM users v WHERE v.score < u.score AND NOT EXISTS (SELECT 1 FROM edits e WHERE e.usr = v.id AND e.added > u.score)) AS n FROM users u',
  ],
  'SELECT id, (SELECT COUNT(DISTINCT n) FROM (SELECT city, COUNT(*) + u.id AS n FROM edits e WHERE e.added > u.score GROUP BY city)) AS n FROM users u',
  // In ON.
  'SELECT e.usr, u.id FROM edits e JOIN users u ON e.usr = u.id AND e.city IN (SELECT city FROM users v WHERE v.score > u.score)',
  'SELECT COUNT(*) FROM edits e JOIN users u ON e.usr = u.id AND NOT EXISTS (SELECT 1 FROM edits f WHERE f.city = u.city AND f.added > e.added) JOIN users v ON v.score > (SELECT AVG(score) FROM users)',
  // One row of a subquery as a value.
  'SELECT added, (SELECT name FROM users WHERE id = 5) AS n FROM edits',
  'SELECT usr, (SELECT name FROM users u WHERE u.id = e.usr) AS n, (SELECT score FROM users u WHERE u.id = e.usr AND u.city = e.city) AS s FROM edits e',
  'SELECT city, COUNT(*) FROM edits e WHERE added > (SELECT score FROM users u WHERE u.id = e.usr) GROUP BY city ORDER BY city',
  'SELECT city, SUM(added + (SELECT id FROM users u WHERE u.id = e.usr)) AS s FROM edits e GROUP BY city ORDER BY city',
  'SELECT usr, COUNT(*) AS n FROM edits GROUP BY usr HAVING COUNT(*) > (SELECT score FROM users u WHERE u.id = usr) ORDER BY usr',
  'SELECT usr, added FROM edits e ORDER BY (SELECT score FROM users u WHERE u.id = e.usr) NULLS FIRST, usr, added, __time LIMIT 30',
  'SELECT CASE WHEN usr IN (SELECT id FROM users WHERE score > 4) THEN (SELECT MAX(score) FROM users) ELSE (SELECT score FROM users WHERE id = 3) END AS c FROM edits',
  // Windows. Orders within a window are total where the answer depends on it.
  'SELECT usr, added, ROW_NUMBER() OVER (PARTITION BY usr ORDER BY added, __time, price) FROM edits',
  'SELECT usr, RANK() OVER (ORDER BY usr), DENSE_RANK() OVER (ORDER BY usr), PERCENT_RANK() OVER (ORDER BY usr), CUME_DIST() OVER (ORDER BY usr) FROM edits',
  'SELECT id, NTILE(3) OVER (ORDER BY id), NTILE(4) OVER (PARTITION BY city ORDER BY id DESC) FROM users',
  'SELECT id, LAG(name) OVER (ORDER BY id), LEAD(score, 2) OVER (ORDER BY id), LAG(id, 3) OVER (PARTITION BY name ORDER BY id) FROM users',
  'SELECT id, FIRST_VALUE(name) OVER (ORDER BY id), LAST_VALUE(name) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM users',
  'SELECT usr, added, SUM(added) OVER (PARTITION BY usr), COUNT(*) OVER (PARTITION BY usr), AVG(price) OVER (), MIN(added) OVER (PARTITION BY city), MAX(price) OVER (PARTITION BY usr, city) FROM edits',
  'SELECT usr, SUM(added) OVER (ORDER BY usr), COUNT(price) OVER (ORDER BY usr DESC NULLS LAST) FROM edits',
  'SELECT id, SUM(score) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), COUNT(*) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), MAX(score) OVER (ORDER BY id ROWS 1 PRECEDING) FROM users',
  'SELECT usr, SUM(added) FILTER (WHERE price > 3) OVER (PARTITION BY usr), COUNT(*) FILTER (WHERE city IS NULL) OVER () FROM edits',
  'SELECT city, SUM(added) AS s, RANK() OVER (ORDER BY SUM(added) DESC NULLS LAST) AS r, SUM(SUM(added)) OVER () AS t FROM edits GROUP BY city ORDER BY r, city',
  'SELECT city, usr, COUNT(*) AS n, SUM(COUNT(*)) OVER (PARTITION BY city ORDER BY usr) FROM edits GROUP BY city, usr HAVING COUNT(*) > 1 ORDER BY 1, 2 LIMIT 12',
  'SELECT * FROM (SELECT usr, added, ROW_NUMBER() OVER (PARTITION BY usr ORDER BY added DESC NULLS LAST, __time, price) AS n FROM edits) WHERE n <= 2 ORDER BY usr, n',
  'SELECT usr, added FROM edits QUALIFY ROW_NUMBER() OVER (PARTITION BY usr ORDER BY added, __time, price) = 1',
  'SELECT id, SUM(id) OVER w, AVG(score) OVER (w ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM users WINDOW w AS (ORDER BY id)',
  'SELECT id, 10 * RANK() OVER (ORDER BY city) + id AS x FROM users ORDER BY x DESC NULLS LAST LIMIT 4',
  'SELECT u.name, e.added, SUM(e.added) OVER (PARTITION BY u.name) FROM edits e JOIN users u ON e.usr = u.id WHERE e.added > 0',
  'SELECT DISTINCT city, COUNT(*) OVER (PARTITION BY city) FROM edits',
  'SELECT COUNT(*), SUM(s) FROM (SELECT SUM(added) OVER (PARTITION BY usr) AS s FROM edits)',
  'SELECT k, MAX(r) FROM (SELECT usr AS k, RANK() OVER (PARTITION BY usr ORDER BY n) AS r FROM (SELECT usr, COUNT(*) OVER (PARTITION BY city) AS n FROM edits)) GROUP BY k ORDER BY k',
  'SELECT usr, SUM(added) OVER (ORDER BY usr RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE GROUP), MIN(city) OVER (PARTITION BY usr > 3 ORDER BY usr GROUPS 1 PRECEDING) FROM edits',
  "SELECT __time, COUNT(*) OVER (ORDER BY __time RANGE INTERVAL '5' HOUR PRECEDING), SUM(DISTINCT usr) OVER (PARTITION BY city) FROM edits WHERE added > 3",
  'SELECT city, SUM(added) AS s FROM edits GROUP BY city HAVING COUNT(*) > 3 WINDOW w AS (ORDER BY SUM(added)) QUALIFY COUNT(*) OVER w > 2 OR LAG(city IGNORE NULLS) OVER (ORDER BY city) IS NULL ORDER BY city',
  'SELECT k, SUM(n) OVER (ORDER BY k RANGE 1 PRECEDING) FROM (SELECT usr AS k, COUNT(DISTINCT added + 0) AS n, SUM(DISTINCT price) AS s FROM edits GROUP BY usr) WHERE k < 7',
  // Orders and limits of anything.
  'SELECT city FROM edits ORDER BY added * 2 DESC NULLS LAST, __time LIMIT 4',
  'SELECT city, COUNT(*) FROM edits GROUP BY city ORDER BY SUM(price) DESC NULLS LAST, city OFFSET 1 ROWS FETCH NEXT 3 ROWS ONLY',
  'SELECT * FROM (SELECT usr FROM edits ORDER BY usr NULLS LAST, __time LIMIT 10) ORDER BY 1 DESC LIMIT 3',
  'SELECT DISTINCT COUNT(*) FROM edits GROUP BY city',
  'SELECT DISTINCT city FROM (SELECT city, usr FROM edits GROUP BY 1, 2) ORDER BY city DESC LIMIT 2',
  "VALUES (1, 'a'), (2, 'b')",
  'SELECT x, COUNT(*) FROM (VALUES (1), (1), (NULL)) AS t(x) GROUP BY x ORDER BY x',
];

const relations = suite('SQL over several relations, against DuckDB');

const expected: unknown[][][] = [];

relations.before(async () => {
  const oracle = await openOracle();
  for (const query of QUERIES) expected.push(await oracle.rows(typeof query === 'string' ? query : query[1]));
  oracle.close();
});

async function check(rulesOff: readonly string[]): Promise<void> {
  const differences: string[] = [];
  for (const [index, query] of QUERIES.entries()) {
    const sql = typeof query === 'string' ? query : query[0];
    try {
      const differs = difference(sql, await answer(sql, rulesOff), expected[index] ?? []);
      if (differs !== undefined) differences.push(differs);
    } catch (error) {
      differences.push(`${sql}\n  ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  assert.is(differences.join('\n'), '');
  assert.is(memory.allocatedBytes, 0);
}

relations('every query gives the rows DuckDB gives', () => check([]));
relations('and without any rule', () => check(RULES.map(({ name }) => name)));
for (const { name } of RULES) relations(`and without ${name}`, () => check([name]));
relations.run();
