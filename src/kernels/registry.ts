import { ServiceError } from '../base/errors.js';
import type { KernelSet } from './contract.js';
import type { KernelMemory } from './memory.js';
import { createReferenceKernels } from './reference/kernels.js';

/** The kernel set `name` (`simd`, `scalar`, `reference`, or the path of a module) over `memory`. Synchronous. */
export function instantiateKernels(name: string, memory: KernelMemory): KernelSet {
  if (name === 'reference') return createReferenceKernels(memory);
  throw new ServiceError('unsupported', `svc.processing.kernels: no kernel set "${name}"`);
}
