import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SSB_QUERIES } from '../../../bench/tpch/ssb-queries.js';
import { SSB_TABLES } from '../../../bench/tpch/ssb-tables.js';
import { TPCH_QUERIES } from '../../../bench/tpch/tpch-queries.js';
import { TPCH_TABLES } from '../../../bench/tpch/tpch-tables.js';
import type { ColumnSchema } from '../../../src/model/schema.js';
import type { SqlSchema } from '../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../src/planner/sql/plan-sql.js';

// Every statement of TPC-H and SSB is planned. `npm run bench -- tpch` checks the answers over generated rows.

const column = (name: string, type: ColumnSchema['type']): ColumnSchema => ({ name, type, multiValue: false, hasNulls: false });
const TABLES = new Map(
  [...TPCH_TABLES, ...SSB_TABLES].map(({ name, columns }) => [
    name,
    {
      columns: [
        column('__time', 'LONG'),
        ...Object.entries(columns).map(([each, type]) => column(each, type === 'DATE' ? 'STRING' : type)),
      ],
    },
  ]),
);
const SCHEMA: SqlSchema = { tables: () => [...TABLES.keys()], table: (name) => TABLES.get(name) };

/** Expected refusals: statement id → pattern of the message. */
const REFUSED: Readonly<Record<string, RegExp>> = {};

const plans = suite('plans of TPC-H and SSB');
for (const { id, sql } of [...TPCH_QUERIES, ...SSB_QUERIES]) {
  const refusal = REFUSED[id];
  plans(refusal === undefined ? `${id} is planned` : `${id} is refused`, () => {
    const plan = () => planSql({ query: sql, context: {}, parameters: [] }, SCHEMA, 0);
    if (refusal === undefined) assert.is(plan().kind, 'select');
    else assert.throws(plan, refusal);
  });
}
plans('all 35 statements are there, each under a name of its own', () => {
  assert.is(new Set([...TPCH_QUERIES, ...SSB_QUERIES].map(({ id }) => id)).size, 35);
});
plans.run();
