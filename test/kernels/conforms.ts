import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findFailures, kernelNames } from '../../src/kernels/conformance/run.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';

/** Every kernel of a set through the conformance suite. Each set is a test file of its own, so that they run side by side. */
export function conforms(set: string): void {
  const memory = KernelMemory.create({ maximumBytes: 64 * 1024 * 1024 });
  const kernels = instantiateKernels(set, memory);
  const conformance = suite(`kernels (${set})`);
  for (const kernel of kernelNames()) conformance(kernel, () => assert.equal(findFailures(kernels, memory, [kernel]), []));
  conformance.run();
}
