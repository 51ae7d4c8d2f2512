import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planText } from '../plan-text.js';

/** Plans of statements over several relations: what is read where, and what becomes one plan. */
const PLANS: readonly (readonly [sql: string, plan: string])[] = [
  [
    'SELECT added, added - 1 AS b, LENGTH(page) AS l, COUNT(*) AS n FROM wiki GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2 LIMIT 3',
    `group wiki
v0 := strlen("page") LONG
key d0 = added LONG
key d2 = v0 LONG
agg a0 = count
sort a0 desc nulls last numeric, d0 asc nulls first numeric limit 3 offset 0
compute p0 = ("d0" - 1) LONG
project added=d0 b=p0 l=d2 n=a0
→ added BIGINT, b BIGINT, l INTEGER, n BIGINT`,
  ],
  // Conditions on joined and unnested rows are a part of what groups them: these rows are no plan of their own.
  [
    'SELECT COUNT(*) FROM wiki a LEFT JOIN wiki b ON a."user" = b.page WHERE b.page IS NULL',
    `group join left j0. on "user" = "page" STRING (
  wiki
  wiki)
where j0.page is null
agg a0 = count
one row over none
project EXPR$0=a0
→ EXPR$0 BIGINT`,
  ],
  [
    'SELECT x, COUNT(*) FROM wiki, UNNEST(ARRAY[city, channel]) t(x) WHERE x <> page GROUP BY x',
    `group (unnest array("city", "channel") as unnest of wiki)
where ("unnest" != "page")
key d0 = unnest STRING
agg a0 = count
project x=d0 EXPR$1=a0
→ x VARCHAR, EXPR$1 BIGINT`,
  ],
  // Strings of a union may be several in some row: the second key is no function of the first then. Several distinct values are keys of groups of their own.
  [
    'SELECT page, LENGTH(page) AS l, COUNT(DISTINCT added) AS n, COUNT(DISTINCT deleted) AS m FROM (SELECT page, added, deleted FROM wiki UNION ALL SELECT page, added, deleted FROM wiki) GROUP BY 1, 2 LIMIT 10',
    `group union(
  (
    group wiki
    v0 := strlen("page") LONG
    key d0 = page STRING
    key d1 = v0 LONG
    key a0 = added LONG
    compute p0 = null LONG
    project d0 d1 a0 a1=p0)
  (
    group wiki
    v0 := strlen("page") LONG
    key d0 = page STRING
    key d1 = v0 LONG
    key a1 = deleted LONG
    compute p0 = null LONG
    project d0 d1 a0=p0 a1)
  (
    group wiki
    v0 := strlen("page") LONG
    key d0 = page STRING
    key d1 = v0 LONG
    key a0 = added LONG
    compute p0 = null LONG
    project d0 d1 a0 a1=p0)
  (
    group wiki
    v0 := strlen("page") LONG
    key d0 = page STRING
    key d1 = v0 LONG
    key a1 = deleted LONG
    compute p0 = null LONG
    project d0 d1 a0=p0 a1))
key d0 = d0 STRING
key d1 = d1 LONG
agg a0 = distinct a0
agg a1 = distinct a1
limit 10 offset 0
project page=d0 l=d1 n=a0 m=a1
→ page VARCHAR, l INTEGER, n BIGINT, m BIGINT`,
  ],
  // Strings of a union in a union are single where those of its tables are: a row of several would be counted in several groups.
  [
    'SELECT COUNT(*) AS n, COUNT(DISTINCT page) AS d FROM (SELECT page FROM wiki UNION ALL SELECT page FROM (SELECT page FROM wiki UNION ALL SELECT page FROM wiki LIMIT 9))',
    `group union(
  (
    group wiki
    key a1 = page STRING
    agg a0 = count)
  (
    group (
      scan union(
        (
          scan wiki
          scan page limit 9 offset 0)
        (
          scan wiki
          scan page limit 9 offset 0))
      scan page limit 9 offset 0)
    key a1 = page STRING
    agg a0 = count))
agg a0 = sum a0 LONG
agg a1 = distinct a1
one row over none
compute p0 = nvl("a0", 0) LONG
project n=p0 d=a1
→ n BIGINT, d BIGINT`,
  ],
  // Distinct values of one expression are a key of the first groups.
  [
    'SELECT channel, COUNT(DISTINCT added) AS n, COUNT(*) AS m FROM (SELECT channel, added FROM wiki UNION ALL SELECT country, deleted FROM wiki) GROUP BY 1 LIMIT 10',
    `group union(
  (
    group wiki
    key d0 = channel STRING
    key a0 = added LONG
    agg a1 = count)
  (
    group wiki
    key d0 = country STRING
    key a0 = deleted LONG
    agg a1 = count))
key d0 = d0 STRING
agg a0 = distinct a0
agg a1 = sum a1 LONG
limit 10 offset 0
project channel=d0 n=a0 m=a1
→ channel VARCHAR, n BIGINT, m BIGINT`,
  ],
  [
    "SELECT w.page, x.n FROM wiki w JOIN (SELECT channel, COUNT(*) AS n FROM wiki WHERE added > 3 GROUP BY channel) x ON w.channel = x.channel WHERE x.n > 5 AND w.city = 'Rio' AND w.__time >= TIMESTAMP '2024-01-01'",
    `scan join inner j0. on "channel" = "channel" STRING (
  (wiki where (city = Rio STRING and 1704067200000 <= __time LONG numeric))
  (
    group wiki
    where 3 < added LONG numeric
    key d0 = channel STRING
    agg a0 = count
    having 5 < a0 LONG numeric
    project channel=d0 n=a0))
scan page j0.n
project page n=j0.n
→ page VARCHAR, n BIGINT`,
  ],
  [
    "SELECT channel, SUM(n) FROM (SELECT channel, added AS n FROM wiki UNION ALL SELECT country, deleted FROM wiki WHERE isRobot = 'x') GROUP BY channel",
    `group union(
  (
    group wiki
    key d0 = channel STRING
    agg a0 = sum added LONG)
  (
    group wiki
    where isRobot = x STRING
    key d0 = country STRING
    agg a0 = sum deleted LONG))
key d0 = d0 STRING
agg a0 = sum a0 LONG
project channel=d0 EXPR$1=a0
→ channel VARCHAR, EXPR$1 BIGINT`,
  ],
  [
    'SELECT page FROM wiki WHERE channel IN (SELECT country FROM wiki WHERE added > 100) AND NOT EXISTS (SELECT 1 FROM wiki i WHERE i.page = wiki.page AND i.delta = 1)',
    `scan join anti $q5. on "page" = "page" STRING (
  join semi $q2. on "channel" = "country" STRING (
    wiki
    (
      group wiki
      where 100 < added LONG numeric
      key country = country STRING))
  (
    group wiki
    where delta = 1 LONG
    key page = page STRING))
scan page
→ page VARCHAR`,
  ],
  [
    "SELECT x, COUNT(*) AS n FROM (SELECT STRING_TO_MV(page, ',') AS x FROM wiki) GROUP BY x HAVING x = 'a'",
    `group wiki
v0 := string_to_mv("page", ',') STRING
key d0 = v0 STRING
agg a0 = count
having d0 = a STRING
project x=d0 n=a0
→ x VARCHAR, n BIGINT`,
  ],
  [
    'SELECT channel, SUM(added) AS s, RANK() OVER (ORDER BY SUM(added) DESC) AS r FROM wiki GROUP BY channel ORDER BY r LIMIT 3',
    `group wiki
key d0 = channel STRING
agg a0 = sum added LONG
window $w0 = {"kind":"rank"} range unbounded 0 by  order a0 desc
sort $w0 asc nulls first numeric limit 3 offset 0
project channel=d0 s=a0 r=$w0
→ channel VARCHAR, s BIGINT, r BIGINT`,
  ],
  [
    'SELECT n + 1 FROM (SELECT COUNT(*) AS n FROM (SELECT city FROM wiki GROUP BY city))',
    `group (
  group wiki
  key d0 = city STRING)
agg a0 = count
one row over none
compute p0 = ("a0" + 1) LONG
project EXPR$0=p0
→ EXPR$0 BIGINT`,
  ],
];

const plans = suite('SQL plans over several relations');
for (const [sql, plan] of PLANS) plans(sql.slice(0, 70), () => assert.fixture(planText(sql), plan));
plans.run();
