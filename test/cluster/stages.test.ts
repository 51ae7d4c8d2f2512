import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import type { SourceRunnerOptions } from '../../src/cluster/sources/runner-options.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { arrayText } from '../../src/model/array-text.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { JoinSource, RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { RunLimits } from '../../src/model/run-limits.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { type UploadedFrame, uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';
import { COUNT, groupOf, inline, joinOf, numbers, RUN, runTablesOf, scanOf } from './running-sources.js';

/* Stages on processing threads: unnesting, unions of different types, limits, cancelling, and that memory is given back. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 2 });
/** Segments of right sides, which are freed after the test that read them. */
const held: UploadedFrame[] = [];

type Options = Partial<SourceRunnerOptions> & { readonly tables?: Readonly<Record<string, readonly Frame[]>> };

function runnerOf({ tables = {}, ...options }: Options = {}): SourceRunner {
  return new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (source) => rowSourceColumns(source, { table: () => undefined }),
    runTables: runTablesOf({ engine, memory, held, framesOf: (name) => tables[name] ?? [], signal: options.signal }),
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal: new AbortController().signal,
    ...options,
  });
}

async function refusal(frames: AsyncIterable<Frame>): Promise<string> {
  try {
    await rowsOf(frames);
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('nothing was refused');
}

const stages = suite('stages');

stages.after.each(() => {
  for (const { release } of held.splice(0)) release();
  assert.is(memory.allocatedBytes, 0, 'memory is given back');
});
stages.after(() => engine.close());

stages('unnests texts of multi-value rows, filtered by the values', async () => {
  const row = fc.record({ id: fc.bigInt({ min: 0n, max: 9n }), list: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 40 }), fc.boolean(), fc.constantFrom(1, 7, 4096), async (rows, isTable, chunkRows) => {
      const frame = frameOf(
        rows.map(({ id, list }): Plain => ({ id, list })),
        { id: 'LONG', list: 'STRING' },
      );
      const source: RowSource = {
        kind: 'filtered',
        source: {
          kind: 'unnest',
          source: isTable ? { kind: 'table', name: 'rows' } : inline(frame),
          column: { name: 'one', expression: { kind: 'column', name: 'list' }, outputType: null },
        },
        filter: { kind: 'in', column: 'one', type: 'STRING', values: ['a', 'c'] },
      };
      const runner = runnerOf({ chunkRows, tables: { rows: [frame] } });
      const kept = rows.flatMap(({ id, list }) => list.filter((one) => one !== 'b').map((one): Plain => ({ id, one })));
      assert.equal(sortedText(await rowsOf(runner.run(scanOf(['id', 'one']), source))), sortedText(kept));
      const counts = new Map<string, bigint>();
      for (const { one } of kept) counts.set(String(one), (counts.get(String(one)) ?? 0n) + 1n);
      const grouped = [...counts].map(([one, count]): Plain => ({ one, rows: count }));
      assert.equal(sortedText(await rowsOf(runner.run(groupOf(['one']), source))), sortedText(grouped));
    }),
    { numRuns: 150 },
  );
});

stages('extremes are those of the rows that come out of the stages', async () => {
  const source: RowSource = {
    kind: 'filtered',
    source: joinOf({ kind: 'table', name: 'left' }, inline(numbers(100)), { type: 'left' }),
    filter: { kind: 'in', column: 'number', type: 'LONG', values: [20n, 30n, 40n] },
  };
  const plan = groupOf([], {
    emptyGroup: true,
    aggregators: [
      { kind: 'min', name: 'least', column: 'number', type: 'LONG', filter: null },
      { kind: 'max', name: 'most', column: 'number', type: 'LONG', filter: null },
      { kind: 'max', name: 'right', column: 'r.number', type: 'LONG', filter: null },
    ],
  });
  const runner = runnerOf({ tables: { left: [numbers(100)] } });
  assert.equal(await rowsOf(runner.run(plan, source)), [{ least: 20n, most: 40n, right: 40n }]);
});

for (const type of ['right', 'full'] as const)
  stages(`columns of a right side without nulls have some after a ${type} join`, async () => {
    const two = joinOf(inline(numbers(2)), inline(numbers(2)));
    const source = joinOf(two, inline(numbers(4)), { prefix: 's.', type, leftColumns: schemaOf({ number: 'LONG', 'r.number': 'LONG' }) });
    const sum = (column: string) => ({ kind: 'sum', name: `sum of ${column}`, column, type: 'LONG', filter: null }) as const;
    const plan = groupOf(['r.number'], { aggregators: [COUNT, sum('r.number'), sum('s.number')] });
    assert.equal(
      sortedText(await rowsOf(runnerOf().run(plan, source))),
      sortedText([
        { 'r.number': 0n, rows: 1n, 'sum of r.number': 0n, 'sum of s.number': 0n },
        { 'r.number': 1n, rows: 1n, 'sum of r.number': 1n, 'sum of s.number': 1n },
        { 'r.number': null, rows: 2n, 'sum of r.number': null, 'sum of s.number': 5n },
      ]),
    );
  });

stages('unnests arrays: their elements have the type of the array', async () => {
  const lists = [[1n, 2n, null], [], null, [2n]];
  const frame: Frame = {
    rowCount: 4,
    columns: [
      {
        kind: 'string',
        name: 'list',
        type: 'ARRAY<LONG>',
        ids: Uint32Array.of(0, 1, 2, 3),
        dictionary: lists.map((list) => (list === null ? null : arrayText(list, 'ARRAY<LONG>'))),
      },
      { kind: 'long', name: 'id', values: BigInt64Array.of(10n, 11n, 12n, 13n), nulls: null },
    ],
  };
  const unnest: RowSource = {
    kind: 'unnest',
    source: inline(frame),
    column: { name: 'one', expression: { kind: 'column', name: 'list' }, outputType: null },
  };
  const found = await rowsOf(runnerOf().run(scanOf(['id', 'one']), unnest));
  assert.equal(found, [
    { id: 10n, one: 1n },
    { id: 10n, one: 2n },
    { id: 10n, one: null },
    { id: 13n, one: 2n },
  ]);
  const sums = groupOf(['one'], { aggregators: [{ kind: 'sum', name: 'ids', column: 'id', type: 'LONG', filter: null }] });
  assert.equal(
    sortedText(await rowsOf(runnerOf().run(sums, unnest))),
    sortedText([
      { one: 1n, ids: 10n },
      { one: 2n, ids: 23n },
      { one: null, ids: 10n },
    ]),
  );
});

stages('unnests what an expression gives, a value where it is no array', async () => {
  const frame = frameOf([{ text: 'a' }, { text: null }, { text: 'bc' }], { text: 'STRING' });
  const unnest = (expression: string): RowSource => ({
    kind: 'unnest',
    source: inline(frame),
    column: { name: 'one', expression: parseExpression(expression), outputType: null },
  });
  assert.equal(await rowsOf(runnerOf().run(scanOf(['text', 'one']), unnest('upper(text)'))), [
    { text: 'a', one: 'A' },
    { text: 'bc', one: 'BC' },
  ]);
  assert.equal(await rowsOf(runnerOf().run(scanOf(['one']), unnest("array(text, 'x')"))), [
    { one: 'a' },
    { one: 'x' },
    { one: null },
    { one: 'x' },
    { one: 'bc' },
    { one: 'x' },
  ]);
});

stages('a union of columns of different types has the type that holds them all', async () => {
  const union: RowSource = {
    kind: 'union',
    sources: [
      inline(frameOf([{ value: 1n }, { value: null }], { value: 'LONG' })),
      inline(frameOf([{ value: 1.5 }], { value: 'DOUBLE' })),
      inline(frameOf([{ other: 'no value here' }], { other: 'STRING' })),
      inline(frameOf([{ value: '1' }, { value: 'x' }], { value: 'STRING' })),
    ],
  };
  for (const chunkRows of [1, 4096]) {
    const found = await rowsOf(runnerOf({ chunkRows }).run(groupOf(['value']), union));
    assert.equal(
      sortedText(found),
      sortedText([
        { value: '1', rows: 2n },
        { value: null, rows: 2n },
        { value: '1.5', rows: 1n },
        { value: 'x', rows: 1n },
      ]),
    );
  }
});

stages('a join of joins: a right one in the middle, rows of both right sides alone', async () => {
  const right = (from: number): RowSource => inline(frameOf([{ number: BigInt(from) }, { number: BigInt(from + 1) }], { number: 'LONG' }));
  const first = joinOf(inline(numbers(3)), right(2), { type: 'right' });
  const second = joinOf(first, right(3), {
    prefix: 's.',
    type: 'full',
    keys: [{ left: parseExpression('"r.number"'), right: parseExpression('number'), type: 'LONG' }],
  });
  const found = await rowsOf(runnerOf().run(scanOf(['number', 'r.number', 's.number']), second));
  assert.equal(
    sortedText(found),
    sortedText([
      { number: 2n, 'r.number': 2n, 's.number': null },
      { number: null, 'r.number': 3n, 's.number': 3n },
      { number: null, 'r.number': null, 's.number': 4n },
    ]),
  );
});

stages('rows without a time are of no bucket, and have none when they are scanned', async () => {
  const hour = 3_600_000n;
  const left = frameOf(
    [
      { __time: 0n, number: 1n },
      { __time: hour, number: 2n },
    ],
    { __time: 'LONG', number: 'LONG' },
  );
  const join = joinOf(inline(left), inline(numbers(4)), { type: 'right' });
  const hours = groupOf([], {
    keys: [{ kind: 'time', name: 'hour', granularity: { kind: 'duration', durationMs: Number(hour), origin: 0 } }],
  });
  assert.equal(
    sortedText(await rowsOf(runnerOf().run(hours, join))),
    sortedText([
      { hour: 0n, rows: 1n },
      { hour, rows: 1n },
      { hour: null, rows: 2n },
    ]),
  );
  const scanned = await rowsOf(runnerOf().run(scanOf(['__time', 'r.number']), join));
  assert.equal(
    sortedText(scanned),
    sortedText([
      { __time: 0n, 'r.number': 1n },
      { __time: hour, 'r.number': 2n },
      { __time: null, 'r.number': 0n },
      { __time: null, 'r.number': 3n },
    ]),
  );
});

stages('many rows through threads: a cross join is counted, a limit ends it', async () => {
  const cross = joinOf(inline(numbers(3000)), inline(numbers(2001)), { keys: [] });
  assert.equal(await rowsOf(runnerOf().run(groupOf([], { emptyGroup: true }), cross)), [{ rows: 6_003_000n }]);
  assert.is((await rowsOf(runnerOf().run(scanOf(['number', 'r.number'], { offset: 5, limit: 7 }), cross))).length, 7);
});

stages('segments are joined on all threads', async () => {
  const tables = { left: [numbers(300_000), numbers(250_000), numbers(10)] };
  const join = joinOf({ kind: 'table', name: 'left' }, inline(numbers(100_000)));
  const plan = groupOf([], { aggregators: [COUNT, { kind: 'sum', name: 'sum', column: 'r.number', type: 'LONG', filter: null }] });
  const sum = (99_999n * 100_000n) / 2n;
  assert.equal(await rowsOf(runnerOf({ tables }).run(plan, join)), [{ rows: 200_010n, sum: sum * 2n + 45n }]);
});

stages('the smaller side is placed, unless the order of time is asked for', async () => {
  const tables = { facts: [numbers(20_000)] };
  const join = (type: JoinSource['type']): JoinSource => joinOf(inline(numbers(10)), { kind: 'table', name: 'facts' }, { type });
  const leftIsPlaced = async (type: JoinSource['type'], changes: Partial<GroupPlan> = {}): Promise<boolean> => {
    let isPlaced = false;
    const counted: Options = { tables, rowsOfTable: (name) => tables[name as 'facts'][0]?.rowCount ?? null };
    const runTables: SourceRunnerOptions['runTables'] = (plan) => {
      isPlaced ||= plan.stages?.some((stage) => stage.kind === 'join' && stage.probePrefix === 'r.') === true;
      return run(plan);
    };
    async function* run(plan: RowsPlan): AsyncGenerator<Frame> {
      const placed = tables.facts.map((frame) => uploadFrame(frame, memory));
      try {
        const views = placed.map(({ view }) => ({ ...view, id: 'facts_0' }));
        yield* engine.runViews(plan, views, { ...RUN, ending: 'final' }, new AbortController().signal);
      } finally {
        for (const { release } of placed) release();
      }
    }
    const rows = await rowsOf(runnerOf({ ...counted, runTables }).run(groupOf([], changes), join(type)));
    assert.equal(rows, [{ rows: type === 'inner' || type === 'left' ? 10n : 20_000n }]);
    return isPlaced;
  };
  assert.is(await leftIsPlaced('inner'), true);
  assert.is(await leftIsPlaced('right'), true);
  assert.is(await leftIsPlaced('left'), false);
  assert.is(await leftIsPlaced('full'), false);
  assert.is(await leftIsPlaced('inner', { intervals: [{ start: 0, end: 1 }] }), false);
});

stages('a right side that is too large to be sent has the left rows come to it', async () => {
  // 40,000 texts of 1,000 characters are more than is sent to another process.
  const count = 40_000;
  const filler = 'x'.repeat(1000);
  const texts: Frame = {
    rowCount: count,
    columns: [
      { kind: 'long', name: 'number', values: BigInt64Array.from({ length: count }, (_, row) => BigInt(row)), nulls: null },
      {
        kind: 'string',
        name: 'text',
        ids: Uint32Array.from({ length: count }, (_, row) => row % 50),
        dictionary: Array.from({ length: 50 }, (_, at) => filler + at),
      },
      {
        kind: 'string',
        name: 'own',
        ids: Uint32Array.from({ length: count }, (_, row) => row),
        dictionary: Array.from({ length: count }, (_, row) => filler + row),
      },
    ],
  };
  const tables = { left: [numbers(100)] };
  const rightColumns = schemaOf({ number: 'LONG', text: 'STRING', own: 'STRING' });
  const join = joinOf({ kind: 'table', name: 'left' }, inline(texts), { rightColumns });
  const plan = groupOf(['r.text'], { aggregators: [{ kind: 'max', name: 'most', column: 'r.number', type: 'LONG', filter: null }, COUNT] });
  const byOwn = groupOf(['r.own']);
  for (const [asked, rows] of [
    [plan, 50],
    [byOwn, 100],
  ] as const) {
    let staged = 0;
    const runner = runnerOf({ tables, isServedHere: () => false });
    const watched = runnerOf({
      isServedHere: () => false,
      runTables: (leaf, names) => {
        staged += leaf.stages?.length ?? 0;
        return runner.run(leaf, { kind: 'table', name: names[0] ?? '' });
      },
    });
    assert.is((await rowsOf(watched.run(asked, join))).length, rows);
    assert.is(staged, asked === plan ? 1 : 0);
  }
});

stages('limits are refused by their names', async () => {
  const tables = { left: [numbers(10)] };
  const join = joinOf({ kind: 'table', name: 'left' }, inline(numbers(5000)));
  const run = (limits: RunLimits) => refusal(runnerOf({ tables, runOptions: { ...RUN, limits } }).run(scanOf(['number']), join));
  assert.match(await run({ maxSubqueryRows: 4999 }), /resource_limit: .*maxSubqueryRows/);
  assert.match(await run({ maxSubqueryBytes: 10_000 }), /resource_limit: .*maxSubqueryBytes/);
  // The rows alone are within the limit; with the lists of their keys, each of two rows, they are not.
  const pairs: Frame = {
    rowCount: 5000,
    columns: [{ kind: 'long', name: 'number', values: BigInt64Array.from({ length: 5000 }, (_, row) => BigInt(row >> 1)), nulls: null }],
  };
  const ofPairs = joinOf({ kind: 'table', name: 'left' }, inline(pairs));
  const runner = runnerOf({ tables, runOptions: { ...RUN, limits: { maxSubqueryBytes: 40_100 } } });
  assert.match(await refusal(runner.run(scanOf(['number']), ofPairs)), /resource_limit: the right sides of joins .*maxSubqueryBytes/);
});

stages('a deadline ends a join that would never end, and cancelling does', async () => {
  const endless = joinOf(inline(numbers(100_000)), inline(numbers(100_000)), {
    keys: [],
    condition: parseExpression('number + "r.number" < 0'),
  });
  const plan = groupOf([], { emptyGroup: true });
  assert.match(await refusal(runnerOf({ runOptions: { ...RUN, deadlineMs: Date.now() + 300 } }).run(plan, endless)), /timeout/);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 200);
  assert.match(await refusal(runnerOf({ signal: controller.signal }).run(plan, endless)), /cancelled/);
});

stages('a reader that leaves early, and a source that fails, leave nothing behind', async () => {
  const join = joinOf(inline(numbers(50_000)), inline(numbers(50_000)), { type: 'full' });
  for await (const frame of runnerOf().run(scanOf(['number']), join)) {
    assert.ok(frame.rowCount > 0);
    break;
  }
  async function* failing(): AsyncGenerator<Frame> {
    yield numbers(5000);
    throw new ServiceError('unavailable', 'the source is gone');
  }
  const table: RowSource = { kind: 'table', name: 'any' };
  const broken = joinOf(inline(numbers(10)), table);
  assert.is(await refusal(runnerOf({ runTables: failing }).run(scanOf(['number']), broken)), 'unavailable: the source is gone');
  const read = joinOf(table, inline(numbers(10)), { type: 'full' });
  assert.is(await refusal(runnerOf({ runTables: failing }).run(scanOf(['number']), read)), 'unavailable: the source is gone');
});

stages.run();
