import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sqlTypeName } from '../../../src/model/statement.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';

/** Types that headers of results name, as Apache Druid names them. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  INTEGER: [
    'MOD(n, 3)',
    'MOD(n, CAST(n AS INTEGER))',
    'ARRAY_LENGTH(a)',
    'ARRAY_OFFSET_OF(a, 1)',
    'ARRAY_ORDINAL_OF(a, 1)',
    'MV_LENGTH(s)',
    "MV_OFFSET_OF(s, 'a')",
    "MV_ORDINAL_OF(s, 'a')",
    'TIMESTAMPDIFF(HOUR, t, t)',
    'TIMESTAMPDIFF(MONTH, t, t)',
    'LENGTH(s)',
    'MOD(n, 3) + 1',
    'MAX(MOD(n, 3))',
    'BIT_OR(LENGTH(s))',
    'BIT_XOR(DISTINCT MOD(n, 3))',
  ],
  BIGINT: [
    'MOD(3, n)',
    'DIV(n, 2)',
    'EXTRACT(YEAR FROM t)',
    'GREATEST(n, 2)',
    'LEAST(MOD(n, 3), 1)',
    'SUM(MOD(n, 3))',
    't - t',
    'BIT_AND(n)',
  ],
  DOUBLE: ['GREATEST(x, 1)', 'LEAST(1.5, 2)', 'SQRT(1)', 'AVG(n)'],
  DATE: [
    'FLOOR(CAST(t AS DATE) TO MONTH)',
    'CEIL(CAST(t AS DATE) TO MONTH)',
    "CAST(t AS DATE) + INTERVAL '1' DAY",
    'TIMESTAMPADD(WEEK, n, CAST(t AS DATE))',
  ],
  TIMESTAMP: [
    'FLOOR(t TO MONTH)',
    "t + INTERVAL '1' DAY",
    'TIMESTAMPADD(HOUR, 5, CAST(t AS DATE))',
    'TIMESTAMPADD(HOUR, n, CAST(t AS DATE))',
  ],
  ARRAY: ['ARRAY_APPEND(a, 1)'],
};

const SCHEMA: SqlSchema = {
  tables: () => ['rows'],
  table: () => ({
    columns: [
      { name: '__time', type: 'LONG', multiValue: false, hasNulls: true },
      { name: 'n', type: 'LONG', multiValue: false, hasNulls: true },
      { name: 's', type: 'STRING', multiValue: false, hasNulls: true },
      { name: 'x', type: 'DOUBLE', multiValue: false, hasNulls: true },
      { name: 'a', type: 'ARRAY<LONG>', multiValue: false, hasNulls: true },
    ],
  }),
};

const types = suite('types of headers');
for (const [type, expressions] of Object.entries(TYPES))
  types(type, () => {
    for (const expression of expressions) {
      const query = `SELECT ${expression} AS v FROM (SELECT *, __time AS t FROM rows)`;
      const statement = planSql({ query, context: {}, parameters: [] }, SCHEMA, 0);
      assert.is(statement.kind === 'select' ? sqlTypeName(statement.columns[0]?.sqlType ?? 'VARCHAR') : '', type, expression);
    }
  });
types.run();
