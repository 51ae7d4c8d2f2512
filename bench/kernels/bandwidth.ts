import type { KernelMemory } from '../../src/kernels/memory.js';
import type { Contender } from '../harness.js';

/**
 * Read bandwidth of this machine, measured without a kernel: the faster of libc's memchr (`Buffer.indexOf` of a byte that
 * does not occur, one stream) and memcmp (`Buffer.compare` of equal halves, two streams), over pages of the same shared
 * memory that the columns lie in.
 * @param bytes  as many as the column that is compared with it: a cache that holds one but not the other would decide
 */
export function bandwidthContenders(memory: KernelMemory, bytes: number): readonly (Contender & { readonly bytes: number })[] {
  const at = memory.allocate(bytes);
  const view = memory.u8(at, bytes).fill(1);
  const whole = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  const first = whole.subarray(0, bytes / 2);
  const second = whole.subarray(bytes / 2);
  return [
    {
      name: 'memchr',
      bytes,
      run: () => {
        if (whole.indexOf(2) !== -1) throw new Error('memchr found what is not there');
      },
    },
    {
      name: 'memcmp',
      bytes,
      run: () => {
        if (Buffer.compare(first, second) !== 0) throw new Error('memcmp found a difference');
      },
    },
  ];
}
