import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findFailures, kernelNames } from '../../src/kernels/conformance/run.js';
import type { KernelSet } from '../../src/kernels/contract.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels, KERNEL_SETS } from '../../src/kernels/registry.js';
import { KERNEL_PARAMETERS } from '../../src/kernels/signatures.js';

const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });

const suiteItself = suite('the conformance suite');
const reference = instantiateKernels('reference', memory);

suiteItself('checks every kernel of the contract', () => {
  assert.equal(kernelNames().sort(), Object.keys(KERNEL_PARAMETERS).sort());
});

suiteItself('is run over every kernel set, by a test file of its own', () => {
  const files = readdirSync(fileURLToPath(new URL('.', import.meta.url)));
  const sets = files.flatMap((file) => /^conformance-(.+)\.test\.js$/.exec(file)?.[1] ?? []);
  assert.equal(sets.sort(), Object.keys(KERNEL_SETS).sort());
});

for (const kernel of kernelNames()) {
  suiteItself(`notices when ${kernel} does nothing`, () => {
    assert.is(findFailures({ ...reference, [kernel]: () => 0 }, memory, [kernel]).length, 1);
  });
}

/** Mistakes that a rewritten kernel is likely to have. */
const BUGS: readonly { readonly name: string; readonly kernel: keyof KernelSet; readonly broken: Partial<KernelSet> }[] = [
  {
    name: 'a range whose upper bound is exclusive',
    kernel: 'filterRangeU16',
    broken: { filterRangeU16: (values, rows, lower, upper, out) => reference.filterRangeU16(values, rows, lower, upper - 1, out) },
  },
  {
    name: 'a set filter that leaves the last row out',
    kernel: 'filterSetU8',
    broken: { filterSetU8: (values, rows, set, out) => reference.filterSetU8(values, Math.max(0, rows - 1), set, out) },
  },
  {
    name: 'a complement that sets bits past the rows',
    kernel: 'bitsNot',
    broken: { bitsNot: (a, rows, out) => reference.bitsNot(a, Math.ceil(rows / 64) * 64, out) },
  },
  {
    name: 'a sum that ignores its mask',
    kernel: 'sumRunsU8',
    broken: { sumRunsU8: (values, _mask, runs, runCount, state) => reference.sumRunsU8(values, 0, runs, runCount, state) },
  },
  {
    name: 'a sum in another order',
    kernel: 'sumRunsF64',
    broken: {
      sumRunsF64(values, mask, runs, runCount, state) {
        const rows = Math.max(0, ...[...memory.u32(runs, runCount * 3)].filter((_, field) => field % 3 === 2));
        const shifted = memory.allocate(rows * 8 + 64);
        memory.f64(shifted + 8, rows).set(memory.f64(values, rows)); // rows at other positions
        const moved = memory.allocate(runCount * 12);
        memory.u32(moved, runCount * 3).set(memory.u32(runs, runCount * 3).map((value, field) => (field % 3 === 0 ? value : value + 1)));
        reference.sumRunsF64(shifted, mask, mask === 0 ? moved : runs, runCount, state);
        memory.free(shifted);
        memory.free(moved);
      },
    },
  },
  {
    name: 'an unsigned minimum over signed comparison',
    kernel: 'minGroupsU8',
    broken: { minGroupsU8: reference.maxGroupsU8 },
  },
  {
    name: 'a bucket search that takes the last boundary for a bucket',
    kernel: 'timeRunsI64',
    broken: {
      timeRunsI64: (values, base, start, end, boundaries, boundaryCount, out) =>
        reference.timeRunsI64(values, base, start, end, boundaries, Math.max(2, boundaryCount - 1), out),
    },
  },
  {
    name: 'a hash table that finds the wrong group for long keys',
    kernel: 'hashKeys',
    broken: {
      hashKeys: (input, n, words, slots, capacity, keys, groupCount, out) => {
        const count = reference.hashKeys(input, n, words, slots, capacity, keys, groupCount, out);
        if (words === 3 && n > 3) memory.u32(out, n)[3] = 0;
        return count;
      },
    },
  },
  {
    name: 'ties in the order of discovery reversed',
    kernel: 'topF64',
    broken: {
      topF64: (state, present, n, k, descending, heap, out) => {
        const count = reference.topF64(state, present, n, k, descending, heap, out);
        memory.u32(out, count).reverse();
        return count;
      },
    },
  },
  {
    name: 'a kernel that writes past its output',
    kernel: 'toF64U8',
    broken: {
      toF64U8: (values, rows, n, base, out) => {
        reference.toF64U8(values, rows, n, base, out);
        memory.f64(out + n * 8, 1)[0] = 0;
      },
    },
  },
];
for (const { name, kernel, broken } of BUGS) {
  suiteItself(`notices ${name}`, () => {
    assert.is(findFailures({ ...reference, ...broken }, memory, [kernel]).length, 1);
  });
}

suiteItself('sees the asserts of a debug build', () => {
  const kernels = instantiateKernels('simd-debug', memory);
  assert.throws(() => kernels.filterEqU16(65537, 10, 0, 65600), /kernel: .*filter\.ts:\d+/);
});

suiteItself.run();
