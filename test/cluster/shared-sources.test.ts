import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { JoinSource, RowSource } from '../../src/model/row-source.js';
import type { RunLimits } from '../../src/model/run-limits.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { type UploadedFrame, uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';

/* Groups, right sides and joined rows that stand in a statement several times are made once. */

const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
const LEAF = { dataSource: 'rows', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
const TYPES = { shop: 'LONG', text: 'STRING', amount: 'DOUBLE' } as const;

/** Sales of three shops, of which one has no number. */
const SALES: readonly Plain[] = [
  { shop: 1n, text: 'a', amount: 1 },
  { shop: 1n, text: 'b', amount: 2.5 },
  { shop: 2n, text: 'b', amount: 4 },
  { shop: 2n, text: null, amount: null },
  { shop: null, text: 'c', amount: 100 },
];

const table: RowSource = { kind: 'table', name: 'sales' };
const sums = (column: string, changes: Partial<GroupPlan> = {}): GroupPlan => ({
  operator: 'group',
  ...LEAF,
  keys: [{ kind: 'column', name: 'd0', column, type: null }],
  aggregators: [{ kind: 'sum', name: 'a0', column: 'amount', type: 'DOUBLE', filter: null }],
  emptyGroup: false,
  ...changes,
});
const scanOf = (columns: readonly string[]): ScanPlan => ({
  operator: 'scan',
  ...LEAF,
  columns,
  timeOrder: null,
  offset: 0,
  limit: null,
});
const named = (key: string, sum: string): Pick<GroupPlan, 'post'> => ({
  post: [
    {
      step: 'project',
      columns: [
        { name: key, from: 'd0' },
        { name: sum, from: 'a0' },
      ],
    },
  ],
});
const join = (left: RowSource, right: RowSource, keys: JoinSource['keys'], changes: Partial<JoinSource>): JoinSource => ({
  kind: 'join',
  left,
  right,
  prefix: 'r.',
  type: 'inner',
  keys,
  condition: null,
  leftColumns: [],
  rightColumns: [],
  ...changes,
});
const key = (left: string, right: string, type: 'LONG' | 'STRING' | 'DOUBLE'): JoinSource['keys'][number] => ({
  left: parseExpression(left),
  right: parseExpression(right),
  type,
});

const highest = (source: RowSource): RowSource => ({
  kind: 'query',
  source,
  plan: {
    operator: 'group',
    ...LEAF,
    keys: [],
    aggregators: [{ kind: 'max', name: 'm', column: 'a0', type: 'DOUBLE', filter: null }],
    emptyGroup: true,
  },
});

interface Case {
  readonly plan: ScanPlan | GroupPlan;
  readonly source: RowSource;
  readonly rows: readonly Plain[];
  /** Runs over the table. */
  readonly runs: number;
  /** Segments of other processes, whose rows come as frames. */
  readonly isElsewhere?: true;
  /** Rows that each table is said to have, so that it is known which part of them joins leave. */
  readonly knownRows?: number;
  readonly limits?: RunLimits;
}

/** WITH r AS (sums by a column) SELECT … FROM r WHERE sum = (SELECT MAX(sum) FROM r), the right sides under other names. */
const bestOf = (column: 'shop' | 'text', inner: Partial<GroupPlan> = {}): Pick<Case, 'plan' | 'source'> => ({
  plan: scanOf([column, 'sum']),
  source: join(
    { kind: 'query', plan: sums(column, named(column, 'sum')), source: table },
    highest({ kind: 'query', plan: sums(column, inner), source: table }),
    [key('sum', 'm', 'DOUBLE')],
    { leftColumns: schemaOf({ [column]: TYPES[column], sum: 'DOUBLE' }), rightColumns: schemaOf({ m: 'DOUBLE' }) },
  ),
});

/** Sales and, of each, the sum of its shop and of its text's first shop: the same right side twice. */
const right: RowSource = { kind: 'filtered', source: table, filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'b' } };
const LEFT = schemaOf(TYPES);
const others: RowSource = { kind: 'table', name: 'others' };
const twoSides = (second: RowSource, type: JoinSource['type'] = 'inner', first: RowSource = others): RowSource =>
  join(
    join(first, right, [key('shop', 'shop', 'LONG')], { leftColumns: LEFT, rightColumns: LEFT }),
    second,
    [key('shop', 'shop', 'LONG')],
    {
      prefix: 's.',
      type,
      leftColumns: [...LEFT, ...schemaOf({ 'r.shop': 'LONG', 'r.text': 'STRING', 'r.amount': 'DOUBLE' })],
      rightColumns: LEFT,
    },
  );
const both = (rows: readonly Plain[]): readonly Plain[] => rows.map((row) => ({ ...row, 's.amount': row['r.amount'] ?? null }));
const PAIRS: readonly Plain[] = [
  { text: 'a', 'r.amount': 2.5 },
  { text: 'b', 'r.amount': 2.5 },
  { text: 'b', 'r.amount': 4 },
  { text: null, 'r.amount': 4 },
];

/** Sales of shops that have a sale of a text, their sums by a column, and beside these the sum of all (`SELECT … FROM a JOIN b GROUP BY … HAVING … (SELECT … FROM a JOIN b)`). */
const soldBeside = (text: string, type: JoinSource['type'] = 'inner'): RowSource =>
  join(
    table,
    { kind: 'filtered', source: others, filter: { kind: 'equals', column: 'text', type: 'STRING', value: text } },
    [key('shop', 'shop', 'LONG')],
    { type, leftColumns: LEFT, rightColumns: LEFT },
  );
const totals = (changes: Partial<GroupPlan> = {}, inner: RowSource = soldBeside('a')): Pick<Case, 'plan' | 'source'> => ({
  plan: scanOf(['d0', 'a0', 't.all']),
  source: join(
    { kind: 'query', plan: sums('text'), source: soldBeside('a') },
    {
      kind: 'query',
      plan: {
        ...sums('text'),
        keys: [],
        aggregators: [{ kind: 'sum', name: 'all', column: 'amount', type: 'DOUBLE', filter: null }],
        ...changes,
      },
      source: inner,
    },
    [],
    { prefix: 't.', leftColumns: schemaOf({ d0: 'STRING', a0: 'DOUBLE' }), rightColumns: schemaOf({ all: 'DOUBLE' }) },
  ),
});
/** The highest shop of all joined rows in place of their sum: of the table it would be 2. */
const highestShop: Pick<Case, 'plan' | 'source'> = totals({
  aggregators: [{ kind: 'max', name: 'all', column: 'shop', type: 'LONG', filter: null }],
});
/** The totals beside the joined rows themselves, of which they read another column. */
const besideTotals: Pick<Case, 'plan' | 'source'> = {
  plan: scanOf(['d0', 't.all', 'w.shop']),
  source: join(totals().source, soldBeside('a'), [key('d0', 'text', 'STRING')], {
    prefix: 'w.',
    leftColumns: schemaOf({ d0: 'STRING', a0: 'DOUBLE', 't.all': 'DOUBLE' }),
    rightColumns: [...LEFT, ...schemaOf({ 'r.shop': 'LONG', 'r.text': 'STRING', 'r.amount': 'DOUBLE' })],
  }),
};
const parts = (all: number | bigint): readonly Plain[] => [
  { d0: 'a', a0: 1, 't.all': all },
  { d0: 'b', a0: 2.5, 't.all': all },
];

const CASES: Readonly<Record<string, Case>> = {
  'joined rows that are summed by a column and as a whole': { ...totals(), rows: parts(3.5), runs: 2, knownRows: 5 },
  'joined rows and the highest number of them': { ...highestShop, rows: parts(1n), runs: 2, knownRows: 5 },
  'joined rows that are a right side with other columns too': {
    ...besideTotals,
    rows: [
      { d0: 'a', 't.all': 3.5, 'w.shop': 1n },
      { d0: 'b', 't.all': 3.5, 'w.shop': 1n },
    ],
    runs: 3,
    knownRows: 5,
  },
  'joined rows of tables whose size is not known': { ...totals(), rows: parts(3.5), runs: 3 },
  'joined rows where what is held has a limit': { ...totals(), rows: parts(3.5), runs: 3, knownRows: 5, limits: { maxSubqueryRows: 4 } },
  'joined rows of which most are left': { ...totals(), rows: parts(3.5), runs: 3, knownRows: 1 },
  'joined rows of which one sum has a filter': {
    ...totals({ filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'b' } }),
    rows: parts(2.5),
    runs: 3,
    knownRows: 5,
  },
  'joins with other conditions': { ...totals({}, soldBeside('b')), rows: parts(7.5), runs: 4, knownRows: 5 },
  'joins of another kind': { ...totals({}, soldBeside('a', 'left')), rows: parts(107.5), runs: 3, knownRows: 5 },
  'groups of longs, named twice': { ...bestOf('shop'), rows: [{ shop: null, sum: 100 }], runs: 1 },
  'groups of texts, named twice': { ...bestOf('text'), rows: [{ text: 'c', sum: 100 }], runs: 1 },
  'groups that cannot lie in memory': { ...bestOf('text'), rows: [{ text: 'c', sum: 100 }], runs: 2, isElsewhere: true },
  'groups with another filter': {
    ...bestOf('text', { filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'b' } }),
    rows: [{ text: 'b', sum: 6.5 }],
    runs: 2,
  },
  'right sides that are the same': { plan: scanOf(['text', 'r.amount', 's.amount']), source: twoSides(right), rows: both(PAIRS), runs: 2 },
  'right sides with other conditions': {
    plan: scanOf(['text', 'r.amount', 's.amount']),
    source: twoSides({ ...right, filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'a' } }),
    rows: [
      { text: 'a', 'r.amount': 2.5, 's.amount': 1 },
      { text: 'b', 'r.amount': 2.5, 's.amount': 1 },
    ],
    runs: 3,
  },
  'right sides that are the same, of rows that come as frames': {
    plan: scanOf(['text', 'r.amount', 's.amount']),
    source: twoSides(right, 'inner', { kind: 'union', sources: [others, { kind: 'inline', frame: frameOf([], TYPES) }] }),
    rows: both(PAIRS),
    runs: 2,
  },
  'right sides of which one keeps rows without a partner': {
    plan: scanOf(['text', 'r.amount', 's.amount']),
    source: twoSides(right, 'left'),
    rows: both(PAIRS),
    runs: 2,
  },
};

const shared = suite('sources that stand in a statement several times');

for (const threads of [0, 2])
  for (const [name, { plan, source, rows, runs, isElsewhere, knownRows = null, limits = {} }] of Object.entries(CASES))
    shared(`${name}, ${threads} threads`, async () => {
      const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
      const engine = createEngine({ memory, kernels: 'simd', threads, rowsRunInline: 0 });
      const held: UploadedFrame[] = [];
      let count = 0;
      const runner = new SourceRunner({
        engine,
        isServedHere: () => isElsewhere !== true,
        rowsOfTable: () => knownRows,
        columnsOf: (each) => rowSourceColumns(each, { table: () => ({ columns: schemaOf(TYPES), interval: ETERNITY }) }),
        async *runTables(leaf): AsyncGenerator<Frame> {
          count++;
          const placed = uploadFrame(frameOf(SALES, TYPES), memory);
          held.push(placed);
          yield* engine.runViews(leaf, [{ ...placed.view, id: 's' }], { ...RUN, ending: 'final' }, new AbortController().signal);
        },
        lookup: () => ({ rowCount: 0, frames: async function* () {} }),
        runOptions: { ...RUN, limits },
        signal: new AbortController().signal,
      });
      try {
        assert.equal(sortedText(await rowsOf(runner.run(plan, source))), sortedText(rows));
        assert.is(count, runs);
      } finally {
        for (const { release } of held) release();
        await engine.close();
      }
      assert.is(memory.allocatedBytes, 0, 'memory is given back');
    });

shared.run();
