import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import type { Engine } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, type Expression, long } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import type { PostStep, RowPlan, ScanPlan } from '../../src/model/plan.js';
import type { RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { WindowFunction } from '../../src/model/window.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf } from './plain-rows.js';
import { COUNT, groupOf, runnerOf, scanOf } from './running-sources.js';

/* Windows over whole partitions as joins with groups of the same rows: against totals that are added up here. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const TYPES = { id: 'LONG', name: 'STRING', number: 'LONG', amount: 'DOUBLE' } as const;
const totals = suite('totals of partitions');

totals.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

const AMOUNTS = [0.5, 0, -3, 1e300, Infinity];

function drawnSegments(random: () => number, drawn: readonly number[] = AMOUNTS): Plain[][] {
  const below = (count: number): number => Math.floor(random() * count);
  const names = 1 + below(random() < 0.5 ? 4 : 60);
  let id = 0n;
  return Array.from({ length: 1 + below(4) }, () =>
    Array.from(
      { length: 1 + below(60) },
      (): Plain => ({
        id: id++,
        name: random() < 0.1 ? null : `n${below(names)}`,
        number: random() < 0.1 ? null : random() < 0.1 ? 2n ** 63n - 1n : BigInt(below(5)),
        amount: random() < 0.2 ? null : (drawn[below(drawn.length)] ?? 0),
      }),
    ),
  );
}

const WHOLE = { unit: 'rows', start: 'unbounded', end: 'unbounded', exclude: null } as const;
const functionOf = (
  name: string,
  kind: 'count' | 'sum' | 'min' | 'max',
  column: string | undefined,
  type: WindowFunction['type'],
  filter: string | null = null,
): WindowFunction => ({ name, call: { kind }, columns: column === undefined ? [] : [column], type, filter, frame: WHOLE });
const distinct = (name: string, column: string): WindowFunction => ({
  ...{ name, call: { kind: 'distinct', fold: null }, columns: [column], type: 'LONG', filter: null, frame: WHOLE },
});
const windowOf = (partition: readonly string[], functions: readonly WindowFunction[]): PostStep => ({
  step: 'window',
  partition,
  order: [],
  functions,
});
const column = (name: string): Expression => ({ kind: 'column', name });

const WINDOWS = [
  windowOf(
    ['name'],
    [
      functionOf('rows of name', 'count', undefined, 'LONG'),
      functionOf('large of name', 'count', undefined, 'LONG', 'large'),
      functionOf('sum of name', 'sum', 'number', 'LONG'),
      functionOf('large sum of name', 'sum', 'number', 'LONG', 'large'),
    ],
  ),
  windowOf(
    ['number', 'name'],
    [functionOf('least of both', 'min', 'amount', 'DOUBLE'), functionOf('most of both', 'max', 'amount', 'DOUBLE')],
  ),
  windowOf(
    [],
    [
      functionOf('rows of all', 'count', undefined, 'LONG'),
      functionOf('most of all', 'max', 'number', 'LONG'),
      distinct('names of all', 'name'),
    ],
  ),
];
const MADE = WINDOWS.flatMap((step) => (step.step === 'window' ? step.functions.map(({ name }) => name) : []));
const OUTPUTS = [...MADE.map((name) => ({ name, from: name })), { name: 'own', from: 'id' }];
const LARGE = { name: 'large', expression: call('>', column('number'), long(1)), outputType: 'LONG' } as const;
const scanWith = (post: readonly PostStep[], filters: readonly PostStep[] = []): ScanPlan =>
  scanOf(['id', 'name', 'number', 'amount', 'large'], {
    virtualColumns: [LARGE],
    post: [...post, ...filters, { step: 'project', columns: OUTPUTS }],
  });

/** Rows with the values that windows give them. */
function expectedRows(rows: readonly Plain[]): Plain[] {
  const text = ({ name, number }: Plain): string => `${name} ${number}`;
  const sum = (of: readonly Plain[]): bigint | null => {
    const numbers = of.flatMap(({ number }) => (typeof number === 'bigint' ? [number] : []));
    return numbers.length === 0
      ? null
      : BigInt.asIntN(
          64,
          numbers.reduce((total, number) => total + number, 0n),
        );
  };
  const amounts = (of: readonly Plain[]): number[] => of.flatMap(({ amount }) => (typeof amount === 'number' ? [amount] : []));
  const large = ({ number }: Plain): boolean => typeof number === 'bigint' && number > 1n;
  return rows.map((row) => {
    const ofName = rows.filter(({ name }) => name === row.name);
    const ofBoth = amounts(rows.filter((other) => text(other) === text(row)));
    const all = rows.flatMap(({ number }) => (typeof number === 'bigint' ? [number] : []));
    return {
      'rows of name': BigInt(ofName.length),
      'large of name': BigInt(ofName.filter(large).length),
      'sum of name': sum(ofName),
      'large sum of name': sum(ofName.filter(large)),
      'least of both': ofBoth.length === 0 ? null : Math.min(...ofBoth),
      'most of both': ofBoth.length === 0 ? null : Math.max(...ofBoth),
      'rows of all': BigInt(rows.length),
      'most of all': all.length === 0 ? null : all.reduce((most, each) => (each > most ? each : most)),
      'names of all': BigInt(new Set(rows.flatMap(({ name }) => (name === null ? [] : [name]))).size),
      own: row['id'] ?? null,
    };
  });
}

interface Answer {
  readonly rows: Plain[];
  /** Plans that were run over rows in memory. */
  readonly inMemory: readonly RowPlan[];
}

async function answerOf(
  plan: RowsPlan,
  source: RowSource,
  segments: readonly (readonly Plain[])[],
  rowsOfTable = 100,
  threads = 0,
): Promise<Answer> {
  const engine = createEngine({ memory, kernels: threads === 0 ? 'reference' : 'simd', threads, rowsRunInline: 0, morselRows: 64 });
  const inMemory: RowPlan[] = [];
  const runUploaded = engine.runUploaded.bind(engine);
  Object.assign(engine, {
    runUploaded: (...args: Parameters<Engine['runUploaded']>) => {
      inMemory.push(args[0]);
      return runUploaded(...args);
    },
  });
  const held: UploadedFrame[] = [];
  const frames = segments.map((rows) => frameOf(rows, TYPES));
  const runner = runnerOf({ engine, memory, framesOf: () => frames, held }, TYPES, undefined, () => rowsOfTable);
  try {
    return { rows: await rowsOf(runner.run(plan, source)), inMemory };
  } finally {
    for (const { release } of held) release();
    await engine.close();
  }
}

const TABLE: RowSource = { kind: 'table', name: 'rows' };
const sortBy = (column: string): PostStep => ({
  step: 'sort',
  by: [{ column, descending: false, nulls: 'first', ordering: 'numeric' }],
  offset: 0,
  limit: null,
});
/** Every row, by its own number. */
const byRow = (): RowsPlan =>
  groupOf([...MADE, 'own'], {
    post: [{ step: 'sort', by: [{ column: 'own', descending: false, nulls: 'first', ordering: 'numeric' }], offset: 0, limit: null }],
  });
const plain = (rows: readonly Plain[]): Plain[] => rows.map(({ rows: _, ...row }) => row);

for (let seed = 1; seed <= caseCount(40); seed++)
  totals(`counts, sums and extremes by strings, numbers and all rows: ${seed}`, async () => {
    const parts = drawnSegments(randomSource(seed));
    const { rows, inMemory } = await answerOf(byRow(), { kind: 'query', plan: scanWith(WINDOWS), source: TABLE }, parts);
    assert.equal(plain(rows), expectedRows(parts.flat()));
    assert.equal(
      inMemory.map(({ operator, stages = [] }) => `${operator} ${stages.length}`),
      ['group 0', 'group 0', 'group 0', 'group 3'],
      'groups of each partitioning, and the reader over three joins',
    );
  });

const CONDITION: Filter = { kind: 'expression', expression: call('==', column('amount'), column('most of both')) };

for (let seed = 1; seed <= caseCount(20); seed++)
  totals(`conditions after windows: ${seed}`, async () => {
    const parts = drawnSegments(randomSource(100 + seed));
    const source: RowSource = { kind: 'query', plan: scanWith(WINDOWS, [{ step: 'filter', filter: CONDITION }]), source: TABLE };
    const { rows } = await answerOf(groupOf([], { aggregators: [COUNT], emptyGroup: true }), source, parts);
    const all = parts.flat();
    const expected = expectedRows(all).filter((row, at) => row['most of both'] !== null && row['most of both'] === all[at]?.['amount']);
    assert.equal(rows, [{ rows: BigInt(expected.length) }]);
  });

const read = (names: readonly string[], rows: readonly Plain[]): Plain[] =>
  rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name] ?? null])));

/** Places of two cells in an ascending order. */
const compared = (one: unknown, other: unknown): number =>
  one === other ? 0 : one === null ? -1 : other === null ? 1 : (one as bigint) < (other as bigint) ? -1 : 1;

for (let seed = 1; seed <= caseCount(20); seed++)
  totals(`the first rows by an order, those that are alike by partition: ${seed}`, async () => {
    const parts = drawnSegments(randomSource(200 + seed));
    const all = parts.flat();
    const by = [{ column: 'rows of name', descending: true, nulls: 'first', ordering: 'numeric' }] as const;
    const outputs = ['own', 'rows of name', 'twice'];
    const plan = scanOf(['id', 'name', 'number', 'amount', 'large'], {
      virtualColumns: [LARGE],
      post: [
        ...WINDOWS.slice(0, 2),
        { step: 'compute', name: 'twice', type: 'LONG', expression: call('*', column('rows of name'), long(2)) },
        { step: 'sort', by, offset: 1, limit: 25 },
        { step: 'project', columns: outputs.map((name) => ({ name, from: name === 'own' ? 'id' : name })) },
      ],
    });
    const expected = expectedRows(all)
      .map((row, at): Plain => ({ ...row, ...all[at], twice: 2n * (row['rows of name'] as bigint) }))
      .sort(
        (one, other) =>
          compared(other['rows of name'], one['rows of name']) ||
          compared(one['number'], other['number']) ||
          compared(one['name'], other['name']),
      );
    for (const threads of [0, 2]) {
      const { rows, inMemory } = await answerOf(plan, TABLE, parts, 100, threads);
      assert.equal(rows, read(outputs, expected.slice(1, 26)));
      assert.is(inMemory.at(-1)?.stages?.length, 2);
    }
  });

for (const special of [Number.NaN, -0])
  totals(`doubles that have ${Object.is(special, -0) ? '-0' : special} among them are read by rows`, async () => {
    const scan = scanWith([windowOf([], [functionOf('most', 'max', 'amount', 'DOUBLE'), functionOf('sum', 'sum', 'amount', 'DOUBLE')])]);
    const source: RowSource = { kind: 'query', plan: { ...scan, post: scan.post.slice(0, 1) }, source: TABLE };
    const { rows, inMemory } = await answerOf(groupOf(['most', 'sum']), source, drawnSegments(randomSource(5), [special]));
    // A group of zeros has the number 0, whatever their sign is.
    assert.equal(read(['most', 'sum'], rows), [{ most: special + 0, sum: special + 0 }]);
    assert.is(inMemory.filter(({ stages = [] }) => stages.length > 0).length, 0);
  });

totals('variances', async () => {
  const variance: WindowFunction = {
    ...{ name: 'variance', columns: ['id'], type: 'DOUBLE', filter: null, frame: WHOLE },
    call: { kind: 'state', aggregateState: { type: 'moments', result: 'populationVariance' }, input: 'values', output: 'value' },
  };
  const parts = drawnSegments(randomSource(11));
  const scan = scanWith([windowOf([], [variance])]);
  const source: RowSource = { kind: 'query', plan: { ...scan, post: scan.post.slice(0, 1) }, source: TABLE };
  const { rows, inMemory } = await answerOf(groupOf(['variance'], { post: [sortBy('variance')] }), source, parts);
  const count = parts.flat().length;
  assert.is(rows.length, 1);
  // The variance of the numbers from 0 on.
  const expected = (count ** 2 - 1) / 12;
  assert.ok(Math.abs(Number(rows[0]?.['variance']) / expected - 1) < 1e-12);
  assert.is(inMemory.at(-1)?.stages?.length, 1);
});

totals('no rows', async () => {
  const { rows } = await answerOf(
    groupOf([], { aggregators: [COUNT], emptyGroup: true }),
    { kind: 'query', plan: scanWith(WINDOWS), source: TABLE },
    [[]],
  );
  assert.equal(rows, [{ rows: 0n }]);
});

totals('what cannot be grouped, or is too large, goes the other way', async () => {
  const parts = drawnSegments(randomSource(7));
  const expected = expectedRows(parts.flat()).map((row) => ({ own: row['own'], 'rows of name': row['rows of name'] }));
  const outputs = ['rows of name', 'own'];
  const reader = groupOf(outputs, { post: byRow().post });
  for (const [post, rowsOfTable] of [
    [WINDOWS, 1e9],
    [[...WINDOWS.slice(0, 1), windowOf(['amount'], [functionOf('x', 'count', undefined, 'LONG')]), ...WINDOWS.slice(1)], 100],
    [[...WINDOWS, { ...WINDOWS[0], rowsMax: 1000, functions: [functionOf('x', 'count', undefined, 'LONG')] } as PostStep], 100],
  ] as const) {
    const { rows, inMemory } = await answerOf(reader, { kind: 'query', plan: scanWith(post), source: TABLE }, parts, rowsOfTable);
    assert.equal(
      rows.map((row) => ({ own: row['own'], 'rows of name': row['rows of name'] })),
      expected,
    );
    assert.is(inMemory.filter(({ stages = [] }) => stages.length > 0).length, 0);
  }
});

totals.run();
