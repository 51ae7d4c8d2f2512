import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { RunGate } from '../../src/cluster/historical/run-gate.js';
import type { Frame } from '../../src/model/frame.js';
import { newProfile } from '../../src/model/profile.js';

/** A run that tells when it begins and makes its frames when it is told to. */
function runOf(begun: string[], name: string) {
  let make: () => void = () => undefined;
  const made = new Promise<void>((resolve) => {
    make = resolve;
  });
  async function* frames(): AsyncGenerator<Frame> {
    begun.push(name);
    await made;
    yield { rowCount: 1, columns: [] };
    yield { rowCount: 2, columns: [] };
  }
  return { frames, make };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

function enter(gate: RunGate, frames: AsyncIterable<Frame>, priority: number, signal = never, rows = 0): AsyncGenerator<Frame> {
  return gate.through(frames, { priority, rows, signal, profile: newProfile() });
}

const gates = suite('run gate');

gates('runs of higher priority go first, equal ones in order of arrival', async () => {
  const gate = new RunGate(1, 100);
  const begun: string[] = [];
  const runs = [
    ['first', 0],
    ['low', -1],
    ['zero', 0],
    ['high', 5],
    ['zero again', 0],
    ['high again', 5],
  ] as const;
  const parts = runs.map(([name]) => runOf(begun, name));
  const reads = runs.map(([, priority], at) => enter(gate, parts[at]?.frames() ?? missing(), priority).next());
  await settle();
  // A run does not wait for runs of lower priority.
  assert.equal(begun, ['first', 'high']);
  for (const { make } of parts) make();
  await Promise.all(reads);
  assert.equal(begun, ['first', 'high', 'high again', 'zero', 'zero again', 'low']);
});

gates('a run is refused while the queue is full', async () => {
  const gate = new RunGate(1, 2);
  const begun: string[] = [];
  const parts = ['inside', 'waiting', 'waiting too'].map((name) => runOf(begun, name));
  const reads = parts.map(({ frames }) => enter(gate, frames(), 0).next());
  await settle();
  try {
    await enter(gate, runOf(begun, 'refused').frames(), 0).next();
    assert.unreachable();
  } catch (error) {
    assert.is(error instanceof ServiceError && error.code, 'capacity_exceeded');
  }
  for (const { make } of parts) make();
  await Promise.all(reads);
  assert.equal(begun, ['inside', 'waiting', 'waiting too']);
});

gates('however many priorities there are, the crowd inside has its limit', async () => {
  const gate = new RunGate(1, 100);
  const begun: string[] = [];
  const parts = [0, 1, 2, 3, 4, 5].map((priority) => ({ priority, ...runOf(begun, `${priority}`) }));
  const reads = parts.map(({ priority, frames }) => enter(gate, frames(), priority).next());
  await settle();
  assert.equal(begun, ['0', '1', '2', '3']);
  parts[0]?.make();
  await reads[0];
  await settle();
  assert.equal(begun, ['0', '1', '2', '3', '5']);
  for (const { make } of parts) make();
  await Promise.all(reads);
});

gates(
  'a much smaller run does not wait for large ones inside; waiting runs go by the time they wait over the root of their size',
  async () => {
    let clock = 0;
    const gate = new RunGate(2, 100, () => clock);
    const begun: string[] = [];
    const begin = (name: string, rows: number) => {
      const part = runOf(begun, name);
      const read = enter(gate, part.frames(), 0, never, rows).next();
      return { make: part.make, read };
    };
    const large = 100_000_000;
    const first = [begin('large 1', large), begin('large 2', large), begin('large 3', large)];
    await settle();
    const small = begin('small 1', large / 100);
    await settle();
    assert.equal(begun, ['large 1', 'large 2', 'small 1']);
    const others = [begin('small 2', large / 100), begin('small 3', large / 100), begin('half', large / 2)];
    await settle();
    assert.equal(begun, ['large 1', 'large 2', 'small 1', 'small 2'], 'small runs are rivals of each other');
    clock = 1000;
    const late = begin('small 4', large / 100);
    clock = 1050;
    const all = [...first, small, ...others, late];
    for (const { make } of all) make();
    await Promise.all(all.map(({ read }) => read));
    // 1050 ms over the roots of 10, 500 and 1000 ms, then 50 ms over the root of 10.
    assert.equal(begun.slice(4), ['small 3', 'half', 'large 3', 'small 4']);
  },
);

gates('as many runs as slots begin at a time; a slow reader does not hold a slot', async () => {
  const gate = new RunGate(2, 100);
  const begun: string[] = [];
  const parts = ['a', 'b', 'c'].map((name) => runOf(begun, name));
  const streams = parts.map(({ frames }) => enter(gate, frames(), 0));
  const reads = streams.map((stream) => stream.next());
  await settle();
  assert.equal(begun, ['a', 'b']);
  parts[1]?.make();
  await reads[1];
  await settle();
  // `b` has its first frame and is not read any further.
  assert.equal(begun, ['a', 'b', 'c']);
  for (const { make } of parts) make();
  await Promise.all(reads);
  const rest: number[] = [];
  for (const stream of streams) for await (const { rowCount } of stream) rest.push(rowCount);
  assert.equal(rest, [2, 2, 2]);
});

gates('a run that fails, ends without frames or is cancelled while it waits leaves its place', async () => {
  const gate = new RunGate(1, 100);
  const begun: string[] = [];
  async function* failing(): AsyncGenerator<Frame> {
    begun.push('failing');
    yield* none();
    throw new Error('broken');
  }
  const abort = new AbortController();
  const waiting = runOf(begun, 'cancelled');
  const results = [
    enter(gate, failing(), 0).next(),
    enter(gate, waiting.frames(), 0, abort.signal).next(),
    enter(gate, none(), 0).next(),
    enter(gate, none(), 0).next(),
  ].map((each) =>
    each.then(
      ({ done }) => done === true,
      (error: Error) => error.message,
    ),
  );
  abort.abort(new Error('given up'));
  assert.equal(await Promise.all(results), ['broken', 'given up', true, true]);
  assert.equal(begun, ['failing']);
});

async function* none(): AsyncGenerator<Frame> {
  yield* [];
}

function missing(): never {
  throw new Error('every run has its part');
}

gates.run();
