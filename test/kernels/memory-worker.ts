import { parentPort, workerData } from 'node:worker_threads';
import { KernelMemory, type KernelMemoryHandle } from '../../src/kernels/memory.js';

/** Allocates, marks, verifies and frees; ends with one marked region left. Started by memory.test.ts. */
const { handle, mark, rounds } = workerData as { handle: KernelMemoryHandle; mark: number; rounds: number };
const memory = KernelMemory.attach(handle);
const held: { at: number; bytes: number }[] = [];
let seed = mark;
const random = (below: number): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return Math.floor((seed / 0x80000000) * below);
};

const release = (index: number): void => {
  const [region] = held.splice(index, 1);
  if (region === undefined) return;
  if (!memory.u8(region.at, region.bytes).every((byte) => byte === mark)) throw new Error(`another thread wrote into ${region.at}`);
  memory.free(region.at);
};

for (let round = 0; round < rounds; round++) {
  if (held.length > 40) release(random(held.length));
  const bytes = random(20) === 0 ? random(400_000) : 1 + random(2000);
  const at = memory.allocate(bytes);
  memory.u8(at, bytes).fill(mark);
  held.push({ at, bytes });
}
while (held.length > 1) release(random(held.length));
parentPort?.postMessage(held[0]);
