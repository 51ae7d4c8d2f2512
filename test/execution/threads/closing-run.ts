import { ThreadPool } from '../../../src/execution/threads/pool.js';
import { KernelMemory } from '../../../src/kernels/memory.js';

/* Entry of a process (`closing.test.ts`) that closes its threads before their first answer, and has nothing else to wait for. */
const threads = new ThreadPool({
  memory: KernelMemory.create({ maximumBytes: 1 << 26 }),
  kernels: 'simd',
  threads: 1,
  makeRoom: () => false,
});
const file = { file: 'no-such.segment', descriptor: -1 };
const asked = threads.runJob('verifySegment', file).catch(() => undefined);
await threads.close();
await asked;
process.stdout.write('closed\n');
