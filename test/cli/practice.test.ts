import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heldLookups } from '../../bench/lookup-settings.js';
import { Idleness } from '../../src/cli/practice/idleness.js';
import { type PracticeOptions, practise } from '../../src/cli/practice/practice.js';
import { practiceRequest } from '../../src/cli/practice/practice-statements.js';
import { ThreadPool } from '../../src/execution/threads/pool.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { PlanThread } from '../../src/server/planning/plan-thread.js';

/** Queries that a server runs unless `svc.processing.practiceQueries` says otherwise. */
const QUERIES = 400;

const practice = suite<{ folder: string; memory: KernelMemory; threads: ThreadPool; alive: NodeJS.Timeout }>('practice');

practice.before.each((context) => {
  context.folder = path.join(mkdtempSync(path.join(tmpdir(), 'dolmen-practice-')), 'practice');
  context.memory = KernelMemory.create({ maximumBytes: 1 << 28 });
  context.threads = new ThreadPool({ memory: context.memory, kernels: 'simd', threads: 2, makeRoom: () => false });
  // Practice keeps no process alive.
  context.alive = setInterval(() => undefined, 1000);
});
practice.after.each(async ({ folder, threads, alive }) => {
  clearInterval(alive);
  await threads.close();
  rmSync(path.dirname(folder), { recursive: true });
});

function optionsOf(
  { folder, memory, threads }: { folder: string; memory: KernelMemory; threads: ThreadPool },
  given: Partial<PracticeOptions>,
): PracticeOptions {
  return {
    processing: { memory, threads, makeRoom: () => false },
    kernels: 'simd',
    folder,
    planThread: new PlanThread(1),
    lookups: heldLookups(),
    queries: QUERIES,
    idleMs: () => Infinity,
    signal: new AbortController().signal,
    ...given,
  };
}

practice('answers all of its queries, and leaves no memory and no files behind', async (context) => {
  const before = context.memory.allocatedBytes;
  // It fails where one is not answered.
  await practise(optionsOf(context, {}));
  assert.is(context.memory.allocatedBytes, before);
  assert.not.ok(existsSync(context.folder));
});

practice('begins only once nobody has asked for two seconds, and ends with its process', async (context) => {
  const ending = new AbortController();
  let looks = 0;
  const practised = practise(
    optionsOf(context, {
      signal: ending.signal,
      idleMs() {
        looks++;
        return 1995;
      },
    }),
  );
  while (looks < 5) await sleep(5);
  assert.not.ok(existsSync(context.folder));
  ending.abort();
  await practised;
  assert.not.ok(existsSync(context.folder));
});

practice('stops where somebody asks, and ends in the middle', async (context) => {
  const ending = new AbortController();
  let looks = 0;
  const practised = practise(
    optionsOf(context, {
      signal: ending.signal,
      // Idle until it has begun.
      idleMs: () => (++looks < 20 ? Infinity : 0),
    }),
  );
  while (looks < 20) await sleep(5);
  await sleep(50);
  assert.is(looks, 20);
  ending.abort();
  await practised;
  assert.not.ok(existsSync(context.folder));
});

practice('a query of its own that is refused is told of', async (context) => {
  // Too little for the columns of a segment.
  const memory = KernelMemory.create({ maximumBytes: 1 << 17 });
  let message = '';
  await practise(
    optionsOf({ ...context, memory, threads: context.threads }, { processing: { memory, threads: undefined, makeRoom: () => false } }),
  ).catch((error: Error) => {
    message = error.message;
  });
  assert.match(message, /memory|bytes/);
  assert.not.ok(existsSync(context.folder));
});

practice('statements differ, and are the same for the same number', () => {
  const texts = Array.from({ length: QUERIES }, (_, number) => JSON.stringify(practiceRequest(number)));
  assert.equal(
    texts,
    Array.from({ length: QUERIES }, (_, number) => JSON.stringify(practiceRequest(number))),
  );
  assert.ok(new Set(texts).size > QUERIES * 0.8, `${new Set(texts).size} different ones`);
});

practice('time without queries begins anew with a query and with segments that a run has read', () => {
  const counters = { segments: 0 };
  let now = 0;
  const idleness = new Idleness(counters, () => now);
  const at = (ms: number, act: () => void = () => undefined): number => {
    now = ms;
    act();
    return idleness.ms;
  };
  assert.equal(
    [at(100), at(150, () => idleness.asked()), at(250), at(300, () => counters.segments++), at(310), at(400)],
    [100, 0, 100, 0, 10, 100],
  );
});

practice.run();
