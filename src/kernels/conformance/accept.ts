// Accepts a kernel module of the user's own once it has passed the conformance suite.

import { ServiceError } from '../../base/errors.js';
import type { KernelName, KernelSet } from '../contract.js';
import type { KernelMemory } from '../memory.js';
import { instantiateKernels, KERNEL_SETS } from '../registry.js';

/** Failures reported of a set that is wrong in many ways. */
const FAILURES_TOLD_MAX = 5;

/**
 * The kernel set `name`; one that is named by path must first pass the conformance suite, which takes seconds.
 * @param checked  kernels that the suite looks at; left out: all
 * @throws ServiceError `input_invalid` naming the kernels that are wrong, or as `instantiateKernels`
 */
export async function acceptKernels(name: string, memory: KernelMemory, checked?: readonly KernelName[]): Promise<KernelSet> {
  const kernels = instantiateKernels(name, memory);
  if (Object.hasOwn(KERNEL_SETS, name)) return kernels;
  const { findFailures } = await import('./run.js');
  const failures = findFailures(kernels, memory, checked);
  if (failures.length === 0) return kernels;
  const told = failures.slice(0, FAILURES_TOLD_MAX).map(({ kernel, message }) => `${kernel}: ${message}`);
  const more = failures.length > told.length ? [`and ${failures.length - told.length} more`] : [];
  throw new ServiceError('input_invalid', `kernel module ${name} does not keep the contract: ${[...told, ...more].join('; ')}`);
}
