import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Expression } from '../../src/model/expression.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import type { JoinSource, RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { RunLimits } from '../../src/model/run-limits.js';
import type { ColumnSchema } from '../../src/model/schema.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { LEAF, scanOf } from './running-sources.js';

/* Row sources against a plain evaluation row by row, whatever the size of chunks. */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const NONE_WAITS = { deadlineMs: Number.MAX_SAFE_INTEGER, priority: 0, kernels: null, batchRows: null };

type Plain = Readonly<Record<string, FrameCell>>;

function runnerOf(chunkRows: number, limits: RunLimits = {}, signal = new AbortController().signal): SourceRunner {
  return new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (source) => rowSourceColumns(source, { table: () => undefined }),
    runTables: () => {
      throw new Error('no tables here');
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: { ...NONE_WAITS, limits },
    signal,
    chunkRows,
  });
}

async function rowsOf(frames: AsyncIterable<Frame>): Promise<Plain[]> {
  const rows: Plain[] = [];
  for await (const frame of frames)
    for (let row = 0; row < frame.rowCount; row++)
      rows.push(Object.fromEntries(frame.columns.map((column) => [column.name, cellAt(column, row)])));
  return rows;
}

/** Frames of few rows each, as sources give them. */
function sourceOf(rows: readonly Plain[], types: Readonly<Record<string, 'STRING' | 'LONG' | 'DOUBLE'>>, pieceRows: number): RowSource {
  const pieces: RowSource[] = [];
  for (let at = 0; at < Math.max(1, rows.length); at += pieceRows)
    pieces.push({ kind: 'inline', frame: frameOf(rows.slice(at, at + pieceRows), types) });
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : { kind: 'union', sources: pieces };
}

function frameOf(rows: readonly Plain[], types: Readonly<Record<string, 'STRING' | 'LONG' | 'DOUBLE'>>): Frame {
  return {
    rowCount: rows.length,
    columns: Object.entries(types).map(([name, type]) => {
      const cells = rows.map((row) => row[name] ?? null);
      if (type === 'STRING' && cells.some(Array.isArray)) {
        const lists = cells.map((cell) =>
          Array.isArray(cell) ? (cell as readonly (string | null)[]) : cell === null ? [] : [String(cell)],
        );
        const offsets = Uint32Array.from([0, ...lists.map((_, row) => lists.slice(0, row + 1).flat().length)]);
        return { kind: 'multi', name, offsets, ids: Uint32Array.from(lists.flat(), (_, at) => at), dictionary: lists.flat() };
      }
      if (type === 'STRING')
        return { kind: 'string', name, ids: Uint32Array.from(cells, (_, row) => row), dictionary: cells as (string | null)[] };
      const nulls = new Uint32Array(Math.ceil(rows.length / 64) * 2);
      cells.forEach((cell, row) => {
        if (cell === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
      });
      const anyNull = cells.includes(null) ? nulls : null;
      return type === 'LONG'
        ? { kind: 'long', name, values: BigInt64Array.from(cells, (cell) => BigInt((cell as bigint | null) ?? 0)), nulls: anyNull }
        : { kind: 'double', name, type, values: Float64Array.from(cells, (cell) => Number(cell ?? 0)), nulls: anyNull };
    }),
  };
}

const text = fc.option(fc.constantFrom('a', 'b', 'c', '', 'd'), { nil: null, freq: 4 });
const number = fc.option(fc.bigInt({ min: -3n, max: 3n }), { nil: null, freq: 4 });
const leftRow = fc.record({ text, number, list: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 }) });
const rightRow = fc.record({ text, number, extra: fc.bigInt({ min: 0n, max: 99n }) });
const LEFT_TYPES = { text: 'STRING', number: 'LONG', list: 'STRING' } as const;
const RIGHT_TYPES = { text: 'STRING', number: 'LONG', extra: 'LONG' } as const;
const schemaOf = (types: Readonly<Record<string, 'STRING' | 'LONG' | 'DOUBLE'>>): ColumnSchema[] =>
  Object.entries(types).map(([name, type]) => ({ name, type, multiValue: false, hasNulls: true }));
const listCell = (list: readonly string[]): FrameCell => (list.length === 0 ? null : list.length === 1 ? (list[0] ?? null) : list);
const column = (name: string): Expression => ({ kind: 'column', name });

const sortedText = (rows: readonly Plain[]): string[] =>
  rows.map((row) => JSON.stringify(row, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))).sort();

const sources = suite('row sources');

sources('joins of every type on one or two keys, for any size of chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(leftRow, { maxLength: 20 }),
      fc.array(rightRow, { maxLength: 20 }),
      fc.constantFrom('inner', 'left', 'right', 'full') as fc.Arbitrary<JoinSource['type']>,
      fc.constantFrom(['text'], ['number'], ['text', 'number'], []),
      fc.constantFrom(1, 7, 4096),
      async (left, right, type, keys, chunkRows) => {
        const join: JoinSource = {
          kind: 'join',
          left: sourceOf(left, LEFT_TYPES, 6),
          right: sourceOf(right, RIGHT_TYPES, 5),
          prefix: 'r.',
          type,
          keys: keys.map((name) => ({ left: column(name), right: column(name), type: name === 'text' ? 'STRING' : 'LONG' })),
          condition: null,
          leftColumns: schemaOf(LEFT_TYPES),
          rightColumns: schemaOf(RIGHT_TYPES),
        };
        const columns = ['text', 'number', 'list', 'r.text', 'r.number', 'r.extra'];
        const found = await rowsOf(runnerOf(chunkRows).run(scanOf(columns), join));
        const output = (one: (typeof left)[number] | null, other: (typeof right)[number] | null): Plain => ({
          text: one?.text ?? null,
          number: one?.number ?? null,
          list: listCell(one?.list ?? []),
          'r.text': other?.text ?? null,
          'r.number': other?.number ?? null,
          'r.extra': other?.extra ?? null,
        });
        const meets = (one: (typeof left)[number], other: (typeof right)[number]): boolean =>
          keys.every((key) => {
            const name = key as 'text' | 'number';
            return one[name] !== null && one[name] === other[name];
          });
        const expected: Plain[] = [];
        for (const one of left) {
          const partners = right.filter((other) => meets(one, other));
          for (const other of partners) expected.push(output(one, other));
          if (partners.length === 0 && (type === 'left' || type === 'full')) expected.push(output(one, null));
        }
        if (type === 'right' || type === 'full')
          for (const other of right) if (!left.some((one) => meets(one, other))) expected.push(output(null, other));
        assert.equal(sortedText(found), sortedText(expected));
      },
    ),
    { numRuns: 300 },
  );
});

sources('grouping over a grouping, over unnested rows, for any size of chunks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(leftRow, { maxLength: 60 }), fc.constantFrom(1, 7, 4096), async (rows, chunkRows) => {
      const unnested: RowSource = {
        kind: 'unnest',
        source: sourceOf(rows, LEFT_TYPES, 9),
        column: { name: 'one', expression: column('list'), outputType: null },
      };
      const inner: GroupPlan = {
        operator: 'group',
        ...LEAF,
        keys: [
          { kind: 'column', name: 'one', column: 'one', type: 'STRING' },
          { kind: 'column', name: 'text', column: 'text', type: 'STRING' },
        ],
        aggregators: [{ kind: 'sum', name: 'total', column: 'number', type: 'LONG', filter: null }],
        emptyGroup: false,
      };
      const outer: GroupPlan = {
        ...inner,
        keys: [{ kind: 'column', name: 'one', column: 'one', type: 'STRING' }],
        aggregators: [
          { kind: 'count', name: 'texts', filter: null },
          { kind: 'max', name: 'most', column: 'total', type: 'LONG', filter: null },
        ],
      };
      const found = await rowsOf(runnerOf(chunkRows).run(outer, { kind: 'query', plan: inner, source: unnested }));
      const totals = new Map<string, Map<string | null, bigint | null>>();
      for (const { text, number, list } of rows)
        for (const one of list) {
          const byText = totals.get(one) ?? new Map<string | null, bigint | null>();
          const known = byText.get(text) ?? null;
          byText.set(text, number === null ? known : (known ?? 0n) + number);
          totals.set(one, byText);
        }
      const expected = [...totals].map(([one, byText]): Plain => {
        const sums = [...byText.values()].filter((sum) => sum !== null);
        return { one, texts: BigInt(byText.size), most: sums.sort((a, b) => Number(a - b)).at(-1) ?? null };
      });
      assert.equal(sortedText(found), sortedText(expected));
    }),
    { numRuns: 200 },
  );
});

sources('rows whose time does not ascend come as they stand, cut by intervals, filtered and limited', async () => {
  const row = fc.record({ __time: fc.bigInt({ min: 0n, max: 50n }), text });
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 40 }),
      fc.constantFrom(1, 7, 4096),
      fc.nat(10),
      fc.option(fc.nat(20), { nil: null }),
      fc.constantFrom('ascending', 'descending', null),
      async (rows, chunkRows, offset, limit, timeOrder) => {
        const plan = scanOf(['text', '__time'], { intervals: [{ start: 5, end: 40 }], offset, limit, timeOrder });
        const found = await rowsOf(runnerOf(chunkRows).run(plan, sourceOf(rows, { __time: 'LONG', text: 'STRING' }, 11)));
        const kept = rows.filter((each) => each.__time >= 5n && each.__time < 40n);
        if (timeOrder !== null) kept.sort((a, b) => Number(timeOrder === 'ascending' ? a.__time - b.__time : b.__time - a.__time));
        const expected = kept
          .slice(offset, limit === null ? undefined : offset + limit)
          .map(({ __time, text: t }) => ({ text: t, __time }));
        assert.equal(found, expected);
      },
    ),
    { numRuns: 300 },
  );
});

sources('a subquery beyond its limits is told by the name of the limit', async () => {
  const rows = Array.from({ length: 50 }, (_, at): Plain => ({ text: `row ${at}` }));
  const source: RowSource = { kind: 'query', plan: scanOf(['text']), source: sourceOf(rows, { text: 'STRING' }, 100) };
  const run = (limits: RunLimits) => rowsOf(runnerOf(10, limits).run(scanOf(['text']), source));
  assert.is((await run({ maxSubqueryRows: 50, maxSubqueryBytes: 1 << 20 })).length, 50);
  for (const [limits, name] of [
    [{ maxSubqueryRows: 49 }, 'maxSubqueryRows'],
    [{ maxSubqueryBytes: 100 }, 'maxSubqueryBytes'],
  ] as const) {
    try {
      await run(limits);
      assert.unreachable();
    } catch (error) {
      assert.match(String(error), name);
    }
  }
});

sources('the limit of the outer query ends the inner one', async () => {
  let read = 0;
  const plan: RowsPlan = scanOf(['text'], { limit: 3 });
  const runner = new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (source) => rowSourceColumns(source, { table: () => undefined }),
    async *runTables() {
      for (; read < 1000; read++) yield frameOf([{ text: 'a' }, { text: 'b' }], { text: 'STRING' });
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: NONE_WAITS,
    signal: new AbortController().signal,
    chunkRows: 2,
  });
  const rows = await rowsOf(runner.run(plan, { kind: 'query', plan: scanOf(['text']), source: { kind: 'table', name: 't' } }));
  assert.is(rows.length, 3);
  assert.ok(read < 10, `read ${read} frames for three rows`);
});

sources('gives back all memory', () => {
  assert.is(memory.allocatedBytes, 0);
});

sources.run();
