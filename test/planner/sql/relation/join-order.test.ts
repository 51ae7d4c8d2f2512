import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SSB_QUERIES } from '../../../../bench/tpch/ssb-queries.js';
import { SSB_TABLES } from '../../../../bench/tpch/ssb-tables.js';
import { TPCH_QUERIES } from '../../../../bench/tpch/tpch-queries.js';
import { TPCH_TABLES } from '../../../../bench/tpch/tpch-tables.js';
import type { RowSource } from '../../../../src/model/row-source.js';
import type { ColumnSchema } from '../../../../src/model/schema.js';
import type { SqlSchema } from '../../../../src/planner/sql/catalog/schema.js';
import { planSql } from '../../../../src/planner/sql/plan-sql.js';

/*
 * Join orders of the TPC-H and SSB statements over the sizes of scale 0.1: the left side of a join is streamed, the right one
 * is uploaded. The expected plans follow from the sizes: the table of lines is streamed unless its filters leave few rows, and
 * dimensions that depend on each other are joined before they meet the lines.
 */
const ROWS: Readonly<Record<string, number>> = {
  region: 5,
  nation: 25,
  supplier: 1000,
  customer: 15_000,
  part: 20_000,
  partsupp: 80_000,
  orders: 150_000,
  lineitem: 600_000,
  dates: 2557,
  ssb_customer: 3000,
  ssb_supplier: 300,
  ssb_part: 20_000,
  lineorder: 600_000,
};

/** Number of distinct values of the columns that repeat values. */
const DISTINCT: Readonly<Record<string, number>> = {
  ...{ r_name: 5, n_regionkey: 5, n_name: 25, s_nationkey: 25, c_nationkey: 25, c_mktsegment: 5 },
  ...{ p_type: 150, p_size: 50, p_brand: 25, p_container: 40, ps_partkey: 20_000, ps_suppkey: 1000 },
  ...{ o_custkey: 15_000, o_orderstatus: 3, o_orderpriority: 5, o_orderdate: 2406 },
  ...{ l_orderkey: 150_000, l_partkey: 20_000, l_suppkey: 1000, l_shipdate: 2526, l_shipmode: 7, l_returnflag: 3 },
  ...{ d_year: 7, d_yearmonth: 84, c_region: 5, s_region: 5, c_nation: 25, s_nation: 25, c_city: 250, s_city: 250 },
  ...{ p_mfgr: 5, p_category: 25, p_brand1: 1000, lo_custkey: 3000, lo_suppkey: 300, lo_partkey: 20_000, lo_orderdate: 2406 },
};

const column = (name: string, type: ColumnSchema['type'], rows: number): ColumnSchema => ({
  ...{ name, type, multiValue: false, hasNulls: false },
  distinctCount: name === '__time' ? 1 : (DISTINCT[name] ?? rows),
});

const TABLES = new Map(
  [...TPCH_TABLES, ...SSB_TABLES].map(({ name, columns }) => {
    const rowCount = ROWS[name] ?? 0;
    const typed = Object.entries(columns).map(([each, type]) => column(each, type === 'DATE' ? 'STRING' : type, rowCount));
    return [name, { columns: [column('__time', 'LONG', rowCount), ...typed], rowCount }];
  }),
);
const SCHEMA: SqlSchema = { tables: () => [...TABLES.keys()], table: (name) => TABLES.get(name) };

function shape(source: RowSource | RowSource): string {
  switch (source.kind) {
    case 'table':
      return source.name;
    case 'query':
      return source.plan.operator === 'group' ? `group(${shape(source.source)})` : shape(source.source);
    case 'filtered':
    case 'unnest':
      return shape(source.source);
    case 'join':
      return `(${shape(source.left)} ${source.type} ${shape(source.right)})`;
    default:
      return source.kind;
  }
}

const SHAPES: Readonly<Record<string, string>> = {
  q3: '(lineitem inner (orders inner customer))',
  q5: '((lineitem inner (orders inner (customer inner (nation inner region)))) inner supplier)',
  // The filter leaves two nations on each side.
  q7: '((lineitem inner (orders inner (customer inner nation))) inner (supplier inner nation))',
  q8: '((((lineitem inner part) inner (orders inner (customer inner (nation inner region)))) inner supplier) inner nation)',
  q9: '(orders inner (lineitem inner ((partsupp inner part) inner (supplier inner nation))))',
  q10: '(lineitem inner ((orders inner customer) inner nation))',
  q12: '(orders inner lineitem)',
  'ssb2.1': '(((lineorder inner ssb_part) inner ssb_supplier) inner dates)',
  'ssb4.1': '((((lineorder inner ssb_supplier) inner ssb_customer) inner ssb_part) inner dates)',
  'ssb4.3': '((((lineorder inner ssb_part) inner ssb_supplier) inner ssb_customer) inner dates)',
};

const orders = suite('orders of joins');
for (const { id, sql } of [...TPCH_QUERIES, ...SSB_QUERIES]) {
  const expected = SHAPES[id];
  if (expected === undefined) continue;
  orders(id, () => {
    const plan = planSql({ query: sql, context: {}, parameters: [] }, SCHEMA, 0);
    assert.is(plan.kind === 'select' ? shape(plan.source) : plan.kind, expected);
  });
}

const GROUPS = '(SELECT o_custkey AS k, MAX(o_orderkey) AS o_orderkey FROM orders GROUP BY 1)';

/** Outer joins: the smaller side is placed; where the context limits rows that are held, the left one stays beside its segments unless the right one is too large. */
const OUTER: readonly (readonly [factor: number, from: string, shape: string, context?: Readonly<Record<string, unknown>>])[] = [
  [1, 'customer LEFT JOIN orders ON c_custkey = o_custkey', '(orders right customer)'],
  [1, 'orders RIGHT JOIN customer ON c_custkey = o_custkey', '(orders right customer)'],
  [1, `customer LEFT JOIN ${GROUPS} ON c_custkey = k`, '(customer left group(orders))'],
  [1, `${GROUPS} RIGHT JOIN customer ON c_custkey = k`, '(customer left group(orders))'],
  [1, `(SELECT n_nationkey AS c_custkey FROM nation) LEFT JOIN ${GROUPS} ON c_custkey = k`, '(group(orders) right nation)'],
  [1, 'customer RIGHT JOIN orders ON c_custkey = o_custkey', '(orders left customer)'],
  [1, 'customer FULL JOIN orders ON c_custkey = o_custkey', '(orders full customer)'],
  [100, 'customer LEFT JOIN orders ON c_custkey = o_custkey', '(orders right customer)'],
  [100, 'orders RIGHT JOIN customer ON c_custkey = o_custkey', '(orders right customer)'],
  [100, 'customer RIGHT JOIN orders ON c_custkey = o_custkey', '(orders left customer)'],
  [1, 'customer LEFT JOIN orders ON c_custkey = o_custkey', '(orders right customer)', { maxSubqueryBytes: 20_000_000 }],
  [1, 'customer LEFT JOIN orders ON c_custkey = o_custkey', '(orders right customer)', { maxSubqueryRows: '100000' }],
  [
    1,
    'customer LEFT JOIN orders ON c_custkey = o_custkey',
    '(customer left orders)',
    { maxSubqueryRows: 100_000, maxSubqueryBytes: 2 ** 40 },
  ],
  [1, 'customer LEFT JOIN orders ON c_custkey = o_custkey', '(orders right customer)', { maxSubqueryBytes: 'auto' }],
  [1, 'orders RIGHT JOIN customer ON c_custkey = o_custkey', '(orders right customer)', { maxSubqueryBytes: 20_000_000 }],
];
for (const [factor, from, expected, context = {}] of OUTER)
  orders(`${from}, ${factor} times the rows${Object.entries(context).map(([key, value]) => `, ${key} ${String(value)}`)}`, () => {
    const larger: SqlSchema = {
      ...SCHEMA,
      table: (name) => {
        const table = TABLES.get(name);
        return table && { ...table, rowCount: table.rowCount * factor };
      },
    };
    const plan = planSql({ query: `SELECT c_custkey, o_orderkey FROM ${from}`, context, parameters: [] }, larger, 0);
    assert.is(plan.kind === 'select' ? shape(plan.source) : plan.kind, expected);
  });

orders.run();
