import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { planText } from './plan-text.js';

const plans = suite('SQL plans');

interface Case {
  readonly sql: string;
  readonly plan: string;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly parameters?: readonly unknown[];
}

/** The questions of the query benchmark, one of each kind. */
const BENCHMARK: readonly Case[] = [
  {
    sql: "SELECT COUNT(*) AS cnt FROM wiki WHERE __time >= TIMESTAMP '2024-01-05 06:17:00' AND __time < TIMESTAMP '2024-01-19 21:43:00'",
    plan: `group wiki
in 2024-01-05T06:17:00.000Z/2024-01-19T21:43:00.000Z
agg a0 = count
one row over none
project cnt=a0
→ cnt BIGINT`,
  },
  {
    sql: 'SELECT COUNT(*) AS cnt, SUM(added) AS a, SUM(score) AS s, MIN(delta) AS mn, MAX(price) AS mx FROM wiki',
    plan: `group wiki
agg a0 = count
agg a1 = sum added LONG
agg a2 = sum score DOUBLE
agg a3 = min delta LONG
agg a4 = max price DOUBLE
one row over none
project cnt=a0 a=a1 s=a2 mn=a3 mx=a4
→ cnt BIGINT, a BIGINT, s DOUBLE, mn BIGINT, mx DOUBLE`,
  },
  {
    sql: 'SELECT FLOOR(__time TO HOUR) AS t, COUNT(*) AS cnt FROM wiki GROUP BY 1 ORDER BY 1',
    plan: `group wiki
key d0 = PT1H UTC
agg a0 = count
sort d0 asc nulls first numeric limit null offset 0
project t=d0 cnt=a0
→ t TIMESTAMP, cnt BIGINT`,
  },
  {
    sql: 'SELECT EXTRACT(HOUR FROM __time) AS h, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 1',
    plan: `group wiki
v0 := timestamp_extract("__time", 'HOUR', 'UTC') LONG
key d0 = v0 LONG
agg a0 = sum added LONG
sort d0 asc nulls first numeric limit null offset 0
project h=d0 a=a0
→ h BIGINT, a BIGINT`,
  },
  {
    sql: 'SELECT channel, SUM(added) AS a FROM wiki GROUP BY 1 ORDER BY 2 DESC LIMIT 5',
    plan: `group wiki
key d0 = channel STRING
agg a0 = sum added LONG
sort a0 desc nulls last numeric limit 5 offset 0
project channel=d0 a=a0
→ channel VARCHAR, a BIGINT`,
  },
  {
    sql: 'SELECT isRobot, channel, city, COUNT(*) AS cnt, SUM(added) AS a FROM wiki GROUP BY 1, 2, 3 ORDER BY 5 DESC LIMIT 100',
    plan: `group wiki
key d0 = isRobot STRING
key d1 = channel STRING
key d2 = city STRING
agg a0 = count
agg a1 = sum added LONG
sort a1 desc nulls last numeric limit 100 offset 0
project isRobot=d0 channel=d1 city=d2 cnt=a0 a=a1
→ isRobot VARCHAR, channel VARCHAR, city VARCHAR, cnt BIGINT, a BIGINT`,
  },
  {
    sql: "SELECT COUNT(*) AS cnt FROM wiki WHERE channel <> '#de.wikipedia'",
    plan: `group wiki
where not channel = #de.wikipedia STRING
agg a0 = count
one row over none
project cnt=a0
→ cnt BIGINT`,
  },
  {
    sql: 'SELECT SUM(price) AS p FROM wiki WHERE added >= 200 AND score < 0.9',
    plan: `group wiki
where (200 <= added LONG numeric and score < 0.9 DOUBLE numeric)
agg a0 = sum price DOUBLE
one row over none
project p=a0
→ p DOUBLE`,
  },
  {
    sql: 'SELECT channel, APPROX_COUNT_DISTINCT("user") AS u FROM wiki GROUP BY 1 ORDER BY 1',
    plan: `group wiki
key d0 = channel STRING
agg a0 = distinct user
sort d0 asc nulls first lexicographic limit null offset 0
project channel=d0 u=a0
→ channel VARCHAR, u BIGINT`,
  },
  {
    sql: "SELECT COUNT(*) AS cnt FROM wiki WHERE page LIKE '%moon%' AND \"user\" IN ('a', 'b')",
    plan: `group wiki
where (page like %moon% and user in [a b] STRING)
agg a0 = count
one row over none
project cnt=a0
→ cnt BIGINT`,
  },
  {
    sql: `SELECT FLOOR(__time TO DAY) AS t, SUM(deleted) FILTER (WHERE isRobot = 'true') AS d FROM wiki
          WHERE (channel = '#fr.wikipedia' OR country = 'Temple') AND __time >= TIMESTAMP '2024-01-08 00:00:00' AND __time < TIMESTAMP '2024-01-15 00:00:00' GROUP BY 1 ORDER BY 1`,
    plan: `group wiki
in 2024-01-08T00:00:00.000Z/2024-01-15T00:00:00.000Z
where (channel = #fr.wikipedia STRING or country = Temple STRING)
key d0 = P1D UTC
agg a0 = sum deleted LONG where isRobot = true STRING
sort d0 asc nulls first numeric limit null offset 0
project t=d0 d=a0
→ t TIMESTAMP, d BIGINT`,
  },
  {
    sql: 'SELECT SUM(added - deleted * 2) AS x, AVG(price) AS p FROM wiki',
    plan: `group wiki
v0 := ("added" - ("deleted" * 2)) LONG
agg a0 = sum v0 LONG
agg a1 = sum price DOUBLE
agg a2 = count where not price is null
one row over none
compute p0 = ("a1" / "a2") DOUBLE
project x=a0 p=p0
→ x BIGINT, p DOUBLE`,
  },
  {
    sql: "SELECT __time, page FROM wiki WHERE channel = '#de.wikipedia' ORDER BY __time DESC LIMIT 100",
    plan: `scan wiki
where channel = #de.wikipedia STRING
scan __time page descending limit 100 offset 0
→ __time TIMESTAMP, page VARCHAR`,
  },
];

const CLAUSES: readonly Case[] = [
  { sql: 'SELECT page FROM svc.wiki LIMIT 5 OFFSET 2', plan: 'scan wiki\nscan page limit 5 offset 2\n→ page VARCHAR' },
  {
    sql: 'SELECT page FROM druid.wiki OFFSET 2 ROWS FETCH NEXT 5 ROWS ONLY',
    plan: 'scan wiki\nscan page limit 5 offset 2\n→ page VARCHAR',
  },
  {
    sql: 'SELECT page, page, added + 1, w.page AS x FROM wiki AS w ORDER BY added DESC NULLS FIRST, x LIMIT 3',
    plan: `scan wiki
v0 := ("added" + 1) LONG
scan page v0 added
sort added desc nulls first numeric, page asc nulls first lexicographic limit 3 offset 0
project page page0=page EXPR$2=v0 x=page
→ page VARCHAR, page VARCHAR, EXPR$2 BIGINT, x VARCHAR`,
  },
  {
    sql: "SELECT country AS c, COUNT(*) FROM wiki GROUP BY c HAVING SUM(added) > 10 AND c <> 'x' ORDER BY SUM(added) / COUNT(*) DESC, c LIMIT 3 OFFSET 1",
    plan: `group wiki
where not country = x STRING
key d0 = country STRING
agg a0 = count
agg a1 = sum added LONG
having 10 < a1 LONG numeric
compute p0 = ("a1" / "a0") LONG
sort p0 desc nulls last numeric, d0 asc nulls first lexicographic limit 3 offset 1
project c=d0 EXPR$1=a0
→ c VARCHAR, EXPR$1 BIGINT`,
  },
  {
    sql: 'SELECT UPPER(channel), UPPER(channel) || city FROM wiki GROUP BY UPPER(channel), city',
    plan: `group wiki
v0 := upper("channel") STRING
key d0 = v0 STRING
key d1 = city STRING
compute p0 = concat("d0", "d1") STRING
project EXPR$0=d0 EXPR$1=p0
→ EXPR$0 VARCHAR, EXPR$1 VARCHAR`,
  },
  {
    sql: 'SELECT DISTINCT channel FROM wiki ORDER BY channel',
    plan: 'group wiki\nkey d0 = channel STRING\nsort d0 asc nulls first lexicographic limit null offset 0\nproject channel=d0\n→ channel VARCHAR',
  },
  {
    sql: 'SELECT DISTINCT channel, COUNT(*) FROM wiki GROUP BY channel',
    plan: 'group wiki\nkey d0 = channel STRING\nagg a0 = count\nproject channel=d0 EXPR$1=a0\n→ channel VARCHAR, EXPR$1 BIGINT',
  },
  {
    sql: 'SELECT COUNT(*) FROM wiki GROUP BY ()',
    plan: 'group wiki\nagg a0 = count\none row over none\nproject EXPR$0=a0\n→ EXPR$0 BIGINT',
  },
  {
    sql: 'SELECT COUNT(city), COUNT(1), COUNT(DISTINCT city) FILTER (WHERE added > 1) FROM wiki',
    plan: 'group wiki\nagg a0 = count where not city is null\nagg a1 = count\nagg a2 = distinct city where 1 < added LONG numeric\none row over none\nproject EXPR$0=a0 EXPR$1=a1 EXPR$2=a2\n→ EXPR$0 BIGINT, EXPR$1 BIGINT, EXPR$2 BIGINT',
  },
  {
    sql: 'SELECT MAX(__time) FROM wiki',
    plan: 'group wiki\nagg a0 = max __time LONG\none row over none\nproject EXPR$0=a0\n→ EXPR$0 TIMESTAMP',
  },
  {
    sql: "SELECT COUNT(*) FROM (SELECT UPPER(channel) AS c, added FROM wiki WHERE added > 5) AS t WHERE t.c = 'X'",
    plan: `group wiki
where (5 < added LONG numeric and (upper("channel") == 'X'))
agg a0 = count
one row over none
project EXPR$0=a0
→ EXPR$0 BIGINT`,
  },
  {
    sql: "SELECT UPPER(page) FROM wiki WHERE v0 = 'x'",
    plan: 'scan wiki\nwhere v0 = x STRING\n_v0 := upper("page") STRING\nscan _v0\nproject EXPR$0=_v0\n→ EXPR$0 VARCHAR',
  },
  {
    sql: "SELECT SUM(added + 1) FROM wiki WHERE v0 = 'x'",
    plan: 'group wiki\nwhere v0 = x STRING\n_v0 := ("added" + 1) LONG\nagg a0 = sum _v0 LONG\none row over none\nproject EXPR$0=a0\n→ EXPR$0 BIGINT',
  },
  { sql: 'WITH t (a) AS (SELECT channel FROM wiki) SELECT a FROM t', plan: 'scan wiki\nscan channel\nproject a=channel\n→ a VARCHAR' },
  { sql: "VALUES (1, 'a'), (NULL, 'b')", plan: 'scan inline[2]\nscan EXPR$0 EXPR$1\n→ EXPR$0 INTEGER, EXPR$1 VARCHAR' },
  { sql: 'SELECT 1 + 1 AS two', plan: 'scan inline[1]\nv0 := 2 LONG\nscan v0\nproject two=v0\n→ two INTEGER' },
  {
    sql: 'SELECT channel FROM wiki WHERE channel = ? AND added > ? LIMIT ?',
    parameters: [
      { type: 'VARCHAR', value: 'en' },
      { type: 'BIGINT', value: '9' },
      { type: 'INTEGER', value: 4 },
    ],
    plan: 'scan wiki\nwhere (channel = en STRING and 9 < added LONG numeric)\nscan channel limit 4 offset 0\n→ channel VARCHAR',
  },
  { sql: 'EXPLAIN PLAN FOR SELECT page FROM wiki', plan: 'explain of wiki' },
  {
    sql: "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'svc'",
    plan: 'scan inline[5]\nwhere TABLE_SCHEMA = svc STRING\nscan TABLE_NAME\n→ TABLE_NAME VARCHAR',
  },
];

/** `WHERE condition` → the filter and intervals it becomes. */
const CONDITIONS: readonly (readonly [sql: string, plan: string])[] = [
  ['added > 1 AND added <= 5', 'where 1 < added <= 5 LONG numeric'],
  ['added BETWEEN 1 AND 5', 'where 1 <= added <= 5 LONG numeric'],
  ['added NOT BETWEEN 1 AND 5', 'where not 1 <= added <= 5 LONG numeric'],
  ['5 > added', 'where added < 5 LONG numeric'],
  ['added > 1.5', 'where 1.5 < added DOUBLE numeric'],
  ["added = '7'", 'where added = 7 LONG'],
  ["channel < 'm'", 'where channel < m STRING lexicographic'],
  ['channel = 5', 'where channel = 5 STRING'],
  ['5 <> channel', 'where not channel = 5 STRING'],
  ['channel IN (5, 6)', 'where channel in [5 6] STRING'],
  ['channel > 5', 'where (cast("channel", \'LONG\') > 5)'],
  ['channel = 5.5', 'where (cast("channel", \'DOUBLE\') == 5.5)'],
  ['UPPER(channel) = 5', 'where (cast(upper("channel"), \'LONG\') == 5)'],
  ['channel IS NOT NULL', 'where not channel is null'],
  ["channel IS DISTINCT FROM 'x'", 'where not (not channel is null and channel = x STRING)'],
  ['channel IS NOT DISTINCT FROM NULL', 'where channel is null'],
  ['channel IS NOT DISTINCT FROM city', 'where notdistinctfrom("channel", "city")'],
  ["channel NOT LIKE 'a!_%' ESCAPE '!'", 'where not channel like a!_% escape !'],
  ["UPPER(channel) LIKE 'A%'", 'where like(upper("channel"), \'A%\')'],
  ["channel IN ('a', 'b', 'a')", 'where channel in [a b] STRING'],
  ["channel NOT IN ('a', NULL)", 'where not (channel = a STRING or ("channel" == null))'],
  ['added IN (1, 2.5)', 'where (added = 1 LONG or added = 2.5 DOUBLE)'],
  ['added - deleted > 3', 'where (("added" - "deleted") > 3)'],
  ['(added > 1) IS TRUE', 'where (1 < added LONG numeric) is true'],
  ['(added > 1) IS NOT FALSE', 'where not (not 1 < added LONG numeric) is true'],
  ['(added > 1) IS UNKNOWN', 'where isnull(("added" > 1))'],
  ['added = NULL', 'where ("added" == null)'],
  ['TRUE', ''],
  ['added > 1 AND 1 = 1', 'where 1 < added LONG numeric'],
  ['added > 1 OR 1 = 1', ''],
  ['added > 1 AND 1 = 2', 'in '],
  ["__time >= '2024-01-01' AND added > 1", 'in 2024-01-01T00:00:00.000Z/146140482-04-24T15:36:27.903Z\nwhere 1 < added LONG numeric'],
  ["__time = TIMESTAMP '2024-01-01 00:00:00'", 'in 2024-01-01T00:00:00.000Z/2024-01-01T00:00:00.001Z'],
  ["__time BETWEEN '2024-01-01' AND '2024-01-02'", 'in 2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.001Z'],
  ["TIME_IN_INTERVAL(__time, '2024-01-01/P1D')", 'in 2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z'],
  [
    "TIME_IN_INTERVAL(__time, '2024-01-01/P1D') OR TIME_IN_INTERVAL(__time, '2024-01-03/P1D')",
    'in 2024-01-01T00:00:00.000Z/2024-01-02T00:00:00.000Z 2024-01-03T00:00:00.000Z/2024-01-04T00:00:00.000Z',
  ],
  ["__time < '2024-01-01' OR added > 1", 'where (__time < 1704067200000 LONG numeric or 1 < added LONG numeric)'],
  ["NOT __time < '2024-01-01'", 'in 2024-01-01T00:00:00.000Z/146140482-04-24T15:36:27.903Z'],
  ["__time >= CURRENT_TIMESTAMP - INTERVAL '1' DAY AND __time < CURRENT_DATE", 'in 2024-01-14T12:00:00.000Z/2024-01-15T00:00:00.000Z'],
  ["__time >= TIME_SHIFT(TIMESTAMP '2024-03-31', 'P1M', -1) AND __time < TIMESTAMPADD(MONTH, 1, TIMESTAMP '2024-01-31')", 'in '],
  [
    "__time >= TIMESTAMP '2024-01-31' + INTERVAL '1' MONTH AND __time < TIME_PARSE('2024-03')",
    'in 2024-02-29T00:00:00.000Z/2024-03-01T00:00:00.000Z',
  ],
  [
    '__time > MILLIS_TO_TIMESTAMP(1704067200000) AND TIMESTAMP_TO_MILLIS(__time) <= 1704067200005',
    'in 2024-01-01T00:00:00.001Z/2024-01-01T00:00:00.006Z',
  ],
];

const INGESTION: readonly Case[] = [
  {
    sql: `REPLACE INTO svc.w OVERWRITE WHERE __time >= TIMESTAMP '2015-09-12' AND __time < TIMESTAMP '2015-09-13'
          SELECT TIME_PARSE(ts) AS __time, city FROM TABLE(EXTERN('{"type":"inline","data":"x"}', '{"type":"json"}')) EXTEND (ts VARCHAR, city VARCHAR) PARTITIONED BY HOUR CLUSTERED BY city`,
    plan: `replace w overwrite 2015-09-12T00:00:00.000Z/2015-09-13T00:00:00.000Z by PT1H clustered city
scan external
v0 := timestamp_parse("ts", null, 'UTC') LONG
scan v0 city
project __time=v0 city
→ __time TIMESTAMP, city VARCHAR`,
  },
  {
    sql: `INSERT INTO w SELECT MILLIS_TO_TIMESTAMP(t) AS __time, COUNT(*) AS n FROM TABLE(EXTERN('{}', '{}', '[{"name":"t","type":"long"}]')) GROUP BY 1 PARTITIONED BY TIME_FLOOR(__time, 'P1D')`,
    plan: 'insert w by P1D\ngroup external\nkey d0 = t LONG\nagg a0 = count\nproject __time=d0 n=a0\n→ __time TIMESTAMP, n BIGINT',
  },
  {
    sql: "REPLACE INTO w OVERWRITE ALL SELECT * FROM (VALUES (1, 'x')) AS t(a, b) PARTITIONED BY ALL TIME",
    plan: 'replace w overwrite all by all\nscan inline[1]\nscan a b\n→ a INTEGER, b VARCHAR',
  },
];

for (const { sql, plan, context, parameters } of [...BENCHMARK, ...CLAUSES, ...INGESTION])
  plans(sql.slice(0, 70), () => assert.fixture(planText(sql, context, parameters), plan));
for (const [sql, plan] of CONDITIONS) {
  plans(`WHERE ${sql}`, () => {
    const lines = planText(`SELECT page FROM wiki WHERE ${sql}`).split('\n');
    assert.fixture(lines.slice(1, -2).join('\n'), plan);
  });
}

plans('sqlTimeZone moves literals, floors and dates', () => {
  const text = planText(
    "SELECT FLOOR(__time TO DAY), COUNT(*) FROM wiki WHERE __time >= TIMESTAMP '2024-01-01 00:00:00' AND __time < DATE '2024-07-01' GROUP BY 1",
    { sqlTimeZone: 'America/Los_Angeles' },
  );
  assert.fixture(
    text,
    'group wiki\nin 2024-01-01T08:00:00.000Z/2024-07-01T07:00:00.000Z\nkey d0 = P1D America/Los_Angeles\nagg a0 = count\nproject EXPR$0=d0 EXPR$1=a0\n→ EXPR$0 TIMESTAMP, EXPR$1 BIGINT',
  );
});

plans.run();
