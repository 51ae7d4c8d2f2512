import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { planText } from './plan-text.js';

/** Statements of megabytes, and deep or long ones: answered, or refused by the name of a limit. */
const sizes = suite('sizes of SQL');

const MEGABYTES = 10_000_000;
const repeated = (text: string, times: number): string => text.repeat(times);
const listed = (count: number, item: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => item(index)).join(',');

const CASES: readonly { readonly name: string; readonly sql: () => string; readonly refused?: RegExp }[] = [
  { name: 'a string of 10 MB', sql: () => `SELECT '${repeated('x', MEGABYTES)}' AS s` },
  { name: 'a comment of 10 MB', sql: () => `SELECT 1 AS s /*${repeated('x', MEGABYTES)}*/` },
  { name: '10 MB of white space', sql: () => `SELECT${repeated(' ', MEGABYTES)}1 AS s` },
  { name: '10 MB of doubled quotes', sql: () => `SELECT '${repeated("''", MEGABYTES / 2)}' AS s` },
  {
    name: '10 MB of parentheses',
    sql: () => `SELECT ${repeated('(', MEGABYTES)}`,
    refused: /^line 1, column 108: parentheses are nested deeper than 100/,
  },
  { name: '10 MB of operators', sql: () => `SELECT ${repeated('+-', MEGABYTES / 2)}`, refused: /more than 3000000 words and symbols$/ },
  {
    name: 'a name of 10 MB',
    sql: () => `SELECT "${repeated('x', MEGABYTES)}"`,
    refused: /^line 1, column 8: this name has more than 10000 characters/,
  },
  { name: 'a number of 10 MB', sql: () => `SELECT ${repeated('1', MEGABYTES)}`, refused: /this number has more than 10000 characters/ },
  { name: '10,000 nested parentheses', sql: () => `SELECT ${repeated('(', 10_000)}1${repeated(')', 10_000)}`, refused: /nested deeper/ },
  {
    name: '10,000 nested subqueries',
    sql: () => `SELECT * FROM ${repeated('(SELECT * FROM ', 10_000)}wiki${repeated(')', 10_000)}`,
    refused: /nested deeper/,
  },
  { name: '10,000 times NOT', sql: () => `SELECT ${repeated('NOT ', 10_000)}TRUE`, refused: /nested too deeply/ },
  {
    name: '10,000 times CASE',
    sql: () => `SELECT ${repeated('CASE WHEN TRUE THEN ', 10_000)}1${repeated(' END', 10_000)}`,
    refused: /nested too deeply/,
  },
  {
    name: '10,000 joins',
    sql: () => `SELECT 1 FROM wiki${repeated(' JOIN wiki USING (page)', 10_000)}`,
    refused: /nested too deeply|more than 2000 subqueries and joins/,
  },
  {
    name: '40 queries of WITH, each twice the one before',
    sql: () => {
      const twice = Array.from({ length: 40 }, (_, at) => `x${at + 1} AS (SELECT * FROM x${at} UNION ALL SELECT * FROM x${at})`);
      return `WITH x0 AS (SELECT page FROM wiki), ${twice.join(', ')} SELECT COUNT(*) FROM x40`;
    },
    refused: /more than 2000 subqueries and joins/,
  },
  {
    name: '60 subqueries that name a column four times',
    sql: () => {
      let query = 'SELECT added AS a, deleted AS b FROM wiki';
      for (let level = 0; level < 60; level++)
        query = `SELECT CASE WHEN a > b THEN a * a ELSE b - a END AS a, b FROM (${query}) WHERE a <> b`;
      return `SELECT CAST(a AS VARCHAR) AS s FROM (${query})`;
    },
  },
  {
    name: '5,000 PIVOT',
    sql: () => `SELECT 1 FROM wiki${repeated(" PIVOT (SUM(added) FOR page IN ('a'))", 5_000)}`,
    refused: /more than 16 PIVOT and UNPIVOT/,
  },
  {
    name: '20,000 columns of PIVOT',
    sql: () => `SELECT 1 FROM wiki PIVOT (SUM(added) FOR page IN (${listed(20_000, (index) => `'p${index}'`)}))`,
    refused: /PIVOT makes more than 10000 columns/,
  },
  {
    name: '100,000 expressions in IN',
    sql: () => `SELECT 1 FROM wiki WHERE added IN (${listed(100_000, (index) => `${index}+1`)})`,
    refused: /more than 400000 words and symbols besides lists of literals/,
  },
  { name: '1,000,000 numbers in IN', sql: () => `SELECT page AS s FROM wiki WHERE added IN (${listed(1_000_000, String)})` },
  { name: '1,000,000 texts in IN', sql: () => `SELECT page AS s FROM wiki WHERE page IN (${listed(1_000_000, (index) => `'p${index}'`)})` },
  {
    name: '20,000 conditions of OR of several columns',
    sql: () =>
      `SELECT page AS s FROM wiki WHERE ${listed(20_000, (index) => `(added = ${index} AND page <> 'p${index}')`).replaceAll('),', ') OR ')}`,
  },
  { name: '100,000 numbers in IN', sql: () => `SELECT page AS s FROM wiki WHERE added IN (${listed(100_000, String)})` },
  {
    name: '100,000 texts in NOT IN',
    sql: () => `SELECT page AS s FROM wiki WHERE page NOT IN (${listed(100_000, (index) => `'p${index}'`)})`,
  },
  {
    name: '100,000 rows of VALUES',
    sql: () => `SELECT a AS s FROM (VALUES ${listed(100_000, (index) => `(${index}, 'x${index}', NULL)`)}) AS t (a, b, c)`,
  },
  {
    name: '10,000 conditions',
    sql: () => `SELECT page AS s FROM wiki WHERE ${listed(10_000, (index) => `page <> 'p${index}'`).replaceAll(',', ' AND ')}`,
  },
];
for (const { name, sql, refused } of CASES)
  sizes(name, () => {
    if (refused === undefined) return assert.match(planText(sql()).slice(-40), /→ s [A-Z]+$/);
    try {
      planText(sql());
    } catch (error) {
      assert.instance(error, ServiceError);
      if (!(error instanceof ServiceError)) return;
      assert.match(error.message, refused);
      assert.is(error.code, 'resource_limit');
      assert.ok(error.message.length < 300);
      return;
    }
    assert.unreachable('it was planned');
  });

sizes('rows of VALUES that are read apart are those that are written', () => {
  const rows = listed(9, (index) => `(${index}, -${index}.5, 'it''s ${index}', NULL, TRUE)`);
  assert.match(
    planText(`SELECT * FROM (VALUES ${rows}) AS t (a, b, c, d, e)`),
    /^scan inline\[9\][\s\S]*→ a INTEGER, b DECIMAL, c VARCHAR, d VARCHAR, e BOOLEAN$/,
  );
  assert.throws(
    () => planText(`SELECT * FROM (VALUES ${rows}, (1, 2)) AS t (a, b, c, d, e)`),
    /column 3\d\d: this row has 2 values, the first one 5/,
  );
  assert.throws(() => planText(`VALUES ${rows},`), /unexpected/);
});
sizes.run();
