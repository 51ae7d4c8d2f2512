import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { heldLookups } from '../../bench/lookup-settings.js';
import { practise } from '../../src/cli/practice/practice.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { PlanThread } from '../../src/server/planning/plan-thread.js';

/* A process that practises on one thread, for tests that look at it from outside: node practised.js QUERIES */
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-practised-'));
const alive = setInterval(() => undefined, 1000);
try {
  await practise({
    processing: { memory: KernelMemory.create({ maximumBytes: 1 << 28 }), threads: undefined, makeRoom: () => false },
    kernels: 'simd',
    folder: path.join(folder, 'practice'),
    planThread: new PlanThread(1),
    lookups: heldLookups(),
    queries: Number(process.argv[2]),
    idleMs: () => Infinity,
    signal: new AbortController().signal,
  });
} finally {
  clearInterval(alive);
  rmSync(folder, { recursive: true });
}
