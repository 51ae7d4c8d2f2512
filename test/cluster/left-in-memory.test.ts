import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import type { SourceRunnerOptions } from '../../src/cluster/sources/runner-options.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { RowSource, RowsPlan } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';
import { groupOf, inline, joinOf, numbers, RUN, scanOf } from './running-sources.js';

/* Results that stay in kernel memory for the rest of their query: what they have of others, and that all is given back. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
type Options = Pick<SourceRunnerOptions, 'engine'> & Partial<SourceRunnerOptions>;

function runnerOf(options: Options): SourceRunner {
  return new SourceRunner({
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (source) => rowSourceColumns(source, { table: () => undefined }),
    runTables: () => assert.unreachable('no tables here') as never,
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal: new AbortController().signal,
    ...options,
  });
}

const left = suite('results left in memory');

left.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

/** The rows of a plan over tables of one segment each. What is freed is overwritten, so that whoever still reads it is found. */
async function rowsOverFreed(tables: Readonly<Record<string, Frame>>, plan: RowsPlan, source: RowSource): Promise<Plain[]> {
  const inlineEngine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const placed = new Map(Object.entries(tables).map(([name, frame]) => [name, uploadFrame(frame, memory)]));
  const runner = runnerOf({
    engine: inlineEngine,
    runTables(each, names) {
      const views = names.flatMap((name) => placed.get(name)?.view ?? []);
      return inlineEngine.runViews(each, views, { ...RUN, ending: 'final' }, new AbortController().signal);
    },
  });
  const { allocate, free } = KernelMemory.prototype;
  const sizes = new Map<number, number>();
  KernelMemory.prototype.allocate = function (bytes) {
    const address = allocate.call(this, bytes);
    sizes.set(address, bytes);
    return address;
  };
  KernelMemory.prototype.free = function (address) {
    this.u8(address, sizes.get(address) ?? 0).fill(0xcd);
    free.call(this, address);
  };
  try {
    return await rowsOf(runner.run(plan, source));
  } finally {
    Object.assign(KernelMemory.prototype, { allocate, free });
    for (const { release } of placed.values()) release();
    await inlineEngine.close();
  }
}

for (const [expression, values] of [
  // A row without values has a null: a dictionary with one entry more than the stored one.
  ['mv_harmonize_nulls(list)', [['b', 'c'], [null], ['a', 'c']]],
  ["string_to_array(text, '-')", [['x', 'y'], ['y'], []]],
] as const)
  left(`unnested values can be read when a result of them was left in memory: ${expression}`, async () => {
    const types = { number: 'LONG', list: 'STRING', text: 'STRING' } as const;
    const rows: Plain[] = [
      { number: 0n, list: ['b', 'c'], text: 'x-y' },
      { number: 1n, list: [], text: 'y' },
      { number: 2n, list: ['a', 'c'], text: null },
    ];
    const source = joinOf(
      { kind: 'table', name: 'left' },
      {
        kind: 'unnest',
        source: { kind: 'table', name: 'right' },
        column: { name: 'one', expression: parseExpression(expression), outputType: null },
      },
      { rightColumns: schemaOf({ ...types, one: 'STRING' }) },
    );
    const found = await rowsOverFreed({ left: numbers(3), right: frameOf(rows, types) }, groupOf(['number', 'r.one']), source);
    const expected = values.flatMap((list, row) => list.map((one): Plain => ({ number: BigInt(row), 'r.one': one, rows: 1n })));
    assert.equal(sortedText(found), sortedText(expected));
  });

left('a right side made of groups that were left in memory has their strings', async () => {
  const types = { number: 'LONG', text: 'STRING' } as const;
  const rows = ['b', 'c', null, 'c'].map((text, row): Plain => ({ number: BigInt(row % 3), text }));
  const groups: RowSource = { kind: 'query', plan: groupOf(['number', 'text']), source: { kind: 'table', name: 'right' } };
  const filter = { kind: 'null', column: 'text' } as const;
  const source = joinOf(
    { kind: 'table', name: 'left' },
    { kind: 'filtered', source: groups, filter: { kind: 'not', filter } },
    { rightColumns: schemaOf({ ...types, rows: 'LONG' }) },
  );
  const found = await rowsOverFreed({ left: numbers(3), right: frameOf(rows, types) }, groupOf(['number', 'r.text']), source);
  assert.equal(
    sortedText(found),
    sortedText([
      { number: 0n, 'r.text': 'b', rows: 1n },
      { number: 0n, 'r.text': 'c', rows: 1n },
      { number: 1n, 'r.text': 'c', rows: 1n },
    ]),
  );
});

left('rows of a window stay in memory for groups that read their time as a value', async () => {
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const types = { __time: 'LONG', key: 'STRING' } as const;
  const rows = Array.from({ length: 50 }, (_, row): Plain => ({ __time: BigInt(row * 10), key: ['a', 'b', null][row % 3] ?? null }));
  const placed = uploadFrame(frameOf(rows, types), memory);
  const withoutFrames = new Proxy(engine, {
    get(of, name: keyof typeof engine) {
      if (name === 'runRows') return () => assert.unreachable('rows as frames');
      const value = of[name];
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
  const runner = runnerOf({
    engine: withoutFrames,
    columnsOf: (source) => rowSourceColumns(source, { table: () => ({ columns: schemaOf(types), interval: ETERNITY }) }),
    runTables: (each) => engine.runViews(each, [placed.view], { ...RUN, ending: 'final' }, new AbortController().signal),
  });
  const whole = { unit: 'range', start: 'unbounded', end: 0, exclude: null } as const;
  const before = { name: 'before', type: 'LONG', call: { kind: 'shift', rows: -1, ignoresNulls: false }, columns: ['__time'] } as const;
  const plan = scanOf(['__time', 'key'], {
    post: [
      {
        step: 'window',
        partition: ['key'],
        order: [{ column: '__time', descending: false, nulls: 'first', ordering: 'numeric' }],
        functions: [{ ...before, filter: null, frame: whole }],
      },
    ],
  });
  const gap = { name: 'gap', expression: parseExpression('"__time" - before'), outputType: 'LONG' } as const;
  const outer = groupOf(['key'], {
    virtualColumns: [gap],
    aggregators: [
      { kind: 'sum', name: 'gaps', column: 'gap', type: 'LONG', filter: null },
      { kind: 'max', name: 'last', column: '__time', type: 'LONG', filter: null },
    ],
  });
  const found = await rowsOf(runner.run(outer, { kind: 'query', plan, source: { kind: 'table', name: 'rows' } }));
  assert.equal(
    sortedText(found),
    sortedText([
      { key: 'a', gaps: 480n, last: 480n },
      { key: 'b', gaps: 480n, last: 490n },
      { key: null, gaps: 450n, last: 470n },
    ]),
  );
  placed.release();
  await engine.close();
});

left('groups that take more than a right side may give their memory back', async () => {
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const runner = runnerOf({ engine, runOptions: { ...RUN, limits: { maxSubqueryBytes: 3000 } } });
  const right: RowSource = { kind: 'query', plan: groupOf(['number']), source: inline(numbers(1000)) };
  const source = joinOf(inline(numbers(3)), right);
  await refused(runner.run(groupOf(['number']), source), /^resource_limit: .* 3000 bytes of context.maxSubqueryBytes/);
  await engine.close();
});

left('a query that ends while the first rows of a right side come ends these rows too', async () => {
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const ending = new AbortController();
  let isOpen = false;
  const runner = runnerOf({
    engine,
    signal: ending.signal,
    async *runTables() {
      isOpen = true;
      try {
        ending.abort(new ServiceError('cancelled', 'enough'));
        yield numbers(2);
        yield numbers(2);
      } finally {
        isOpen = false;
      }
    },
  });
  const source = joinOf(inline(numbers(3)), { kind: 'table', name: 'rows' });
  await refused(runner.run(groupOf(['number']), source), /^cancelled: enough/);
  assert.is(isOpen, false);
  await engine.close();
});

async function refused(frames: AsyncIterable<Frame>, says: RegExp): Promise<void> {
  try {
    await rowsOf(frames);
  } catch (error) {
    assert.match(error instanceof ServiceError ? `${error.code}: ${error.message}` : String(error), says);
    return;
  }
  assert.unreachable('nothing was refused');
}

left.run();
