import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, type Expression, long } from '../../src/model/expression.js';
import type { Frame } from '../../src/model/frame.js';
import type { PostStep, ScanPlan } from '../../src/model/plan.js';
import type { RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { WindowFunction } from '../../src/model/window.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, sortedText } from './plain-rows.js';
import { COUNT, groupOf, runnerOf, scanOf } from './running-sources.js';

/* Windows over tables of several segments, whose strings stay ids: against rows that are put in order and walked through here. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const TYPES = { name: 'STRING', kind: 'STRING', number: 'LONG' } as const;
const windows = suite('windows over strings of segments');

windows.after.each(() => assert.is(memory.allocatedBytes, 0, 'memory is given back'));

function drawnSegments(random: () => number): Plain[][] {
  const below = (count: number): number => Math.floor(random() * count);
  const names = 1 + below(random() < 0.5 ? 6 : 60);
  let number = 0n;
  return Array.from({ length: 1 + below(4) }, () =>
    Array.from({ length: below(40) }, (): Plain => {
      const kind = random() < 0.2 ? null : ['a', 'ä', '\u{ffff}', '\u{1f600}'][below(4)];
      return { name: random() < 0.1 ? null : `n${below(names)}`, kind: kind ?? null, number: number++ };
    }),
  );
}

const FRAMELESS = { unit: 'range', start: 'unbounded', end: 0, exclude: null } as const;
const functionOf = (
  name: string,
  call: WindowFunction['call'],
  columns: readonly string[],
  type: WindowFunction['type'],
): WindowFunction => ({
  name,
  call,
  columns,
  filter: null,
  frame: FRAMELESS,
  type,
});
const WINDOW: PostStep = {
  step: 'window',
  partition: ['name'],
  order: [{ column: 'number', descending: true, nulls: 'first', ordering: 'numeric' }],
  functions: [
    functionOf('place', { kind: 'rowNumber' }, [], 'LONG'),
    functionOf('before', { kind: 'shift', rows: -1, ignoresNulls: false }, ['kind'], 'STRING'),
    functionOf('latest', { kind: 'last', ignoresNulls: true }, ['kind'], 'STRING'),
  ],
};
const OUTPUTS = ['name', 'kind', 'number', 'place', 'before', 'latest'];
const PLAN: ScanPlan = scanOf(['name', 'kind', 'number'], {
  post: [WINDOW, { step: 'project', columns: OUTPUTS.map((name) => ({ name, from: name })) }],
});

/** The rows of the window in their order: names as texts, null first, and the last numbers first. */
function expectedRows(rows: readonly Plain[]): Plain[] {
  const names = [...new Set(rows.map(({ name }) => name))].sort((a, b) =>
    a === null ? -1 : b === null ? 1 : String(a) < String(b) ? -1 : 1,
  );
  return names.flatMap((name) => {
    const own = rows.filter((row) => row.name === name).reverse();
    return own.map((row, at) => ({
      ...row,
      place: BigInt(at + 1),
      before: own[at - 1]?.kind ?? null,
      latest: own.slice(0, at + 1).findLast(({ kind }) => kind !== null)?.kind ?? null,
    }));
  });
}

async function answerOf(plan: RowsPlan, source: RowSource, segments: readonly Frame[]): Promise<Plain[]> {
  const engine = createEngine({ memory, kernels: 'reference', threads: 0 });
  const held: UploadedFrame[] = [];
  const runner = runnerOf({ engine, memory, framesOf: () => segments, held }, TYPES);
  try {
    return await rowsOf(runner.run(plan, source));
  } finally {
    for (const { release } of held) release();
    await engine.close();
  }
}

const TABLE: RowSource = { kind: 'table', name: 'rows' };
const column = (name: string): Expression => ({ kind: 'column', name });
const FIRST: PostStep = { step: 'filter', filter: { kind: 'equals', column: 'place', type: 'LONG', value: 1n } };

for (let seed = 1; seed <= caseCount(40); seed++)
  windows(`rows of segments that were drawn: ${seed}`, async () => {
    const parts = drawnSegments(randomSource(seed));
    const segments = parts.map((rows) => frameOf(rows, TYPES));
    const expected = expectedRows(parts.flat());
    assert.equal(await answerOf(PLAN, TABLE, segments), expected);
    const firsts = expected.filter(({ place }) => place === 1n);
    const onlyFirst = { ...PLAN, post: [WINDOW, FIRST, ...PLAN.post.slice(1)] };
    assert.equal(await answerOf(onlyFirst, TABLE, segments), firsts);
    // A reader that does not see the order gets the same rows in whatever order.
    for (const [plan, rows] of [
      [PLAN, expected],
      [onlyFirst, firsts],
    ] as const) {
      const counted = groupOf(['kind', 'before', 'place'], { aggregators: [COUNT] });
      const counts = new Map<string, bigint>();
      for (const { kind = null, before = null, place = null } of rows) {
        const [key = ''] = sortedText([{ kind, before, place }]);
        counts.set(key, (counts.get(key) ?? 0n) + 1n);
      }
      const found = await answerOf({ ...counted, post: [sortOf('place')] }, { kind: 'query', plan, source: TABLE }, segments);
      assert.equal(
        found.map(({ rows: count, ...key }) => `${sortedText([key])[0]} ${count}`).sort(),
        [...counts].map(([key, count]) => `${key} ${count}`).sort(),
      );
    }
  });

/** Sessions of a name: numbers that are at most three apart. Two windows, one over what the other has found. */
const ascending = { partition: ['name'], order: [{ column: 'number', descending: false, nulls: 'first', ordering: 'numeric' }] } as const;
const SESSIONS: ScanPlan = scanOf(['name', 'number'], {
  post: [
    {
      step: 'window',
      ...ascending,
      functions: [functionOf('before', { kind: 'shift', rows: -1, ignoresNulls: false }, ['number'], 'LONG')],
    },
    {
      step: 'compute',
      name: 'begins',
      type: 'LONG',
      expression: call('case_searched', call('>', call('-', column('number'), column('before')), long(3)), long(1), long(0)),
    },
    { step: 'window', ...ascending, functions: [functionOf('session', { kind: 'sum' }, ['begins'], 'LONG')] },
    { step: 'project', columns: ['name', 'session'].map((name) => ({ name, from: name })) },
  ],
});

for (let seed = 1; seed <= caseCount(20); seed++)
  windows(`sessions, whose order nobody sees, are counted: ${seed}`, async () => {
    const parts = drawnSegments(randomSource(1000 + seed));
    const sizes: number[] = [];
    for (const name of new Set(parts.flat().map((row) => row.name))) {
      let last: bigint | undefined;
      for (const { number } of parts.flat().filter((row) => row.name === name)) {
        const at = number as bigint;
        if (last === undefined || at - last > 3n) sizes.push(0);
        sizes.push((sizes.pop() ?? 0) + 1);
        last = at;
      }
    }
    const sessions: RowSource = {
      kind: 'query',
      plan: groupOf(['name', 'session'], { aggregators: [COUNT] }),
      source: { kind: 'query', plan: SESSIONS, source: TABLE },
    };
    const most = { kind: 'max', name: 'most', column: 'rows', type: 'LONG', filter: null } as const;
    const outer = groupOf([], { aggregators: [{ ...COUNT, name: 'sessions' }, most], emptyGroup: true });
    const [found] = await answerOf(
      outer,
      sessions,
      parts.map((rows) => frameOf(rows, TYPES)),
    );
    const expected = { sessions: BigInt(sizes.length), most: sizes.length === 0 ? null : BigInt(Math.max(...sizes)) };
    assert.equal({ ...found }, expected);
  });

function sortOf(column: string): PostStep {
  return { step: 'sort', by: [{ column, descending: false, nulls: 'first', ordering: 'numeric' }], offset: 0, limit: null };
}

windows.run();
