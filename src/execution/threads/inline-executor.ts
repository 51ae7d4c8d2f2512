// Runs jobs on the calling thread.

import type { KernelMemory } from '../../kernels/memory.js';
import type { KernelSets } from '../../kernels/registry.js';
import type { Executor } from './executor.js';
import { CALLS, STREAMS } from './jobs.js';
import { ThreadContext } from './thread-context.js';

/** Work done where it is asked for. */
export function inlineExecutor(memory: KernelMemory, kernels: KernelSets): Executor {
  const thread = new ThreadContext(memory, kernels, () => 0);
  return {
    busy: () => 0,
    call: async (name, request) => CALLS[name](request, thread),
    open: (name, request) => {
      const stream = STREAMS[name](request, thread);
      return {
        next: async (input) => {
          const { value, done } = stream.next(input);
          return done === true ? null : (value ?? null);
        },
        close: async () => {
          stream.return();
        },
      };
    },
  };
}
