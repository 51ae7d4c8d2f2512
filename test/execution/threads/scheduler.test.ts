import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Scheduler } from '../../../src/execution/threads/scheduler.js';

interface Task {
  readonly name: string;
  readonly priority: number;
  /** Blocks of one millisecond, each followed by a look. */
  readonly blocks: number;
  /** Tasks that arrive while block i of this one runs. */
  readonly brings?: (block: number) => readonly Task[];
}

/** Runs tasks by a clock that only they move; returns the names of the blocks in the order in which they were done. */
function blocksDone(first: readonly Task[]): string[] {
  const done: string[] = [];
  let clock = 0;
  const turns: Scheduler<Task> = new Scheduler<Task>(
    (task) => {
      for (let block = 0; block < task.blocks; block++) {
        clock++;
        done.push(task.name);
        for (const brought of task.brings?.(block) ?? []) turns.add(brought);
        turns.yieldToUrgent();
      }
    },
    () => clock,
  );
  for (const task of first) turns.add(task);
  turns.run(() => undefined);
  return done;
}

const turns = suite('turns of a thread');

turns('work of a higher priority is done between two blocks of the work under way, which then goes on', () => {
  const short: Task = { name: 'short', priority: 1, blocks: 2 };
  const long: Task = { name: 'long', priority: 0, blocks: 4, brings: (block) => (block === 1 ? [short] : []) };
  assert.equal(blocksDone([long]), ['long', 'long', 'short', 'short', 'long', 'long']);
});

turns('equal and lower priorities wait for its end, the higher one first', () => {
  const equal: Task = { name: 'equal', priority: 0, blocks: 1 };
  const low: Task = { name: 'low', priority: -1, blocks: 1 };
  const long: Task = { name: 'long', priority: 0, blocks: 3, brings: (block) => (block === 0 ? [low, equal] : []) };
  assert.equal(blocksDone([long]), ['long', 'long', 'long', 'equal', 'low']);
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

turns('an error of one task is thrown on, and the turns go on', () => {
  const seen: string[] = [];
  const failing: Scheduler<Task> = new Scheduler<Task>((task) => {
    seen.push(task.name);
    if (task.name === 'bad') throw new Error('bad');
  });
  failing.add({ name: 'bad', priority: 1, blocks: 0 });
  failing.add({ name: 'good', priority: 0, blocks: 0 });
  assert.throws(() => failing.run(() => undefined), /bad/);
  failing.run(() => undefined);
  assert.equal(seen, ['bad', 'good']);
});

turns.run();
