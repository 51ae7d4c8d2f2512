import type { KernelMemory } from '../../kernels/memory.js';
import type { KernelSets } from '../../kernels/registry.js';
import { CALLS, STREAMS, WorkBench } from './work.js';
import type { Workplace } from './workplace.js';

/** Work done where it is asked for. */
export function workHere(memory: KernelMemory, kernels: KernelSets): Workplace {
  const bench = new WorkBench(memory, kernels, () => undefined);
  return {
    busy: () => 0,
    call: async (name, request) => CALLS[name](request, bench),
    open: (name, request) => {
      const stream = STREAMS[name](request, bench);
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
