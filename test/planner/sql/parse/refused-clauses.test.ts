import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../../src/base/errors.js';
import { planText } from '../plan-text.js';

/** Clauses that are parsed but not answered: the refusal names the clause and its position. */
const refused = suite('clauses that are refused');

const CASES: readonly (readonly [sql: string, column: number, name: string])[] = [
  ['SELECT * FROM wiki TABLESAMPLE BERNOULLI (10)', 20, 'TABLESAMPLE'],
  ['SELECT * FROM wiki AS w TABLESAMPLE SYSTEM (10) REPEATABLE (1)', 25, 'TABLESAMPLE'],
  ['SELECT * FROM (SELECT page FROM wiki TABLESAMPLE SYSTEM (10))', 38, 'TABLESAMPLE'],
  ['SELECT * FROM wiki MATCH_RECOGNIZE (PARTITION BY page PATTERN (a b) DEFINE a AS added > 1)', 20, 'MATCH_RECOGNIZE'],
  ["SELECT * FROM wiki FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01'", 20, 'FOR SYSTEM_TIME'],
  ['SELECT * FROM wiki ASOF JOIN wiki b ON 1 = 1', 20, 'ASOF JOIN'],
  ['SELECT SUM(added) WITHIN DISTINCT (page) FROM wiki', 19, 'WITHIN DISTINCT'],
  ['SELECT page FROM wiki FETCH FIRST 5 ROWS WITH TIES', 42, 'WITH TIES'],
  ['SELECT NEXT VALUE FOR x', 8, 'NEXT VALUE FOR'],
  ['SELECT MULTISET[1]', 8, 'MULTISET'],
  ["SELECT {fn UPPER('x')}", 8, 'the JDBC escape {...}'],
  ['WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a', 6, 'WITH RECURSIVE'],
  ['SELECT page FROM wiki FOR UPDATE', 23, 'the clause FOR'],
  ['SELECT page INTO x FROM wiki', 13, 'the clause INTO TABLE'],
  ['SELECT DISTINCT ON (page) page FROM wiki', 8, 'this kind of SELECT'],
  ['SELECT * FROM wiki, UNNEST(ARRAY[1]) WITH ORDINALITY', 21, 'UNNEST WITH ORDINALITY'],
  ['SELECT /*+ hint */ 1', 8, 'the hint comment /*+ */'],
  ['EXPLAIN PLAN AS JSON FOR SELECT 1', 9, 'EXPLAIN PLAN AS'],
  ['EXPLAIN PLAN WITHOUT IMPLEMENTATION FOR SELECT 1', 9, 'EXPLAIN PLAN WITHOUT'],
  ['MERGE INTO wiki USING x ON 1 = 1', 1, 'the statement MERGE'],
  ['DESCRIBE wiki', 1, 'the statement DESCRIBE'],
  ['ALTER SYSTEM SET x = 1', 1, 'the statement ALTER SYSTEM'],
  ['SHOW TABLES', 1, 'the statement SHOW TABLES'],
];
for (const [sql, column, name] of CASES)
  refused(sql, () => {
    try {
      planText(sql);
    } catch (error) {
      assert.instance(error, ServiceError);
      if (!(error instanceof ServiceError)) return;
      assert.is(error.message, `line 1, column ${column}: ${name} is not supported`);
      assert.is(error.code, 'unsupported');
      return;
    }
    assert.unreachable('it was planned');
  });

refused('the words may name columns and aliases', () => {
  for (const sql of [
    'SELECT x."tablesample" FROM (SELECT page AS "tablesample" FROM wiki) x',
    'SELECT plan FROM (SELECT page AS plan FROM wiki)',
  ])
    assert.match(planText(sql), /→ (tablesample|plan) VARCHAR/);
});

refused.run();
