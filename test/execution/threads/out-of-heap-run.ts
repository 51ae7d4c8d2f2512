import { ServiceError } from '../../../src/base/errors.js';
import { createEngine } from '../../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import type { Frame } from '../../../src/model/frame.js';
import type { GroupPlan } from '../../../src/model/plan.js';
import { openFrames } from '../segments.js';

/*
 * Entry of a process with a small heap (`out-of-heap.test.ts`): a query whose computed texts do not fit into a thread's heap,
 * then one that needs little. Prints what became of each.
 */
const ROWS = 400_000;
const memory = KernelMemory.create({ maximumBytes: 1 << 29 });
const engine = createEngine({ memory, kernels: 'simd', threads: 1, rowsRunInline: 0 });
const longs = (name: string, valueAt: (row: number) => number): Frame['columns'][number] => ({
  kind: 'long',
  name,
  values: BigInt64Array.from({ length: ROWS }, (_, row) => BigInt(valueAt(row))),
  nulls: null,
});
const frame: Frame = { rowCount: ROWS, columns: [longs('__time', (row) => Date.UTC(2024, 0, 1) + row), longs('number', (row) => row)] };
const { store, ids, close } = await openFrames([frame], memory, engine);

const plan = (key: string): GroupPlan => ({
  operator: 'group',
  dataSource: 'random',
  intervals: [{ start: 0, end: 4e12 }],
  filter: null,
  virtualColumns: [
    {
      name: 'text',
      expression: {
        kind: 'call',
        function: 'concat',
        arguments: [
          { kind: 'literal', type: 'STRING', value: 'x'.repeat(400) },
          { kind: 'column', name: 'number' },
        ],
      },
      outputType: 'STRING',
    },
  ],
  emptyGroup: true,
  keys: key === '' ? [] : [{ kind: 'column', name: 'key', column: key, type: 'STRING' }],
  aggregators: [{ kind: 'count', name: 'rows', filter: null }],
  post: [],
});

async function outcome(asked: GroupPlan): Promise<string> {
  const options = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
  try {
    let rows = 0;
    for await (const { rowCount } of engine.run(asked, store, ids, options, new AbortController().signal)) rows += rowCount;
    return String(rows);
  } catch (error) {
    return error instanceof ServiceError ? error.code : String(error);
  }
}

const outcomes = [await outcome(plan('text')), await outcome(plan(''))];
process.stdout.write(`${outcomes.join(' ')}\n`);
await close();
await engine.close();
