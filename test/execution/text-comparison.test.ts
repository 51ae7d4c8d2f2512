import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type FrameColumn } from '../../src/model/frame.js';
import type { ScanPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';

/* Two text columns compared with each other, against the comparison of the texts row by row. */

const comparisons = suite('comparisons of two text columns');

const HOLDS: Readonly<Record<string, (a: string, b: string) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

type Row = readonly [string | null, string | null];

function texts(name: string, cells: readonly (string | null)[]): FrameColumn {
  return { kind: 'string', name, ids: Uint32Array.from(cells, (_, row) => row), dictionary: cells };
}

async function rowsWhere(operator: string, isNegated: boolean, rows: readonly Row[]): Promise<number[]> {
  const memory = KernelMemory.create({ maximumBytes: 1 << 26 });
  const engine = createEngine({ kernels: 'simd', threads: 0, memory });
  const number: FrameColumn = { kind: 'long', name: 'row', values: BigInt64Array.from(rows, (_, row) => BigInt(row)), nulls: null };
  const columns = [
    number,
    ...(['a', 'b'] as const).map((name, at) =>
      texts(
        name,
        rows.map((row) => row[at] ?? null),
      ),
    ),
  ];
  const placed = uploadFrame({ rowCount: rows.length, columns }, memory);
  const compared = {
    kind: 'expression',
    expression: { kind: 'call', function: operator, arguments: ['a', 'b'].map((name) => ({ kind: 'column', name }) as const) },
  } as const;
  const plan: ScanPlan = {
    operator: 'scan',
    dataSource: '',
    intervals: [ETERNITY],
    filter: isNegated ? { kind: 'not', filter: compared } : compared,
    virtualColumns: [],
    columns: ['row'],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  };
  const found: number[] = [];
  const options = { ending: 'final', deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;
  try {
    for await (const { rowCount, columns: out } of engine.runViews(plan, [placed.view], options, new AbortController().signal))
      for (let row = 0; row < rowCount; row++) found.push(Number(out[0] === undefined ? -1 : cellAt(out[0], row)));
  } finally {
    placed.release();
    await engine.close();
  }
  assert.is(memory.allocatedBytes, 0);
  return found;
}

const text = fc.oneof(fc.constantFrom('', 'a', 'aa', 'b', '\uffff', '\u{1f600}', '1995-03-15', '1995-03-16'), fc.string({ maxLength: 2 }));
const row = fc.tuple(fc.option(text, { freq: 4 }), fc.option(text, { freq: 4 }));
const few = fc.array(row, { minLength: 1, maxLength: 40 });
// More rows than texts, beyond the number of them that is always ranked.
const many = few.map((rows) => Array.from({ length: 3000 }, (_, at): Row => rows[at % rows.length] ?? [null, null]));

for (const [operator, holds] of Object.entries(HOLDS))
  for (const isNegated of [false, true])
    comparisons(`${isNegated ? 'NOT ' : ''}a ${operator} b, which is unknown where either is null`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof({ arbitrary: few, weight: 8 }, many), async (rows) => {
          const expected = rows.flatMap(([a, b], at) => (a !== null && b !== null && holds(a, b) !== isNegated ? [at] : []));
          assert.equal(await rowsWhere(operator, isNegated, rows), expected);
        }),
        { numRuns: 25 },
      );
    });

comparisons.run();
