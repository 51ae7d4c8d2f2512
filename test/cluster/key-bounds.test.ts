import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { KeyBounds } from '../../src/cluster/sources/key-bounds.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, PostStep } from '../../src/model/plan.js';
import type { JoinSource, RowSource, RowsPlan } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';
import { LEAF, RUN, runTablesOf, scanOf } from './running-sources.js';

/* Sources that are bounded by the keys of right sides, against loops over plain rows. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const TYPES = { key: 'LONG', other: 'LONG', text: 'STRING' } as const;
const NAMES = ['first', 'second', 'third'] as const;

interface Row extends Plain {
  readonly key: bigint | null;
  readonly other: bigint | null;
  readonly text: string | null;
}
type Tables = Readonly<Record<(typeof NAMES)[number], readonly Row[]>>;

/** Plans that reached the segments of a table. */
interface Seen {
  readonly table: string;
  readonly plan: RowsPlan;
}

const held: UploadedFrame[] = [];

function runnerOf(tables: Tables, isServedHere: boolean, seen: Seen[] = []): SourceRunner {
  // Two segments, each with dictionaries of its own.
  const framesOf = (name: string): Frame[] =>
    [0, 1].map((part) =>
      frameOf(
        tables[name as keyof Tables].filter((_, row) => row % 2 === part),
        TYPES,
      ),
    );
  const run = runTablesOf({ engine, memory, held, framesOf });
  return new SourceRunner({
    engine,
    isServedHere: () => isServedHere,
    // Sides that have been filtered are always taken for small ones.
    rowsOfTable: (name) => (name === 'first' ? 4000 : name === 'second' ? 2000 : 3000),
    columnsOf: (source) => rowSourceColumns(source, { table: () => ({ columns: schemaOf(TYPES), interval: ETERNITY }) }),
    runTables(plan, names) {
      for (const table of names) seen.push({ table, plan });
      return run(plan, names);
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal: new AbortController().signal,
  });
}

const SUM = { kind: 'sum', name: 'sum', column: 'other', type: 'LONG', filter: null } as const;
const RENAMED: PostStep = {
  step: 'project',
  columns: [
    { name: 'text', from: 'label' },
    { name: 'key', from: 'k' },
    { name: 'other', from: 'sum' },
  ],
};

/** Rows of a table as they are, those with a small `other`, or sums of `other` by `key`. */
type Shape = 'rows' | 'filtered' | 'grouped' | 'having' | 'limited';

function sourceOf(name: string, shape: Shape): RowSource {
  const table: RowSource = { kind: 'table', name };
  if (shape === 'rows') return table;
  if (shape === 'filtered') return { kind: 'filtered', source: table, filter: SMALL };
  const plan: GroupPlan = {
    operator: 'group',
    ...LEAF,
    keys: [
      { kind: 'column', name: 'k', column: 'key', type: 'LONG' },
      { kind: 'column', name: 'label', column: 'text', type: null },
    ],
    aggregators: [SUM],
    emptyGroup: false,
    post: [
      ...(shape === 'having' ? [{ step: 'filter', filter: { ...SMALL, column: 'sum' } } as const] : []),
      ...(shape === 'limited'
        ? [
            {
              step: 'sort',
              by: ['k', 'label'].map((column) => ({ column, descending: false, nulls: 'first', ordering: 'numeric' }) as const),
              offset: 0,
              limit: 3,
            } as const,
          ]
        : []),
      RENAMED,
    ],
  };
  return { kind: 'query', plan, source: table };
}

const SMALL = {
  kind: 'range',
  column: 'other',
  type: 'LONG',
  ordering: 'numeric',
  lower: null,
  upper: 1n,
  lowerStrict: false,
  upperStrict: false,
} as const;

function rowsOfShape(rows: readonly Row[], shape: Shape): readonly Row[] {
  const isSmall = ({ other }: Row): boolean => other !== null && other <= 1n;
  if (shape === 'rows') return rows;
  if (shape === 'filtered') return rows.filter(isSmall);
  const groups = new Map<string, Row>();
  for (const row of rows) {
    const name = JSON.stringify([row.key === null ? null : String(row.key), row.text]);
    const { other = null } = groups.get(name) ?? {};
    groups.set(name, { ...row, other: other === null ? row.other : other + (row.other ?? 0n) });
  }
  const all = [...groups.values()];
  if (shape === 'having') return all.filter(isSmall);
  if (shape === 'grouped') return all;
  const least = (value: bigint | string | null): string => (value === null ? '' : ` ${String(value)}`);
  const order = (a: Row, b: Row): number =>
    (a.key === b.key ? 0 : a.key === null ? -1 : b.key === null ? 1 : a.key < b.key ? -1 : 1) || (least(a.text) < least(b.text) ? -1 : 1);
  return all.sort(order).slice(0, 3);
}

interface JoinCase {
  readonly shape: Shape;
  readonly type: JoinSource['type'];
  /** Whether the key is the other side's column, and that of the right side before. */
  readonly by: 'key' | 'other' | 'a.key';
}

interface Case {
  readonly tables: Tables;
  readonly base: Shape;
  readonly joins: readonly [JoinCase, JoinCase];
  readonly isServedHere: boolean;
}

const number = fc.option(fc.bigInt({ min: -2n, max: 5n }), { nil: null, freq: 6 });
const row = fc.record({ key: number, other: number, text: fc.constantFrom('x', 'y', null) });
const rows = fc.array(row, { maxLength: 14 });
const shape = fc.constantFrom<Shape>('rows', 'filtered', 'grouped', 'having', 'limited');
const type = fc.constantFrom<JoinSource['type']>('inner', 'inner', 'inner', 'left', 'semi', 'semi', 'anti', 'right', 'full', 'mark');
const joinCase: fc.Arbitrary<Case> = fc.record({
  tables: fc.record({ first: rows, second: rows, third: rows }),
  base: shape,
  joins: fc.tuple(
    fc.record({ shape, type, by: fc.constantFrom('key', 'other') }),
    fc.record({ shape, type, by: fc.constantFrom('key', 'other', 'a.key') }),
  ),
  isServedHere: fc.boolean(),
});

const PREFIXES = ['a.', 'b.'] as const;

/** Columns that the rows have after so many joins. */
function columnsAfter(joins: readonly JoinCase[]): Readonly<Record<string, 'STRING' | 'LONG'>> {
  const columns: Record<string, 'STRING' | 'LONG'> = { ...TYPES };
  joins.forEach(({ type: each }, at) => {
    if (each === 'mark') columns[`mark${at}`] = 'LONG';
    if (each === 'semi' || each === 'anti' || each === 'mark') return;
    for (const [name, of] of Object.entries(TYPES)) columns[PREFIXES[at] + name] = of;
  });
  return columns;
}

/** The key of a join, by a column that is there. */
function leftKey({ joins }: Case, at: number): string {
  const by = joins[at]?.by ?? 'key';
  return by in columnsAfter(joins.slice(0, at)) ? by : 'key';
}

function joinedOf(one: Case, base = sourceOf('first', one.base)): RowSource {
  return one.joins.reduce<RowSource>(
    (left, each, at): JoinSource => ({
      kind: 'join',
      left,
      right: sourceOf(NAMES[at + 1] ?? '', each.shape),
      prefix: PREFIXES[at] ?? '',
      type: each.type,
      keys: [{ left: parseExpression(`"${leftKey(one, at)}"`), right: parseExpression('key'), type: 'LONG' }],
      condition: null,
      sidesChosen: true,
      leftColumns: schemaOf(columnsAfter(one.joins.slice(0, at))),
      rightColumns: schemaOf(TYPES),
      ...(each.type === 'mark' ? { mark: `mark${at}` } : {}),
    }),
    base,
  );
}

function pairsOf(one: Case): readonly Plain[] {
  const { tables, base, joins } = one;
  let found: readonly Plain[] = rowsOfShape(tables.first, base);
  joins.forEach(({ shape: of, type: each }, at) => {
    const right = rowsOfShape(tables[NAMES[at + 1] ?? 'first'], of);
    const key = leftKey(one, at);
    const prefixed = (partner: Row): Plain =>
      Object.fromEntries(Object.entries(partner).map(([name, value]) => [PREFIXES[at] + name, value]));
    const met = new Set<Row>();
    const joined = found.flatMap((left): readonly Plain[] => {
      const value = left[key] ?? null;
      const partners = right.filter((partner) => value !== null && partner.key === value);
      for (const partner of partners) met.add(partner);
      if (each === 'semi') return partners.length > 0 ? [left] : [];
      if (each === 'anti') return partners.length > 0 ? [] : [left];
      if (each === 'mark') return [{ ...left, [`mark${at}`]: partners.length > 0 ? 1n : 0n }];
      if (partners.length === 0) return each === 'left' || each === 'full' ? [left] : [];
      return partners.map((partner) => ({ ...left, ...prefixed(partner) }));
    });
    const rest = each === 'right' || each === 'full' ? right.filter((partner) => !met.has(partner)).map(prefixed) : [];
    found = [...joined, ...rest];
  });
  const names = Object.keys(columnsAfter(joins));
  return found.map((each) => Object.fromEntries(names.map((name) => [name, each[name] ?? null])));
}

const bounds = suite('key bounds');

bounds.after.each(() => {
  for (const { release } of held.splice(0)) release();
  assert.is(memory.allocatedBytes, 0, 'memory is given back');
});
bounds.after(() => engine.close());

bounds('two joins of tables and groups, of every type', async () => {
  await fc.assert(
    fc.asyncProperty(joinCase, async (one) => {
      const columns = Object.keys(columnsAfter(one.joins));
      const plan = scanOf(columns);
      const found = await rowsOf(runnerOf(one.tables, one.isServedHere).run(plan, joinedOf(one)));
      assert.equal(sortedText(found), sortedText(pairsOf(one)));
    }),
    { numRuns: caseCount(600) },
  );
});

const some: readonly Row[] = Array.from({ length: 20 }, (_, at) => ({ key: BigInt(at), other: BigInt(at % 10), text: null }));
const FEW: Tables = { first: some, second: some, third: some };

/** Tables whose rows were bounded by keys of another. */
async function boundedTables(one: Omit<Case, 'tables'>): Promise<readonly string[]> {
  const seen: Seen[] = [];
  const plan = scanOf(['key']);
  await rowsOf(runnerOf(FEW, one.isServedHere, seen).run(plan, joinedOf({ ...one, tables: FEW })));
  return seen.flatMap(({ table, plan: { stages = [] } }) =>
    stages.some((stage) => stage.kind === 'join' && stage.columns.length === 0 && stage.type === 'semi') ? [table] : [],
  );
}

const inner = { type: 'inner', by: 'key' } as const;
const HERE = { base: 'rows', isServedHere: true } as const;

bounds('groups are made of the rows that the keys of a filtered side leave', async () => {
  const small = { ...inner, shape: 'filtered' } as const;
  const grouped = { ...inner, shape: 'grouped' } as const;
  const rowsOnly = { ...inner, shape: 'rows' } as const;
  assert.equal(await boundedTables({ ...HERE, joins: [grouped, small] }), ['second'], 'a right side, by one that is joined later');
  assert.equal(await boundedTables({ ...HERE, joins: [small, { ...grouped, by: 'a.key' }] }), ['third'], 'by a column of the right side');
  assert.equal(await boundedTables({ ...HERE, base: 'grouped', joins: [small, small] }), ['third', 'first'], 'the left side');
  assert.equal(await boundedTables({ ...HERE, joins: [rowsOnly, { ...small, type: 'semi' }] }), ['second', 'first'], 'rows');
  assert.equal(await boundedTables({ ...HERE, joins: [{ ...grouped, shape: 'limited' }, small] }), [], 'the first groups of all');
  assert.equal(await boundedTables({ ...HERE, joins: [grouped, { ...small, type: 'left' }] }), ['third'], 'a side that leaves out no rows');
  assert.equal(await boundedTables({ ...HERE, joins: [{ ...grouped, type: 'right' }, small] }), [], 'groups without a partner are kept');
  assert.equal(await boundedTables({ ...HERE, joins: [{ ...grouped, by: 'other' }, small] }), [], 'another column');
  assert.equal(await boundedTables({ ...HERE, isServedHere: false, joins: [grouped, small] }), [], 'segments elsewhere');
});

bounds('a column that hides another of its name does not bound rows by that one', async () => {
  const tables = { ...FEW, first: some.map((each): Row => ({ ...each, other: ((each.key ?? 0n) + 5n) % 20n })) };
  const groups = sourceOf('first', 'grouped');
  const filtered = { ...inner, shape: 'filtered' } as const;
  const left = { ...inner, shape: 'rows', type: 'left' } as const;
  assert.is(groups.kind, 'query');
  if (groups.kind !== 'query') return;
  const names = { key: 'k', 'a.key': 'sum' };
  const post: PostStep = { step: 'project', columns: Object.entries(names).map(([name, from]) => ({ name, from })) };
  const bases: readonly (readonly [base: RowSource, joins: Case['joins'], found: readonly bigint[]])[] = [
    // The sums are among 0, 1, 10 and 11 where the keys are 15, 16, 5 and 6.
    [
      { kind: 'unnest', source: groups, column: { name: 'key', expression: parseExpression('other'), outputType: null } },
      [filtered, filtered],
      [0n, 1n, 10n, 11n],
    ],
    [{ ...groups, plan: { ...groups.plan, post: [post] } as GroupPlan }, [left, { ...filtered, by: 'a.key' }], [0n, 1n, 10n, 11n]],
  ];
  for (const [base, joins, found] of bases) {
    const one: Case = { ...HERE, tables, joins };
    const plan = scanOf(['key']);
    const rows = await rowsOf(runnerOf(tables, true).run(plan, joinedOf(one, base)));
    assert.equal(sortedText(rows), sortedText(found.map((key) => ({ key }))));
  }
});

bounds('a semi join, which adds no columns, bounds the sides of others although a later join has its prefix', () => {
  const columns = schemaOf(TYPES);
  const step = (type: 'inner' | 'semi', prefix: string, left: string): JoinSource => ({
    kind: 'join',
    left: { kind: 'table', name: 'first' },
    right: {
      kind: 'filtered',
      source: { kind: 'table', name: 'second' },
      filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'a' },
    },
    prefix,
    type,
    keys: [{ left: parseExpression(left), right: parseExpression('key'), type: 'LONG' }],
    condition: null,
    leftColumns: [...columns, ...schemaOf({ 'a.key': 'LONG', 'a.other': 'LONG' })],
    rightColumns: columns,
  });
  const steps = [step('inner', 'a.', 'key'), step('semi', 'b.', '"a.key"'), step('inner', 'b.', '"a.other"')];
  const found = new KeyBounds({ base: { kind: 'table', name: 'first' }, steps }, columns, []);
  found.place(1, { id: 'semi', rowCount: 1 }, 100);
  assert.equal(found.ofRight(0), [{ id: 'semi', keys: [{ column: 'key', build: 'k0' }] }]);
});

bounds.run();
