/** Statements that are planned only. */
export const PLANNED = [
  "SELECT FLOOR(__time TO HOUR) AS t, COUNT(*) FILTER (WHERE isRobot = 'true') FROM wiki WHERE __time >= TIMESTAMP '2024-01-05' GROUP BY 1 ORDER BY 2 DESC NULLS LAST LIMIT 5 OFFSET 1",
  "SELECT DISTINCT w.channel, CASE WHEN added > 1 THEN 'x' ELSE UPPER(page) END AS c FROM svc.wiki AS w WHERE page LIKE '%a!%' ESCAPE '!' AND added NOT IN (1, 2, 3, 4, 5, 6, 7, 8, 9) OR city IS NOT DISTINCT FROM 'x'",
  'SELECT channel, AVG(price) FROM (SELECT channel, price FROM wiki WHERE added BETWEEN 1 AND ?) AS t GROUP BY channel HAVING COUNT(DISTINCT channel) > 0',
  "REPLACE INTO t OVERWRITE WHERE __time >= DATE '2024-01-01' SELECT TIME_PARSE(ts) AS __time, TRIM(BOTH 'x' FROM a) AS a FROM TABLE(EXTERN('{\"type\":\"inline\"}', '{}')) EXTEND (ts VARCHAR, a BIGINT) PARTITIONED BY TIME_FLOOR(__time, 'P1D') CLUSTERED BY a",
  "INSERT INTO t SELECT CURRENT_TIMESTAMP + INTERVAL '1' WEEK AS __time, SUBSTRING(b FROM 2 FOR 3) AS s, EXTRACT(MILLISECOND FROM __time) AS m FROM wiki PARTITIONED BY DAY",
  'WITH t (a) AS (SELECT page FROM wiki) SELECT a, -added || 1 FROM t, (VALUES (1, NULL), (2.5, 1e3)) AS v(x, y)',
  "SELECT a_s, k FROM (SELECT page, city, added FROM wiki) PIVOT (SUM(added) AS s FOR (page) IN ('x' AS a, NULL)) UNPIVOT INCLUDE NULLS (v FOR k IN (a_s AS 'l', city)) AS u (b, k, v)",
  'EXPLAIN PLAN FOR SELECT * FROM INFORMATION_SCHEMA.COLUMNS ORDER BY 1',
];
/** Statements over the small tables, which are answered as well where they still mean something. */
export const ANSWERED = [
  "SELECT city, COUNT(*) AS n, SUM(added) FILTER (WHERE price > 2.5) FROM edits WHERE city NOT LIKE 'R%' GROUP BY 1 HAVING SUM(added) > 0 ORDER BY n DESC NULLS LAST LIMIT 3",
  'SELECT e.city, u.name, u.score + e.price FROM edits AS e LEFT JOIN users AS u ON e.usr = u.id AND u.score > 1 WHERE e.added IS NOT NULL ORDER BY e.__time, u.name',
  'SELECT city, usr, SUM(added), GROUPING(city, usr) FROM edits GROUP BY GROUPING SETS ((city, usr), (city), ()) ORDER BY 1, 2, 4',
  'SELECT usr FROM edits WHERE usr IN (SELECT id FROM users WHERE score > 3) UNION ALL SELECT id FROM users WHERE EXISTS (SELECT 1 FROM none) EXCEPT SELECT 5',
  'SELECT name, ROW_NUMBER() OVER (PARTITION BY city ORDER BY score DESC), SUM(score) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM users QUALIFY ROW_NUMBER() OVER (ORDER BY id) < 6',
  "SELECT CASE WHEN added > 3 THEN 'x' WHEN price BETWEEN 1 AND 2 THEN city ELSE CAST(usr AS VARCHAR) END, COALESCE(NULLIF(city, ''), 'none'), ROUND(price / 3, 2) FROM edits",
  "SELECT t.v, ARRAY_LENGTH(ARRAY[usr, added]), ARRAY_TO_STRING(ARRAY['a', city], '-') FROM edits CROSS JOIN UNNEST(ARRAY[1, added]) AS t(v) WHERE t.v <> 2",
  "SELECT TIME_FLOOR(__time, 'P1D') AS d, TIMESTAMPADD(HOUR, 3, MAX(__time)), EXTRACT(DOW FROM MIN(__time)) FROM edits WHERE __time > TIMESTAMP '2024-02-28 00:00:00' - INTERVAL '2' DAY GROUP BY 1",
  "SELECT JSON_VALUE(PARSE_JSON('{\"a\": [1, 2]}'), '$.a[1]' RETURNING BIGINT) + id, (SELECT MAX(added) FROM edits WHERE usr = users.id) FROM users WHERE name = 'u3' OR id = 4",
];
