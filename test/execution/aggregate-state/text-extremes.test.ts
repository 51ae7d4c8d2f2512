import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TextExtremes } from '../../../src/execution/aggregate-state/text-extremes.js';
import type { RunContext } from '../../../src/execution/block/context.js';
import { noCounts } from '../../../src/execution/block/row-counts.js';
import { KernelMemory } from '../../../src/kernels/memory.js';
import { instantiateKernels } from '../../../src/kernels/registry.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const context: RunContext = {
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

const extremes = suite('smallest strings of groups');

extremes('count as memory, which is given back', () => {
  let charged = 0;
  const states = new TextExtremes(context, 'min', (bytes) => {
    charged += bytes;
  });
  const [groups, long] = [3000, `b${'😀'.repeat(500)}`];
  for (let group = 0; group < groups; group++) states.add(group, 0, { text: long });
  assert.equal(states.of(0), { text: long });
  assert.ok(charged >= groups * 500 * 4, `${charged} bytes`);
  for (let group = 0; group < groups; group++) states.add(group, 0, { text: 'a' });
  assert.equal(states.of(groups - 1), { text: 'a' });
  states.free();
  assert.is(memory.allocatedBytes, 0);
});

extremes.run();
