import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertRefused } from '../../refusal.js';
import { planText } from './plan-text.js';

const errors = suite('SQL that does not plan');

const CASES: readonly { readonly sql: string; readonly code?: string; readonly says: RegExp; readonly parameters?: readonly unknown[] }[] =
  [
    { sql: 'SELECT chanel FROM wiki', says: /^line 1, column 8: unknown column chanel; did you mean channel\?/ },
    { sql: 'SELECT 1 FROM wikki', says: /column 15: unknown table wikki; did you mean wiki\?/ },
    { sql: 'WITH edits AS (SELECT 1) SELECT * FROM edit', says: /column 40: unknown table edit; did you mean edits\?/ },
    { sql: 'SELECT 1 FROM other.wiki', says: /unknown schema other/ },
    { sql: 'SELECT x.page FROM wiki', says: /column 8: unknown table x; this query reads wiki/ },
    { sql: 'SELECT UPER(page) FROM wiki', says: /unknown function UPER; did you mean UPPER\?/ },
    { sql: 'SELECT TDIGEST_QUANTILE(page, 1) FROM wiki', code: 'unsupported', says: /function TDIGEST_QUANTILE/ },
    { sql: 'SELECT * FROM sys.segments', code: 'unsupported', says: /sys\.segments/ },
    { sql: 'SELECT * FROM INFORMATION_SCHEMA.TABELS', says: /did you mean TABLES/ },
    { sql: 'SELECT page, COUNT(*) FROM wiki', says: /column page is neither in GROUP BY/ },
    { sql: "SELECT page FROM wiki GROUP BY channel HAVING city = 'x'", says: /column city is neither|column page is neither/ },
    { sql: 'SELECT page FROM wiki WHERE COUNT(*) > 1', says: /aggregate COUNT cannot stand in WHERE/ },
    { sql: 'SELECT COUNT(*) FROM wiki GROUP BY 1', says: /column 1 is an aggregate/ },
    {
      sql: 'SELECT FLOOR(added), added FROM wiki GROUP BY CUBE (FLOOR(added), added)',
      code: 'unsupported',
      says: /two expressions that are always equal in different grouping sets/,
    },
    { sql: 'SELECT page FROM wiki ORDER BY 2', says: /there is no column 2; the query selects 1/ },
    { sql: 'SELECT SUM(MAX(added)) FROM wiki', says: /aggregate MAX cannot stand inside SUM/ },
    { sql: 'SELECT SUM(__time) FROM wiki', says: /SUM: argument 1 must be a number, found TIMESTAMP/ },
    { sql: 'SELECT MIN(PARSE_JSON(page)) FROM wiki', says: /MIN: argument 1 must be a number, text, BOOLEAN, TIMESTAMP, DATE or ARRAY/ },
    { sql: 'SELECT SUM(added ORDER BY page) FROM wiki', code: 'unsupported', says: /ORDER BY in SUM/ },
    { sql: 'SELECT ARRAY_AGG(DISTINCT page ORDER BY added) FROM wiki', says: /only be ordered by the value it collects/ },
    { sql: 'SELECT MAX(page ORDER BY added) OVER () FROM wiki', code: 'unsupported', says: /ORDER BY in MAX/ },
    {
      sql: 'SELECT SUM(added) OVER (ORDER BY page RANGE 1 PRECEDING) FROM wiki',
      says: /RANGE with a number needs an ORDER BY of a number/,
    },
    { sql: "SELECT SUM(added) OVER (ORDER BY added RANGE INTERVAL '1' DAY PRECEDING) FROM wiki", says: /RANGE with an INTERVAL needs/ },
    { sql: 'SELECT SUM(added) OVER (ORDER BY added, page RANGE 1 PRECEDING) FROM wiki', says: /one expression in ORDER BY, found 2/ },
    { sql: 'SELECT SUM(added) OVER (RANGE 1 PRECEDING) FROM wiki', says: /one expression in ORDER BY, found 0/ },
    { sql: "SELECT SUM(added) OVER (ORDER BY __time RANGE INTERVAL '-1' DAY PRECEDING) FROM wiki", says: /cannot be negative/ },
    { sql: 'SELECT SUM(added) OVER (ORDER BY page ROWS 1.5 PRECEDING) FROM wiki', says: /literal number of rows/ },
    { sql: 'SELECT SUM(added IGNORE NULLS) OVER () FROM wiki', says: /SUM takes no IGNORE NULLS/ },
    { sql: 'SELECT RANK() RESPECT NULLS OVER (ORDER BY page) FROM wiki', code: 'sql_invalid', says: /RANK takes no RESPECT NULLS/ },
    { sql: 'SELECT BLOOM_FILTER(page, 10) OVER () FROM wiki', code: 'unsupported', says: /BLOOM_FILTER OVER/ },
    {
      sql: 'SELECT SUM(added) OVER (w PARTITION BY page) FROM wiki WINDOW w AS (ORDER BY added)',
      says: /PARTITION BY cannot be added to window w/,
    },
    { sql: 'SELECT SUM(added) OVER (w ORDER BY page) FROM wiki WINDOW w AS (ORDER BY added)', says: /window w has an ORDER BY already/ },
    { sql: 'SELECT SUM(added) OVER (w ORDER BY page) FROM wiki WINDOW w AS (ROWS 1 PRECEDING)', says: /window w has a frame/ },
    { sql: 'SELECT SUM(added) OVER w FROM wiki WINDOW w AS (v), v AS (w)', says: /is defined by itself/ },
    { sql: 'SELECT DS_TUPLE_DOUBLES(DISTINCT page, added) FROM wiki', code: 'unsupported', says: /DS_TUPLE_DOUBLES\(DISTINCT\)/ },
    { sql: 'SELECT UPPER(page) FILTER (WHERE TRUE) FROM wiki', says: /no aggregate/ },
    { sql: 'SELECT page FROM wiki WHERE added', says: /expected a condition, found BIGINT/ },
    { sql: 'SELECT __time + 1 FROM wiki', says: /cannot compute TIMESTAMP \+ INTEGER 1/ },
    { sql: 'SELECT __time = 1 FROM wiki', says: /cannot compare TIMESTAMP with INTEGER 1/ },
    { sql: "SELECT __time > 'noon' FROM wiki", says: /'noon' cannot be read as TIMESTAMP/ },
    { sql: "SELECT added = 'x' FROM wiki", says: /'x' cannot be read as BIGINT/ },
    { sql: "SELECT TIMESTAMP '2024-13-01'", says: /is no TIMESTAMP/ },
    { sql: "SELECT __time + INTERVAL '1' DAYS FROM wiki", says: /no interval of DAYS/ },
    { sql: "SELECT INTERVAL '1' DAY", code: 'unsupported', says: /INTERVAL/ },
    { sql: 'SELECT FLOOR(__time TO FORTNIGHT) FROM wiki', says: /unknown unit FORTNIGHT; accepted: SECOND/ },
    { sql: 'SELECT EXTRACT(NOON FROM __time) FROM wiki', says: /unknown unit NOON/ },
    { sql: "SELECT TIME_FLOOR(__time, 'day') FROM wiki", says: /column 8: .*period/ },
    { sql: "SELECT TIME_FLOOR(__time, 'P1D', NULL, 'Mars/Base') FROM wiki", says: /time zone/ },
    { sql: "SELECT REGEXP_LIKE(page, '(') FROM wiki", says: /regular expression/ },
    { sql: 'SELECT 1 FROM wiki WHERE added > ALL (1, 2)', code: 'unsupported', says: /ALL of anything but a query/ },
    {
      sql: 'SELECT 1 FROM wiki WHERE (added, page) > ANY (SELECT added, page FROM wiki)',
      code: 'unsupported',
      says: /a row of several values before > ANY/,
    },
    { sql: 'SELECT page LIKE city FROM wiki', code: 'unsupported', says: /LIKE pattern/ },
    { sql: 'SELECT UPPER(page, city) FROM wiki', says: /UPPER takes 1 arguments, found 2/ },
    { sql: 'SELECT CASE WHEN added > 1 THEN 1 ELSE __time END FROM wiki', says: /CASE gives TIMESTAMP/ },
    ...['1 FOLLOWING AND CURRENT ROW', '1 FOLLOWING AND 2 PRECEDING', 'CURRENT ROW AND 1 PRECEDING'].map((frame) => ({
      sql: `SELECT SUM(added) OVER (ORDER BY page ROWS BETWEEN ${frame}) FROM wiki`,
      says: /a frame that begins behind its end/,
    })),
    { sql: "SELECT ARRAY_APPEND(ARRAY[1, 2], 'x')", says: /ARRAY_APPEND: argument 2 must be an element of ARRAY<INTEGER>, found 'x'/ },
    { sql: 'SELECT ARRAY_PREPEND(ARRAY[1], ARRAY[2])', says: /ARRAY_PREPEND: argument 1 must be an element of ARRAY<INTEGER>/ },
    { sql: "SELECT ARRAY_CONCAT(ARRAY[1], ARRAY['x'])", says: /ARRAY_CONCAT: argument 2 must be an ARRAY<INTEGER>/ },
    { sql: 'SELECT ARRAY_ORDINAL_OF(ARRAY[1], ARRAY[1])', says: /ARRAY_ORDINAL_OF: argument 2 must be an element of ARRAY<INTEGER>/ },
    { sql: "SELECT ARRAY_TO_STRING(added, ',') FROM wiki", says: /ARRAY_TO_STRING: argument 1 must be an ARRAY, found BIGINT/ },
    { sql: 'SELECT JSON_OBJECT(KEY 1 VALUE 2)', says: /JSON_OBJECT: argument 1 must be a VARCHAR/ },
    { sql: 'SELECT TRY_PARSE_JSON(added) FROM wiki', says: /TRY_PARSE_JSON: argument 1 must be a VARCHAR, found BIGINT/ },
    { sql: "SELECT PARSE_JSON('1') < PARSE_JSON('2')", says: /< between values of COMPLEX<json>, which have no order/ },
    { sql: 'SELECT CAST(__time AS BOOLEAN) FROM wiki', says: /cannot cast TIMESTAMP to BOOLEAN/ },
    { sql: 'SELECT page FROM wiki LIMIT -1', says: /LIMIT takes an integer/ },
    { sql: 'SELECT page FROM wiki LIMIT added', says: /LIMIT takes an integer|unknown/ },
    { sql: 'SELECT DISTINCT page FROM wiki ORDER BY added', says: /SELECT DISTINCT/ },
    { sql: 'SELECT *', says: /\* needs a FROM/ },
    { sql: 'SELECT ?', says: /no value was given for parameter 1/ },
    { sql: 'SELECT ?', parameters: [{ type: 'BIGINT', value: 'x' }], says: /parameters\[0\]\.value: expected a BIGINT/ },
    { sql: 'SELECT ?', parameters: [{ type: 'TEXT', value: 'x' }], says: /unknown SQL type TEXT/ },
    { sql: 'SELECT ?', parameters: [{ type: 'VARCHAR', valeu: 'x' }], says: /unknown key valeu/ },
    { sql: "SELECT * FROM TABLE(EXTERN('{}', '{}'))", says: /needs the columns/ },
    { sql: "SELECT * FROM TABLE(EXTERN('{', '{}')) (a VARCHAR)", says: /input source of EXTERN: it is not valid JSON/ },
    { sql: "SELECT * FROM TABLE(EXTERN('{}', '{}')) (a SMALLTEXT)", code: 'unsupported', says: /SMALLTEXT/ },
    { sql: 'INSERT INTO w SELECT page FROM wiki PARTITIONED BY DAY', says: /needs a column __time/ },
    { sql: 'INSERT INTO w SELECT added AS __time FROM wiki PARTITIONED BY DAY', says: /must be a TIMESTAMP, found BIGINT/ },
    { sql: 'INSERT INTO w SELECT __time, added + 1 FROM wiki PARTITIONED BY DAY', says: /column 2 of the query has no name/ },
    { sql: 'INSERT INTO w SELECT __time, page, city AS page FROM wiki PARTITIONED BY DAY', says: /two columns named page/ },
    { sql: 'INSERT INTO w SELECT __time FROM wiki ORDER BY 1 PARTITIONED BY DAY', says: /use CLUSTERED BY/ },
    { sql: "INSERT INTO w SELECT __time FROM wiki PARTITIONED BY TIME_FLOOR(__time, 'PT7M')", says: /PARTITIONED BY takes/ },
    { sql: 'INSERT INTO w SELECT __time FROM wiki PARTITIONED BY DAY CLUSTERED BY page', says: /CLUSTERED BY takes columns of the query/ },
    {
      sql: "REPLACE INTO w OVERWRITE WHERE __time > TIMESTAMP '2024-01-01' SELECT __time FROM wiki PARTITIONED BY DAY",
      says: /must begin and end where partitions/,
    },
    {
      sql: "REPLACE INTO w OVERWRITE WHERE page = 'x' SELECT __time FROM wiki PARTITIONED BY DAY",
      says: /can only compare __time with constants, found page/,
    },
    { sql: 'INSERT INTO "a/b" SELECT __time FROM wiki PARTITIONED BY DAY', says: /cannot name a datasource/ },
  ];

for (const { sql, code = 'sql_plan_invalid', says, parameters } of CASES) {
  errors(`${sql} ${parameters === undefined ? '' : JSON.stringify(parameters)}`, () =>
    assertRefused(() => planText(sql, {}, parameters), { code, says }),
  );
}

errors('an unknown time zone is named', () =>
  assert.throws(() => planText('SELECT 1', { sqlTimeZone: 'Mars' }), /context\.sqlTimeZone.*Mars/),
);
errors.run();
