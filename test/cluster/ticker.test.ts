import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Clock } from '../../src/base/clock/clock.js';
import { Ticker } from '../../src/cluster/ticker.js';

const tickers = suite('ticker');
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

tickers('woken at every turn of the event loop, a long job leaves most of the time to others', async () => {
  const runs: { startMs: number; endMs: number }[] = [];
  const ticker = new Ticker(
    async () => {
      const startMs = performance.now();
      while (performance.now() < startMs + 20);
      runs.push({ startMs, endMs: performance.now() });
    },
    60_000,
    (error) => assert.unreachable(String(error)),
  );
  await ticker.start();
  while (runs.length < 5) {
    ticker.wake();
    await turn();
  }
  await ticker.stop();
  // Timers are late on a busy machine, never early: each rest is twice as long as the run before it, and a millisecond of rounding.
  for (const [at, run] of runs.entries()) {
    const before = runs[at - 1];
    if (before !== undefined) assert.ok(run.startMs - before.endMs >= 2 * (before.endMs - before.startMs) - 2);
  }
});

tickers('one run serves all wakes during the run before it, and sees the state at each', async () => {
  let version = 0;
  const seen: number[] = [];
  const ticker = new Ticker(
    async () => {
      const read = version;
      await turn();
      seen.push(read);
    },
    60_000,
    (error) => assert.unreachable(String(error)),
  );
  await ticker.start();
  assert.equal(seen, [0]);
  for (version = 1; version <= 10; version++) ticker.wake();
  version = 11;
  ticker.wake();
  while (seen.at(-1) !== 11) await turn();
  assert.equal(seen, [0, 1, 11]);
  await ticker.stop();
  ticker.wake();
  await turn();
  assert.is(seen.length, 3);
});

tickers('a job that fails is told and runs again', async () => {
  const errors: unknown[] = [];
  let runs = 0;
  const ticker = new Ticker(
    async () => {
      runs++;
      throw new Error('no');
    },
    5,
    (error) => errors.push(error),
  );
  await ticker.start();
  while (runs < 3) await turn();
  await ticker.stop();
  assert.is(errors.length, runs);
});

tickers('who waits for a run is told after one that began since, and not left waiting by a stop', async () => {
  let begun = 0;
  const ends: (() => void)[] = [];
  const ticker = new Ticker(
    async () => {
      begun++;
      await new Promise<void>((end) => ends.push(end));
      if (begun === 2) throw new Error('it fails');
    },
    60_000,
    () => undefined,
  );
  await ticker.wakeAndWait();
  const started = ticker.start();
  let told = 0;
  const waiting = ticker.wakeAndWait().then(() => told++);
  ends.shift()?.();
  await started;
  assert.equal([begun, told], [2, 0]);
  ends.shift()?.();
  await waiting;
  assert.is(told, 1);
  const last = ticker.wakeAndWait();
  const stopped = ticker.stop();
  ends.shift()?.();
  await Promise.all([last, stopped]);
});

tickers('a period longer than the longest timer is waited for in parts', async () => {
  const day = 86_400_000;
  let nowMs = 0;
  let set: { readonly callback: () => void; readonly delayMs: number } | undefined;
  const clock: Clock = {
    now: () => nowMs,
    monotonicMs: () => nowMs,
    setTimer(callback, delayMs, told) {
      set = { callback: () => callback(told), delayMs };
      return { unref: () => undefined as never };
    },
    clearTimer: () => undefined,
  };
  let runs = 0;
  const ticker = new Ticker(
    async () => {
      runs++;
    },
    60 * day,
    (error) => assert.unreachable(String(error)),
    clock,
  );
  await ticker.start();
  const waits: number[] = [];
  while (runs === 1 && waits.length < 10) {
    const timer = set;
    assert.ok(timer !== undefined && timer.delayMs <= 2 ** 31 - 1);
    waits.push(timer.delayMs);
    nowMs += timer.delayMs;
    timer.callback();
    await turn();
  }
  assert.is(
    waits.reduce((sum, wait) => sum + wait),
    60 * day,
  );
  assert.is(runs, 2);
  await ticker.stop();
});

tickers.run();
