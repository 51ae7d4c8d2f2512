import { DuckDBInstance } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { foldConstant } from '../../../src/expression/evaluate.js';
import { FUNCTIONS } from '../../../src/expression/functions.js';
import { printExpression } from '../../../src/expression/print.js';
import type { Expression } from '../../../src/model/expression.js';
import { SQL_AGGREGATES } from '../../../src/planner/sql/bind/aggregates.js';
import { SQL_FUNCTIONS, UNSUPPORTED_SQL_FUNCTIONS } from '../../../src/planner/sql/bind/functions.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';
import { planText, SCHEMA } from './plan-text.js';

/** The constant a select item is folded to. */
function constant(sql: string): unknown {
  const statement = planSql({ query: `SELECT ${sql}`, context: {}, parameters: [] }, SCHEMA, 0);
  if (statement.kind !== 'select') throw new Error('no SELECT');
  const [virtual] = statement.plan.virtualColumns;
  if (virtual?.expression.kind !== 'literal')
    throw new Error(`not folded: ${virtual === undefined ? sql : printExpression(virtual.expression)}`);
  const { value } = virtual.expression;
  return statement.columns[0]?.sqlType === 'BOOLEAN' && value !== null ? value === 1n : value;
}

const oracle = suite('SQL constants, against DuckDB');

/** Read alike by both; a pair where the spelling differs. */
const EXPRESSIONS: readonly (string | readonly [ours: string, duckdb: string])[] = [
  '1 + 2 * 3',
  '(1 + 2) * 3',
  '7 - 2 - 1',
  '-(3 - 5)',
  ['7 / 2', '7 // 2'],
  '7 % 3',
  '7.5 / 2',
  '0.06 + 0.01',
  '0.3 - 0.1',
  '1.1 * 1.1 - 0.21',
  '2 * 0.35 + 1',
  '-0.1 - 0.2',
  '0.1 + 0.2 = 0.3',
  "'a' || 'b' || 'c'",
  'NULL AND FALSE',
  'NULL AND TRUE',
  'NULL OR TRUE',
  'NULL OR FALSE',
  'NOT NULL',
  '1 IN (1, NULL)',
  '2 IN (1, NULL)',
  '2 NOT IN (1, NULL)',
  '2 NOT IN (1, 3)',
  '1 BETWEEN 0 AND 2',
  '1 NOT BETWEEN 2 AND 3',
  'NULL BETWEEN 1 AND 2',
  'NULL = NULL',
  '1 IS DISTINCT FROM NULL',
  'NULL IS NOT DISTINCT FROM NULL',
  '1 IS NOT DISTINCT FROM 1',
  "'abc' LIKE 'a%'",
  "'abc' LIKE '_b_'",
  "'a%c' LIKE 'a!%c' ESCAPE '!'",
  "'abc' NOT LIKE '%d%'",
  'NULL IS NULL',
  '(1 = 2) IS FALSE',
  '(NULL = 2) IS NOT TRUE',
  "CASE WHEN 1 = 2 THEN 'x' WHEN 2 = 2 THEN 'y' ELSE 'z' END",
  "CASE 3 WHEN 1 THEN 'x' WHEN 2 THEN 'y' END",
  "CASE NULL WHEN NULL THEN 'x' ELSE 'y' END",
  "COALESCE(NULL, 'a', 'b')",
  'NULLIF(1, 1)',
  'NULLIF(1, 2)',
  'GREATEST(1, 3, 2)',
  'LEAST(3, 1, 2)',
  "UPPER('aé')",
  "LOWER('ÀB')",
  "SUBSTRING('hello', 2, 3)",
  "SUBSTRING('hello' FROM 2)",
  "LEFT('hello', 2)",
  "RIGHT('hello', 2)",
  "REVERSE('abc')",
  "REPEAT('ab', 3)",
  "REPLACE('aXbX', 'X', '--')",
  "TRIM('  a ')",
  ["TRIM(BOTH 'x' FROM 'xxaxx')", "trim('xxaxx', 'x')"],
  ["TRIM(LEADING 'x' FROM 'xxaxx')", "ltrim('xxaxx', 'x')"],
  ["BTRIM('xxaxx', 'x')", "trim('xxaxx', 'x')"],
  "POSITION('l' IN 'hello')",
  "STRPOS('hello', 'z')",
  "LPAD('7', 3, '0')",
  "RPAD('7', 3, '0')",
  "LENGTH('héllo')",
  "CONCAT('a', 'b', 'c')",
  'ABS(-5)',
  'CEIL(1.2)',
  'FLOOR(-1.2)',
  'ROUND(2.5)',
  'ROUND(1.2345, 2)',
  'SQRT(16)',
  'POWER(2, 10)',
  'MOD(10, 3)',
  ['TRUNCATE(-1.79)', 'trunc(-1.79)'],
  ['TRUNCATE(1e300)', 'trunc(1e300)'],
  ['TRUNCATE(4.35, 2)', '4.35'],
  ['TRUNCATE(-4.359e0, 2)', '-4.35'],
  ['TRUNCATE(1250e0, -2)', '1200'],
  ["CAST(' 7' AS BIGINT)", 'NULL'],
  ["CAST(' 7' AS DOUBLE)", 'NULL'],
  'SIGN(-3.5)',
  'LN(1)',
  'LOG10(1000)',
  "CAST('12' AS BIGINT)",
  'CAST(12 AS VARCHAR)',
  'CAST(1 = 1 AS VARCHAR)',
  "CAST('1.5' AS DOUBLE)",
  'CAST(3 AS DOUBLE)',
  "EXTRACT(YEAR FROM TIMESTAMP '2015-09-12 13:14:15')",
  "EXTRACT(QUARTER FROM DATE '2015-09-12')",
  "EXTRACT(WEEK FROM DATE '2016-01-01')",
  "EXTRACT(DOY FROM DATE '2016-12-31')",
  "EXTRACT(ISOYEAR FROM DATE '2016-01-01')",
  "EXTRACT(HOUR FROM TIMESTAMP '2015-09-12 13:14:15' + INTERVAL '11' HOUR)",
  "EXTRACT(DAY FROM TIMESTAMP '2015-01-31 00:00:00' + INTERVAL '1' MONTH)",
  "EXTRACT(YEAR FROM DATE '2016-02-29' - INTERVAL '1' YEAR)",
  [
    "EXTRACT(HOUR FROM FLOOR(TIMESTAMP '2015-09-12 13:14:15' TO DAY))",
    "extract(hour from date_trunc('day', TIMESTAMP '2015-09-12 13:14:15'))",
  ],
  [
    "EXTRACT(DAY FROM FLOOR(TIMESTAMP '2015-09-12 13:14:15' TO WEEK))",
    "extract(day from date_trunc('week', TIMESTAMP '2015-09-12 13:14:15'))",
  ],
  ["TIMESTAMPDIFF(HOUR, TIMESTAMP '2015-09-12 00:00:00', TIMESTAMP '2015-09-13 01:30:00')", '25'],
  "TIMESTAMP '2015-09-12 00:00:00' < DATE '2015-09-13'",
  "DATE '2015-09-12' = TIMESTAMP '2015-09-12 00:00:00'",
];

function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint' || typeof value === 'number') return Number(value);
  if (typeof value === 'object' && value !== null && 'toDouble' in value && typeof value.toDouble === 'function')
    return (value.toDouble as () => number)();
  return value;
}

oracle('every expression has the value DuckDB gives it', async () => {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const differences: string[] = [];
  for (const expression of EXPRESSIONS) {
    const [ours, theirs] = typeof expression === 'string' ? [expression, expression] : expression;
    const [row] = (await connection.runAndReadAll(`SELECT ${theirs}`)).getRows();
    const [found, expected] = [plainValue(constant(ours)), plainValue(row?.[0])];
    if (found !== expected) differences.push(`${ours}: ${String(found)}, DuckDB ${String(expected)}`);
  }
  connection.closeSync();
  assert.equal(differences, []);
});
oracle.run();

const tables = suite('SQL function tables');

tables('every scalar function ends in functions of the expression language', () => {
  for (const { name, minArguments } of SQL_FUNCTIONS.values()) {
    const unit =
      name === 'EXTRACT'
        ? 'EXTRACT(HOUR FROM __time)'
        : name === 'TIMESTAMPADD'
          ? 'TIMESTAMPADD(HOUR, added, __time)'
          : name === 'TIMESTAMPDIFF'
            ? 'TIMESTAMPDIFF(HOUR, __time, __time)'
            : undefined;
    const attempts = ['added', 'price', 'page', '__time'].flatMap((first) =>
      ['added', 'page', "'P1D'", "'x'", '2'].flatMap((second) =>
        ["'x'", '2', 'page'].map((third) => `${name}(${[first, second, third].slice(0, minArguments).join(', ')})`),
      ),
    );
    const sketch = name.startsWith('DS_TUPLE')
      ? 'DS_TUPLE_DOUBLES(page, added)'
      : name.startsWith('HLL')
        ? 'DS_HLL(page)'
        : name.startsWith('THETA')
          ? 'DS_THETA(page)'
          : 'DS_QUANTILES_SKETCH(added)';
    const special = [
      unit ?? '',
      `${name}(${sketch})`,
      `${name}(${sketch}, 1)`,
      `${name}(PARSE_JSON(page), '$.x')`,
      minArguments === 0 ? name : '',
      `${name}(page, city)`,
      `${name}('thetaSketch', page)`,
      `${name}(page, 'BAAAAAgAAACAAEAAAAAAAAAAAEIAAAAAAAAAAAAAAAAAAAAAAAIIAAAAAAAAAAAAAAAAAAIAAAAAAQAAAAAAAAAAAAAA')`,
      `${name}(page, '10.0.0.0/8')`,
      `${name}(page, '2001:db8::/32')`,
      `${name}('day', __time)`,
      `${name}(__time, 'DAY')`,
      `${name}(__time, '2015/2016')`,
      `${name}(__time, 'P1D', 1)`,
    ];
    const planned = [...special, ...attempts].some((expression) => {
      try {
        return expression !== '' && planText(`SELECT ${expression} FROM wiki`) !== '';
      } catch {
        return false;
      }
    });
    assert.ok(planned, name);
  }
});

tables('no name is both known and refused', () => {
  for (const name of [...SQL_FUNCTIONS.keys(), ...Object.keys(SQL_AGGREGATES)]) assert.not.ok(UNSUPPORTED_SQL_FUNCTIONS.has(name), name);
  assert.ok(FUNCTIONS.size > 50);
});

tables('folding and the expression language agree on what a constant is', () => {
  const sum: Expression = { kind: 'call', function: '+', arguments: [1n, 2n].map((value) => ({ kind: 'literal', type: 'LONG', value })) };
  assert.is(foldConstant(sum), constant('1 + 2'));
});
tables.run();
