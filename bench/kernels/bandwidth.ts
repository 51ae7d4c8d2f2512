import type { KernelMemory } from '../../src/kernels/memory.js';
import type { Contender } from '../harness.js';

const BYTES = 64 * 1024 * 1024;

/**
 * What this machine can read, measured without a kernel: libc's memchr (`Buffer.indexOf` of a byte that does not
 * occur, one stream) and memcmp (`Buffer.compare` of equal halves, two streams), over pages of the same shared memory
 * that the columns lie in. The faster of the two is the machine's read bandwidth.
 */
export function bandwidthContenders(memory: KernelMemory): readonly (Contender & { readonly bytes: number })[] {
  const at = memory.allocate(BYTES);
  const view = memory.u8(at, BYTES).fill(1);
  const whole = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  const first = whole.subarray(0, BYTES / 2);
  const second = whole.subarray(BYTES / 2);
  return [
    {
      name: 'memchr',
      bytes: BYTES,
      run: () => {
        if (whole.indexOf(2) !== -1) throw new Error('memchr found what is not there');
      },
    },
    {
      name: 'memcmp',
      bytes: BYTES,
      run: () => {
        if (Buffer.compare(first, second) !== 0) throw new Error('memcmp found a difference');
      },
    },
  ];
}
