import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type TaskCount, TaskCounts } from '../../src/cluster/middlemanager/task-counts.js';
import type { TaskProgress } from '../../src/ingestion/contract.js';
import type { PublishRequest } from '../../src/model/publication.js';

const told = (processed: number, thrownAway = 0): TaskProgress => ({
  ...{ phase: 'reading', startedMs: 0, atMs: 0, bytesRead: 10 * processed, bytesTotal: null },
  ...{ processed, processedWithError: 0, thrownAway, unparseable: 0 },
});
const published = (rows: readonly number[], isStream = false) =>
  ({ segments: rows.map((rowCount) => ({ rowCount })), ...(isStream ? { stream: {} } : {}) }) as unknown as PublishRequest;

type Step =
  | readonly ['progress', number, number?]
  | readonly ['published', readonly number[], boolean?]
  | readonly ['ended', succeeded: boolean];
/** A run of a task: whether it is a child, and what happens to it. */
type Run = readonly [isChild: boolean, ...Step[]];

const CASES: readonly { readonly name: string; readonly runs: readonly Run[]; readonly counts: Partial<TaskCount> }[] = [
  { name: 'a task that has told nothing', runs: [[false]], counts: {} },
  {
    name: 'what it tells last counts',
    runs: [[false, ['progress', 3], ['progress', 7, 2]]],
    counts: { processed: 7, thrownAway: 2, bytesRead: 70 },
  },
  {
    name: 'work that is told again counts once',
    runs: [[false, ['progress', 5], ['progress', 2], ['progress', 6]]],
    counts: { processed: 6, bytesRead: 60 },
  },
  {
    name: 'runs add up',
    runs: [
      [false, ['progress', 5], ['ended', false]],
      [false, ['progress', 5], ['ended', true]],
    ],
    counts: { processed: 10, bytesRead: 100, succeeded: 1, failed: 1 },
  },
  {
    name: 'the parent counts what a child reads',
    runs: [
      [true, ['progress', 5], ['ended', true]],
      [false, ['progress', 5]],
    ],
    counts: { processed: 5, bytesRead: 50, succeeded: 1 },
  },
  { name: 'segments and rows', runs: [[false, ['published', [3, 4]], ['published', []]]], counts: { segments: 2, rows: 7 } },
  {
    name: 'segments of streams',
    runs: [[false, ['published', [3], true], ['published', [4], true]]],
    counts: { segments: 2, rows: 7, handoffs: 2 },
  },
];

const counts = suite('counts of tasks');
for (const { name, runs, counts: expected } of CASES)
  counts(name, () => {
    const all = new TaskCounts();
    for (const [isChild, ...steps] of runs) {
      const run = all.begin({ dataSource: 'ds', taskType: 'index', isChild });
      for (const [kind, first, second] of steps) {
        if (kind === 'progress') run.progress(told(first, second));
        else if (kind === 'published') run.published(published(first, second));
        else run.ended(first);
      }
    }
    const none = { processed: 0, processedWithError: 0, thrownAway: 0, unparseable: 0, bytesRead: 0 };
    const zero = { dataSource: 'ds', taskType: 'index', ...none, segments: 0, rows: 0, handoffs: 0, succeeded: 0, failed: 0 };
    assert.equal([...all.all()], [{ ...zero, ...expected }]);
  });

counts('beyond a thousand datasources and types the rest counts together', () => {
  const all = new TaskCounts();
  for (let at = 0; at < 1500; at++) all.begin({ dataSource: `ds${at}`, taskType: 'index', isChild: false }).ended(true);
  const listed = [...all.all()];
  assert.is(listed.length, 1001);
  assert.equal([listed.at(-1)?.dataSource, listed.at(-1)?.taskType, listed.at(-1)?.succeeded], ['(other)', '(other)', 500]);
});

counts.run();
