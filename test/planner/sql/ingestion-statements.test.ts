import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertRefused } from '../../refusal.js';
import { planText } from './plan-text.js';

const ingestion = suite('INSERT and REPLACE');

const PARTITIONS: readonly (readonly [written: string, planned: string])[] = [
  ['ALL', 'all'],
  ['ALL TIME', 'all'],
  ["'ALL'", 'all'],
  ["'all time'", 'all'],
  ['HOUR', 'PT1H'],
  ['DAY', 'P1D'],
  ['MONTH', 'P1M'],
  ['YEAR', 'P1Y'],
  ["'HOUR'", 'PT1H'],
  ["'day'", 'P1D'],
  ["'MONTH'", 'P1M'],
  ["'YEAR'", 'P1Y'],
  ['FLOOR(__time TO QUARTER)', 'P3M'],
  ['FLOOR("__time" TO WEEK)', 'P1W'],
  ...['PT1S', 'PT1M', 'PT5M', 'PT10M', 'PT15M', 'PT30M', 'PT1H', 'PT6H', 'P1D', 'P1W', 'P1M', 'P3M', 'P1Y'].flatMap((period) => [
    [`'${period}'`, period] as const,
    [`TIME_FLOOR(__time, '${period}')`, period] as const,
  ]),
];
for (const [written, planned] of PARTITIONS)
  ingestion(`PARTITIONED BY ${written}`, () =>
    assert.is(planText(`INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY ${written}`).split('\n')[0], `insert w by ${planned}`),
  );

const PLANNED: readonly (readonly [sql: string, head: string])[] = [
  ['INSERT INTO svc.w SELECT __time, page FROM wiki PARTITIONED BY DAY CLUSTERED BY page ASC', 'insert w by P1D clustered page'],
  [
    'INSERT INTO druid."w x" SELECT __time, page, city FROM wiki PARTITIONED BY DAY CLUSTERED BY 3, page',
    'insert w x by P1D clustered city page',
  ],
  [
    'INSERT INTO w SELECT LOWER(page) AS p, t.city FROM wiki t PARTITIONED BY ALL CLUSTERED BY t.city, LOWER(page), p',
    'insert w by all clustered city p',
  ],
  ['INSERT INTO w SELECT page FROM wiki LIMIT 5 OFFSET 2 PARTITIONED BY ALL', 'insert w by all'],
  ['WITH a AS (SELECT page FROM wiki) INSERT INTO w SELECT page FROM a PARTITIONED BY ALL', 'insert w by all'],
  ['INSERT INTO w WITH a AS (SELECT page FROM wiki) SELECT page FROM a PARTITIONED BY ALL', 'insert w by all'],
  ['INSERT INTO w (SELECT page FROM wiki) PARTITIONED BY ALL', 'insert w by all'],
  ['EXPLAIN PLAN FOR INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL', 'explain of wiki'],
  ['REPLACE INTO w OVERWRITE ALL SELECT __time, page FROM wiki PARTITIONED BY DAY;', 'replace w overwrite all by P1D'],
  [
    "REPLACE INTO w OVERWRITE WHERE NOT (__time < TIMESTAMP '2024-01-01') AND __time < TIMESTAMP '2024-03-01' OR __time >= TIMESTAMP '2025-01-01' AND __time < DATE '2025-02-01' " +
      'SELECT __time, page FROM wiki PARTITIONED BY MONTH',
    'replace w overwrite 2024-01-01T00:00:00.000Z/2024-03-01T00:00:00.000Z 2025-01-01T00:00:00.000Z/2025-02-01T00:00:00.000Z by P1M',
  ],
  ["INSERT INTO EXTERN(local(exportPath => 'a/''b''')) AS CSV SELECT page FROM wiki", "export csv to a/'b'"],
  ["insert into extern(LOCAL(exportPath=>'x')) as json with a as (select page from wiki) select * from a limit 2;", 'export json to x'],
  ["INSERT INTO EXTERN(local(exportPath => 'x')) AS PARQUET SELECT page FROM wiki", 'export parquet to x'],
  ["INSERT INTO EXTERN(local(exportPath => 'x')) AS arrow SELECT page FROM wiki", 'export arrow to x'],
  ["EXPLAIN PLAN FOR INSERT INTO EXTERN(local(exportPath => 'x')) AS CSV SELECT page FROM wiki", 'explain of wiki'],
];
for (const [sql, head] of PLANNED) ingestion(sql, () => assert.is(planText(sql).split('\n')[0], head));

const REFUSED: readonly { readonly sql: string; readonly code?: string; readonly says: RegExp }[] = [
  { sql: "REPLACE INTO EXTERN(local(exportPath => 'x')) AS CSV SELECT 1", code: 'unsupported', says: /REPLACE INTO EXTERN/ },
  { sql: "INSERT INTO EXTERN(s3(bucket => 'x')) AS CSV SELECT page FROM wiki", code: 'unsupported', says: /EXTERN\(s3\(…\)\)/ },
  {
    sql: "INSERT INTO EXTERN(local(exportPath => 'x')) AS xml SELECT page FROM wiki",
    says: /xml is no format; expected CSV, JSON, PARQUET or ARROW/,
  },
  { sql: 'INSERT INTO EXTERN(local()) AS CSV SELECT page FROM wiki', says: /local needs exportPath/ },
  {
    sql: "INSERT INTO EXTERN(local(exportPath => 'x', y => 'z')) AS CSV SELECT page FROM wiki",
    says: /local has no y; expected exportPath/,
  },
  { sql: "INSERT INTO EXTERN(disk(exportPath => 'x')) AS CSV SELECT page FROM wiki", says: /disk is no destination/ },
  {
    sql: "INSERT INTO EXTERN(local(exportPath => 'x', exportPath => 'x')) AS CSV SELECT page FROM wiki",
    code: 'sql_invalid',
    says: /exportPath is given twice/,
  },
  { sql: "INSERT INTO EXTERN(local(exportPath => 'x')) SELECT page FROM wiki", code: 'sql_invalid', says: /expected AS and a format/ },
  {
    sql: "INSERT INTO EXTERN(local(exportPath => 'x')) AS CSV SELECT page FROM wiki PARTITIONED BY ALL",
    code: 'sql_invalid',
    says: /files, which have no PARTITIONED BY/,
  },
  { sql: 'INSERT INTO EXTERN(local(exportPath => x)) AS CSV SELECT page FROM wiki', code: 'sql_invalid', says: /expected name => 'value'/ },
  {
    sql: 'INSERT w SELECT page FROM wiki PARTITIONED BY ALL',
    code: 'sql_invalid',
    says: /^line 1, column 8: expected INTO after INSERT, found w/,
  },
  {
    sql: 'INSERT INTO SELECT page FROM wiki PARTITIONED BY ALL',
    code: 'sql_invalid',
    says: /column 20: expected SELECT, WITH or VALUES, found page/,
  },
  {
    sql: 'INSERT INTO w (page) SELECT page FROM wiki PARTITIONED BY ALL',
    code: 'unsupported',
    says: /column 15: a column list in INSERT is not supported/,
  },
  { sql: 'INSERT INTO w SELECT page FROM wiki', code: 'sql_invalid', says: /column 36: expected PARTITIONED BY, found the end/ },
  { sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY', code: 'sql_invalid', says: /column 51: expected an expression/ },
  {
    sql: 'INSERT INTO w SELECT page FROM wiki CLUSTERED BY page PARTITIONED BY ALL',
    code: 'sql_invalid',
    says: /column 37: CLUSTERED BY must follow/,
  },
  {
    sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL CLUSTERED BY page DESC',
    code: 'unsupported',
    says: /column 74: DESC in CLUSTERED BY/,
  },
  {
    sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL CLUSTERED BY page NULLS LAST',
    code: 'unsupported',
    says: /column 74: LAST in CLUSTERED BY|NULLS/,
  },
  {
    sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL CLUSTERED BY UPPER(page)',
    says: /column 69: CLUSTERED BY takes columns of the query/,
  },
  {
    sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL CLUSTERED BY 2',
    says: /column 69: CLUSTERED BY takes columns of the query/,
  },
  { sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY ALL CLUSTERED BY page,', code: 'sql_invalid', says: /expected an expression/ },
  {
    sql: 'INSERT INTO w SELECT __time, page FROM wiki LIMIT 5 PARTITIONED BY DAY',
    says: /column 51: LIMIT and OFFSET of INSERT need PARTITIONED BY ALL/,
  },
  { sql: "INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY 'P2D'", says: /column 60: PARTITIONED BY takes/ },
  { sql: "INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY TIME_FLOOR(page, 'P1D')", says: /column 60: PARTITIONED BY takes/ },
  {
    sql: "INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY TIME_FLOOR(__time, 'P1D', NULL, 'Europe/Paris')",
    says: /column 60: PARTITIONED BY takes/,
  },
  { sql: 'INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY FLOOR(page TO DAY)', says: /column 60: PARTITIONED BY takes/ },
  {
    sql: 'INSERT INTO w SELECT __time, page FROM wiki PARTITIONED BY day, hour',
    says: /expected one expression|PARTITIONED BY takes/,
    code: 'sql_invalid',
  },
  {
    sql: 'INSERT INTO w SELECT __time, page, UPPER(page) FROM wiki PARTITIONED BY DAY',
    says: /column 36: column 3 of the query has no name/,
  },
  {
    sql: 'INSERT INTO w SELECT __time, page, city AS page FROM wiki PARTITIONED BY DAY',
    says: /column 36: the query has two columns named page/,
  },
  { sql: 'INSERT INTO w SELECT *, page FROM wiki PARTITIONED BY DAY', says: /two columns named page/ },
  {
    sql: 'INSERT INTO w SELECT page, added AS __time FROM wiki PARTITIONED BY DAY',
    says: /column 28: column __time must be a TIMESTAMP, found BIGINT/,
  },
  {
    sql: 'REPLACE INTO w SELECT page FROM wiki PARTITIONED BY ALL',
    code: 'sql_invalid',
    says: /column 16: expected OVERWRITE ALL or OVERWRITE WHERE, found SELECT/,
  },
  {
    sql: 'REPLACE INTO w OVERWRITE SELECT page FROM wiki PARTITIONED BY ALL',
    code: 'sql_invalid',
    says: /column 26: expected ALL or WHERE, found SELECT/,
  },
  { sql: 'REPLACE INTO w OVERWRITE WHERE SELECT page FROM wiki PARTITIONED BY ALL', code: 'sql_invalid', says: /column 32: expected/ },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE channel = 'x' SELECT __time, page FROM wiki PARTITIONED BY DAY",
    says: /column 32: OVERWRITE WHERE can only compare __time with constants, found channel/,
  },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE __time > DATE '2024-01-01' AND added > 1 SELECT __time FROM wiki PARTITIONED BY DAY",
    says: /column 63: OVERWRITE WHERE can only/,
  },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE FLOOR(__time TO DAY) = TIMESTAMP '2024-01-01 05:00:00' SELECT __time FROM wiki PARTITIONED BY DAY",
    says: /OVERWRITE WHERE/,
  },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE __time >= TIMESTAMP '2024-01-01 05:00:00' SELECT __time, page FROM wiki PARTITIONED BY DAY",
    says: /column 32: OVERWRITE WHERE must begin and end where partitions/,
  },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE __time >= TIMESTAMP '2024-01-01' SELECT page FROM wiki PARTITIONED BY ALL",
    says: /column 32: OVERWRITE WHERE must begin/,
  },
  {
    sql: "REPLACE INTO w OVERWRITE WHERE __time < TIMESTAMP '2024-01-01' AND __time > TIMESTAMP '2024-01-01' SELECT __time FROM wiki PARTITIONED BY DAY",
    says: /selects no time at all/,
  },
  { sql: 'INSERT INTO sys.segments SELECT page FROM wiki PARTITIONED BY ALL', says: /datasources are in the schema svc/ },
  { sql: 'DELETE FROM wiki', code: 'unsupported', says: /^line 1, column 1: the statement DELETE/ },
  { sql: "UPDATE wiki SET page = 'x'", code: 'unsupported', says: /the statement UPDATE/ },
  { sql: 'CREATE TABLE x (a BIGINT)', code: 'unsupported', says: /the statement CREATE TABLE/ },
  { sql: 'DROP TABLE wiki', code: 'unsupported', says: /the statement DROP TABLE/ },
];
for (const { sql, code = 'sql_plan_invalid', says } of REFUSED)
  ingestion(`${sql} is refused`, () => assertRefused(() => planText(sql), { code, says }));
ingestion.run();
