import { ETERNITY } from '../../src/base/instant.js';
import { parseExpression } from '../../src/expression/parse.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { JoinKey, JoinSource, RowSource } from '../../src/model/row-source.js';
import type { ColumnSchema, ColumnType } from '../../src/model/schema.js';

/** One question in both languages. */
export interface JoinQuery {
  readonly id: string;
  readonly plan: GroupPlan;
  readonly source: RowSource;
  readonly sql: string;
}

const LEAF = {
  operator: 'group',
  dataSource: '',
  intervals: [ETERNITY],
  filter: null,
  virtualColumns: [],
  post: [],
  emptyGroup: true,
} as const;
const sumOf = (column: string) => ({ kind: 'sum', name: `sum of ${column}`, column, type: 'LONG', filter: null }) as const;
const COUNT = { kind: 'count', name: 'count', filter: null } as const;

function table(name: string): RowSource {
  return { kind: 'table', name };
}

function join(type: JoinSource['type'], right: RowSource, key: string, keyType: ColumnType, condition: string | null = null): JoinSource {
  const keys: JoinKey[] = key === '' ? [] : [{ left: parseExpression(key), right: parseExpression(key), type: keyType }];
  const others = condition === null ? null : parseExpression(condition);
  return {
    kind: 'join',
    left: table('fact'),
    right,
    prefix: 'r.',
    type,
    keys,
    condition: others,
    leftColumns: COLUMNS.fact,
    rightColumns: COLUMNS.all,
  };
}

const schema = (types: Readonly<Record<string, ColumnType>>): readonly ColumnSchema[] =>
  Object.entries(types).map(([name, type]) => ({ name, type, multiValue: false, hasNulls: false }));

export const COLUMNS = {
  fact: schema({ __time: 'LONG', id: 'LONG', dimId: 'LONG', code: 'STRING', amount: 'LONG' }),
  all: schema({ dimId: 'LONG', code: 'STRING', region: 'STRING', weight: 'LONG', id: 'LONG', score: 'LONG' }),
} as const;

const byRegion = {
  keys: [{ kind: 'column', name: 'region', column: 'r.region', type: null }],
  aggregators: [COUNT, sumOf('amount')],
} as const;
const islands: RowSource = {
  kind: 'filtered',
  source: table('dim'),
  filter: { kind: 'equals', column: 'region', type: 'STRING', value: 'islands' },
};

export const JOIN_QUERIES: readonly JoinQuery[] = [
  {
    id: 'star-text',
    plan: { ...LEAF, ...byRegion },
    source: join('inner', table('dim'), 'code', 'STRING'),
    sql: 'SELECT d.region, count(*), sum(f.amount) FROM fact f JOIN dim d ON f.code = d.code GROUP BY 1',
  },
  {
    id: 'star-number',
    plan: { ...LEAF, ...byRegion },
    source: join('inner', table('dim'), 'dimId', 'LONG'),
    sql: 'SELECT d.region, count(*), sum(f.amount) FROM fact f JOIN dim d ON f."dimId" = d."dimId" GROUP BY 1',
  },
  {
    id: 'star-part',
    plan: { ...LEAF, keys: [], aggregators: [COUNT, sumOf('amount'), sumOf('r.weight')] },
    source: join('inner', islands, 'dimId', 'LONG'),
    sql: `SELECT count(*), sum(f.amount), sum(d.weight) FROM fact f JOIN dim d ON f."dimId" = d."dimId" WHERE d.region = 'islands'`,
  },
  {
    id: 'left-part',
    plan: { ...LEAF, ...byRegion },
    source: join('left', islands, 'code', 'STRING'),
    sql: `SELECT d.region, count(*), sum(f.amount) FROM fact f LEFT JOIN (SELECT * FROM dim WHERE region = 'islands') d ON f.code = d.code GROUP BY 1`,
  },
  {
    id: 'semi',
    plan: { ...LEAF, keys: [], aggregators: [COUNT, sumOf('amount')] },
    source: join('semi', islands, 'code', 'STRING'),
    sql: `SELECT count(*), sum(amount) FROM fact WHERE code IN (SELECT code FROM dim WHERE region = 'islands')`,
  },
  {
    id: 'big-big',
    plan: { ...LEAF, keys: [], aggregators: [COUNT, sumOf('amount'), sumOf('r.score')] },
    source: join('inner', table('other'), 'id', 'LONG'),
    sql: 'SELECT count(*), sum(f.amount), sum(o.score) FROM fact f JOIN other o ON f.id = o.id',
  },
  {
    id: 'big-full',
    plan: { ...LEAF, keys: [], aggregators: [COUNT, sumOf('amount'), sumOf('r.score')] },
    source: join('full', table('other'), 'id', 'LONG', 'amount < "r.score"'),
    sql: 'SELECT count(*), sum(f.amount), sum(o.score) FROM fact f FULL JOIN other o ON f.id = o.id AND f.amount < o.score',
  },
  {
    id: 'nested',
    plan: { ...LEAF, keys: [], aggregators: [COUNT, sumOf('sum of amount')] },
    source: {
      kind: 'query',
      plan: { ...LEAF, keys: [{ kind: 'column', name: 'id', column: 'id', type: null }], aggregators: [sumOf('amount')] },
      source: table('fact'),
    },
    sql: 'SELECT count(*), sum(s) FROM (SELECT id, sum(amount) AS s FROM fact GROUP BY 1)',
  },
];
