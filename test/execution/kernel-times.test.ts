import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { KernelTimes } from '../../src/execution/block/kernel-times.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { KernelSet } from '../../src/kernels/contract.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { addProfile, newProfile } from '../../src/model/profile.js';
import { openFrames } from './segments.js';

const times = suite('times of kernels');

times('kernels that are looked at do what they do, and are counted', () => {
  const memory = KernelMemory.create({ maximumBytes: 1 << 22 });
  const at = memory.allocate(1024);
  const looked = new KernelTimes();
  const kernels: KernelSet = looked.over(instantiateKernels('simd', memory));
  looked.blockRows = 100;
  for (let call = 0; call < 20; call++) kernels.bitsFill(at, 16, 0, 100);
  assert.is(kernels.bitsCount(at, 16), 100);
  const { bitsFill, bitsCount, ...others } = looked.totals();
  assert.equal([bitsFill?.calls, bitsFill?.rows, bitsCount?.calls], [20, 2000, 1]);
  assert.equal(others, {});
});

times('a profile has the kernels of a query, for all segments by those that were looked at', async () => {
  const [rows, segments] = [60_000, 16];
  const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  const engine = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0 });
  const frame = (segment: number): Frame => ({
    rowCount: rows,
    columns: ['__time', 'number'].map((name) => ({
      kind: 'long',
      name,
      values: BigInt64Array.from({ length: rows }, (_, row) => BigInt(Date.UTC(2024, 0, 1) + segment * rows + row)),
      nulls: null,
    })),
  });
  const { store, ids, close } = await openFrames(
    Array.from({ length: segments }, (_, segment) => frame(segment)),
    memory,
    engine,
  );
  const plan: GroupPlan = {
    operator: 'group',
    dataSource: 'random',
    intervals: [{ start: 0, end: 4e12 }],
    filter: null,
    virtualColumns: [],
    post: [],
    emptyGroup: true,
    keys: [],
    aggregators: [{ kind: 'sum', name: 'sum', column: 'number', type: 'LONG', filter: null }],
  };
  const profile = newProfile();
  const options = { ending: 'final', deadlineMs: Date.now() + 60_000, kernels: null, batchRows: null, profile } as const;
  for await (const { rowCount } of engine.run(plan, store, ids, options, new AbortController().signal)) assert.is(rowCount, 1);
  const [name = '', totals] = Object.entries(profile.kernels).find(([kernel]) => kernel.startsWith('sumRuns')) ?? [];
  assert.match(name, /^sumRuns/);
  assert.is(Math.round(totals?.rows ?? 0), rows * segments);
  const sum = newProfile();
  addProfile(sum, profile);
  addProfile(sum, profile);
  assert.is(sum.kernels[name]?.calls, 2 * (totals?.calls ?? 0));
  await close();
  await engine.close();
});

times.run();
