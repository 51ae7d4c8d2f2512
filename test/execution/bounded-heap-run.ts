import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { GroupPlan, PostStep } from '../../src/model/plan.js';
import { openFrames } from './segments.js';

/*
 * Entry of a process with a small heap (`bounded-heap.test.ts`): groups rows of which every one is a group of its own,
 * in kernel memory for a few of them, orders all groups by a number, then by text, and checks each. Prints `rows=<n>`.
 */
const ROWS = 400_000;
const SEGMENTS = 4;
const GROUP_BYTES = 4 << 20;
const KEYS = 1_000;

/** Both keys of row i, and their order: pairs differ for all rows, since ROWS < KEYS * KEYS. */
const keysOf = (row: number): readonly [string, string] => [textOf(row % KEYS), textOf(Math.floor(row / KEYS))];
/** Long, so that holding the texts of all rows takes far more than the heap. */
const textOf = (id: number): string => `${'value of a key with a long name, '.repeat(4)}${String(id).padStart(6, '0')}`;

const memory = KernelMemory.create({ maximumBytes: 1 << 29 });
const spillDirectory = mkdtempSync(path.join(tmpdir(), 'dolmen-heap-'));
const engine = createEngine({ memory, kernels: 'simd', threads: 0, groupBytesMax: GROUP_BYTES, spillDirectory });

function* segments(): Generator<Frame> {
  const dictionary = Array.from({ length: KEYS }, (_, id) => textOf(id));
  const rowCount = ROWS / SEGMENTS;
  for (let first = 0; first < ROWS; first += rowCount) {
    const ids = (id: (row: number) => number): Uint32Array => Uint32Array.from({ length: rowCount }, (_, row) => id(first + row));
    yield {
      rowCount,
      columns: [
        {
          kind: 'long',
          name: '__time',
          values: BigInt64Array.from({ length: rowCount }, (_, row) => BigInt(Date.UTC(2024, 0, 1) + row)),
          nulls: null,
        },
        { kind: 'string', name: 'a', ids: ids((row) => row % KEYS), dictionary },
        { kind: 'string', name: 'b', ids: ids((row) => Math.floor(row / KEYS)), dictionary },
      ],
    };
  }
}

const { store, ids, close } = await openFrames([...segments()], memory, engine);
const sort: PostStep = {
  step: 'sort',
  by: [{ column: 'n', descending: true, nulls: 'last', ordering: 'numeric' }],
  offset: 0,
  limit: null,
};
const plan: GroupPlan = {
  operator: 'group',
  dataSource: 'random',
  intervals: [{ start: Date.UTC(2024, 0, 1), end: Date.UTC(2025, 0, 1) }],
  filter: null,
  virtualColumns: [],
  emptyGroup: false,
  keys: ['a', 'b'].map((name) => ({ kind: 'column', name, column: name, type: 'STRING' })),
  aggregators: [{ kind: 'count', name: 'n', filter: null }],
  post: [sort],
};
const options = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null } as const;
let [row, wrong] = [0, 0];
for await (const frame of engine.run(plan, store, ids, options, new AbortController().signal)) {
  const [a, b, n] = frame.columns;
  for (let at = 0; a !== undefined && b !== undefined && n !== undefined && at < frame.rowCount; at++, row++) {
    // All counts are 1: what is left is the order of the first key, then of the second.
    const [first, second] = keysOf((row % (ROWS / KEYS)) * KEYS + Math.floor(row / (ROWS / KEYS)));
    if (cellAt(a, at) !== first || cellAt(b, at) !== second || cellAt(n, at) !== 1n) wrong++;
  }
}
await close();
await engine.close();
rmSync(spillDirectory, { recursive: true, force: true });
process.stdout.write(wrong === 0 ? `rows=${row}\n` : `wrong=${wrong}\n`);
