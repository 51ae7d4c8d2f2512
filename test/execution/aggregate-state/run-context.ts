// A context of runs for states of groups, over memory of its own.

import type { RunContext } from '../../../src/execution/block/context.js';
import { noCounts } from '../../../src/execution/block/row-counts.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { instantiateKernels } from '../../../src/kernels/registry.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });

export const context: RunContext = {
  memory,
  kernels: instantiateKernels('simd', memory),
  batchRows: 16_384,
  groupBytesMax: 1 << 28,
  spill: undefined,
  check: () => undefined,
  beginSegment: () => undefined,
  computed: noCounts(),
  times: undefined,
  sampled: () => context,
};
