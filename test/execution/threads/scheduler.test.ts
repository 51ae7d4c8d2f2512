import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Scheduler } from '../../../src/execution/threads/scheduler.js';
import { newWork, type Work } from '../../../src/execution/threads/work.js';

interface Task {
  readonly name: string;
  readonly priority: number;
  /** Blocks of one millisecond, each followed by a look. */
  readonly blocks: number;
  /** Blocks that it is thought to have; left out: as many as it has. */
  readonly expected?: number;
  /** Tasks that arrive while block i of this one runs. */
  readonly brings?: (block: number) => readonly Task[];
}

type Queued = Task & { readonly work: Work };

const queued = (task: Task): Queued => ({ ...task, work: newWork(task.expected ?? task.blocks) });

/** Runs tasks by a clock that only they move; returns the names of the blocks in the order in which they were done. */
function blocksDone(first: readonly Task[], onBegin: (begun: number) => void = () => undefined): string[] {
  const done: string[] = [];
  let clock = 0;
  let begun = 0;
  const turns: Scheduler<Queued> = new Scheduler<Queued>(
    (task) => {
      onBegin(++begun);
      for (let block = 0; block < task.blocks; block++) {
        clock++;
        done.push(task.name);
        for (const brought of task.brings?.(block) ?? []) turns.add(queued(brought));
        turns.yieldToUrgent();
      }
      begun--;
    },
    () => clock,
  );
  for (const task of first) turns.add(queued(task));
  turns.run(() => undefined);
  return done;
}

const turns = suite('turns of a thread');

turns('work of a higher priority is done between two blocks of the work under way, which then goes on', () => {
  const short: Task = { name: 'short', priority: 1, blocks: 2 };
  const long: Task = { name: 'long', priority: 0, blocks: 4, brings: (block) => (block === 1 ? [short] : []) };
  assert.equal(blocksDone([long]), ['long', 'long', 'short', 'short', 'long', 'long']);
});

turns('equals that are no smaller and lower priorities wait for its end, the higher one first', () => {
  const equal: Task = { name: 'equal', priority: 0, blocks: 2 };
  const low: Task = { name: 'low', priority: -1, blocks: 1 };
  const long: Task = { name: 'long', priority: 0, blocks: 3, brings: (block) => (block === 0 ? [low, equal] : []) };
  assert.equal(blocksDone([long]), ['long', 'long', 'long', 'equal', 'equal', 'low']);
});

turns('work that overtakes may be overtaken', () => {
  const high: Task = { name: 'high', priority: 2, blocks: 1 };
  const middle: Task = { name: 'middle', priority: 1, blocks: 2, brings: (block) => (block === 0 ? [high] : []) };
  const long: Task = { name: 'long', priority: 0, blocks: 2, brings: (block) => (block === 0 ? [middle] : []) };
  assert.equal(blocksDone([long]), ['long', 'middle', 'high', 'middle', 'long']);
});

turns('however much comes, work that was overtaken keeps a fifth of the time', () => {
  // Every block of anything brings another that is more urgent than the long one.
  const urgent = (left: number): Task => ({
    name: 'urgent',
    priority: 1,
    blocks: 10,
    brings: (block) => (block === 0 && left > 0 ? [urgent(left - 1)] : []),
  });
  const long: Task = { name: 'long', priority: 0, blocks: 100, brings: (block) => (block === 0 ? [urgent(1000)] : []) };
  const done = blocksDone([long]);
  const last = done.lastIndexOf('long') + 1;
  // 50 blocks may go before it at once; one more task of 10 was under way when that was reached.
  assert.ok(last <= 100 + 4 * 100 + 50 + 10, `the long one ended after ${last} blocks`);
  assert.ok(last > 100, 'it was overtaken');
});

turns('waiting work is begun whatever arrives meanwhile', () => {
  const urgent = (left: number): Task => ({ name: 'urgent', priority: 9, blocks: 1, brings: () => (left > 0 ? [urgent(left - 1)] : []) });
  const done = blocksDone([urgent(100), { name: 'low', priority: -9, blocks: 1 }]);
  assert.ok(done.indexOf('low') < 8, `it came after ${done.indexOf('low')} others`);
});

const LARGE = 1000;

/** Tasks of so many blocks, the first of which brings others during its block `at`. */
function large(count: number, at: number, others: readonly Task[]): Task[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `large ${index}`,
    priority: 0,
    blocks: LARGE,
    brings: (block: number) => (index === 0 && block === at ? others : []),
  }));
}

turns('small work does not wait for large work that has begun, nor for what waits already', () => {
  const done = blocksDone(large(6, 10, [{ name: 'small', priority: 0, blocks: 2 }]));
  assert.is(done.lastIndexOf('small'), 12, 'it comes 11 blocks after the first, and has two');
  assert.is(done.length, 6 * LARGE + 2);
});

turns('small work beside large work that has waited long waits for a part of that: the root of their sizes', () => {
  const small: Task = { name: 'small', priority: 0, blocks: 10 };
  // The second of them begins after a thousand blocks; what comes a block later waits for at most a tenth of that.
  const [first, second, ...rest] = large(5, 0, []) as [Task, Task, ...Task[]];
  const done = blocksDone([first, { ...second, brings: (block) => (block === 0 ? [small] : []) }, ...rest]);
  const waited = done.indexOf('small') - LARGE;
  assert.ok(waited > 10 && waited <= LARGE * Math.sqrt(10 / LARGE) + 2, `it waited ${waited} blocks`);
});

turns('work of one size is done in order of arrival, and none is put aside for the next', () => {
  const done = blocksDone(large(3, -1, []));
  const changes = done.filter((name, at) => at > 0 && name !== done[at - 1]);
  assert.equal(changes, ['large 1', 'large 2']);
});

turns('work that takes longer than it was thought to is overtaken like any other of its size', () => {
  const wrong: Task = {
    name: 'wrong',
    priority: 0,
    blocks: LARGE,
    expected: 1,
    brings: (block) => (block === 100 ? [{ name: 'small', priority: 0, blocks: 3 }] : []),
  };
  assert.is(blocksDone([wrong]).indexOf('small'), 101);
});

turns('however often estimates are wrong, few pieces of work have begun at a time', () => {
  let most = 0;
  const wrong = (left: number): Task => ({
    name: `wrong ${left}`,
    priority: 0,
    blocks: 100,
    expected: 1,
    brings: (block) => (block === 5 && left > 0 ? [wrong(left - 1)] : []),
  });
  const done = blocksDone([wrong(50)], (begun) => {
    most = Math.max(most, begun);
  });
  assert.is(done.length, 51 * 100);
  assert.is(most, 3);
});

turns('however much small work comes, large work goes on more and more', () => {
  // There is always another small one waiting.
  const small = (left: number): Task => ({ name: 'small', priority: 0, blocks: 1, brings: () => (left > 0 ? [small(left - 1)] : []) });
  const done = blocksDone(large(1, 0, [small(10_000)]));
  const last = done.lastIndexOf('large 0') + 1;
  // After n small ones the large one has n blocks over the root of its size for each: n²/2√size = size.
  assert.ok(last <= LARGE + Math.sqrt(2 * LARGE * Math.sqrt(LARGE)) * 1.5, `it ended after ${last} blocks`);
});

turns('a stream has waited for all of its items together', () => {
  const order: string[] = [];
  let clock = 0;
  const stream = newWork(10);
  const named: Scheduler<{ name: string; priority: number; work: Work }> = new Scheduler<{ name: string; priority: number; work: Work }>(
    ({ name }) => {
      order.push(name);
      clock += 10;
    },
    () => clock,
  );
  const others = ['first', 'second', 'third'].map((name) => ({ name, priority: 0, work: newWork(10) }));
  for (const each of [others[0], { name: 'item', priority: 0, work: stream }, others[1]]) if (each !== undefined) named.add(each);
  let isAgain = false;
  named.run(() => {
    if (isAgain || !order.includes('item')) return;
    isAgain = true;
    clock += 1;
    named.add({ name: 'next item', priority: 0, work: { ...stream, waitedMs: 100 } });
  });
  assert.equal(order, ['first', 'item', 'next item', 'second']);
  assert.is(stream.waitedMs, 10);
  assert.is(stream.ranMs, 10);
});

turns('an error of one task is thrown on, and the turns go on', () => {
  const seen: string[] = [];
  const failing: Scheduler<Queued> = new Scheduler<Queued>((task) => {
    seen.push(task.name);
    if (task.name === 'bad') throw new Error('bad');
  });
  failing.add(queued({ name: 'bad', priority: 1, blocks: 0 }));
  failing.add(queued({ name: 'good', priority: 0, blocks: 0 }));
  assert.throws(() => failing.run(() => undefined), /bad/);
  failing.run(() => undefined);
  assert.equal(seen, ['bad', 'good']);
});

turns.run();
