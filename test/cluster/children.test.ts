import * as assert from 'uvu/assert';
import { locksOfTask } from '../../src/metadata/locks.js';
import { findTask, moveTask } from '../../src/metadata/tasks.js';
import { codeOf, overlordSuite, settle, stateOf, untilState, Worker } from './leading-overlord.js';

/** Tasks that a task submits. */
const overlords = overlordSuite('children of tasks');

const RUN = { session: 's1', attempt: 1 };
const PARENT = { taskId: 'parent', run: RUN };
const child = (id: string): string => JSON.stringify({ id, isChild: true });

overlords('children run without locks of their own, in the group of their parent; what was submitted before stays', async (context) => {
  const { database, overlord } = context;
  await overlord.submit(JSON.stringify({ id: 'parent', replace: [{ start: 0, end: 10 }], priority: 70 }));
  await untilState(database, 'parent', 'RUNNING');
  await overlord.submitChildren(PARENT, [child('a'), child('b')]);
  await overlord.submitChildren(PARENT, [child('a'), child('b')]);
  await untilState(database, 'a', 'RUNNING');
  await untilState(database, 'b', 'RUNNING');
  assert.equal(await locksOfTask(database, 'a'), []);
  const { groupId, priority, parentId, attempts } = (await findTask(database, 'a')) ?? {};
  assert.equal({ groupId, priority, parentId, attempts }, { groupId: 'parent', priority: 70, parentId: 'parent', attempts: 1 });
  await overlord.taskEnded({ taskId: 'a', run: RUN, succeeded: true, errorMessage: null, report: { rows: 3 } });
  assert.equal(await overlord.children(PARENT), [
    { id: 'a', state: 'SUCCESS', error: null },
    { id: 'b', state: 'RUNNING', error: null },
  ]);
  assert.equal(await overlord.childDocuments(PARENT, 'a'), { payload: child('a'), report: '{"rows":3}' });
});

overlords('children end with their parent, and on their workers too', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  await overlord.submitChildren(PARENT, [child('a')]);
  await untilState(database, 'a', 'RUNNING');
  await overlord.taskEnded({ taskId: 'parent', run: RUN, succeeded: true, errorMessage: null, report: null });
  await untilState(database, 'a', 'FAILED');
  while (workers[0]?.running.includes('a') === true) await settle();
  assert.match((await findTask(database, 'a'))?.error ?? '', /parent, which it worked for, has ended/);
});

overlords('a parent ends a child that it needs no more', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  await overlord.submitChildren(PARENT, [child('a')]);
  await untilState(database, 'a', 'RUNNING');
  await overlord.stopChild(PARENT, 'a', 'not needed');
  assert.is(await stateOf(database, 'a'), 'FAILED');
  assert.equal(workers[0]?.running, ['parent']);
  assert.is(await codeOf(overlord.stopChild(PARENT, 'a', 'again')), 'not_found');
});

overlords('children outlive a lost run of their parent; the run that counts finds them', async ({ database, overlord, workers }) => {
  const second = new Worker('w:2', 's2');
  workers.push(second);
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  const first = { taskId: 'parent', run: { session: (await findTask(database, 'parent'))?.workerSession ?? '', attempt: 1 } };
  await overlord.submitChildren(first, [child('a')]);
  await untilState(database, 'a', 'RUNNING');
  await overlord.taskReturned('parent', first.run);
  while ((await findTask(database, 'parent'))?.attempts !== 2) await settle();
  const next = { taskId: 'parent', run: { session: (await findTask(database, 'parent'))?.workerSession ?? '', attempt: 2 } };
  assert.equal(await overlord.children(next), [{ id: 'a', state: 'RUNNING', error: null }]);
  assert.is(await codeOf(overlord.submitChildren(first, [child('b')])), 'conflict');
  assert.is(await codeOf(overlord.children(first)), 'conflict');
});

overlords('children come from their parent alone, all of a request or none', async ({ database, overlord }) => {
  assert.is(await codeOf(overlord.submit(child('a'))), 'input_invalid');
  for (const id of ['parent', 'other']) {
    await overlord.submit(JSON.stringify({ id }));
    await untilState(database, id, 'RUNNING');
  }
  assert.is(await codeOf(overlord.submitChildren(PARENT, [child('a'), child('other')])), 'conflict');
  assert.is(await stateOf(database, 'a'), undefined);
  await overlord.submitChildren(PARENT, [child('a')]);
  const other = { taskId: 'other', run: RUN };
  assert.is(await codeOf(overlord.childDocuments(other, 'a')), 'not_found');
  assert.is(await codeOf(overlord.stopChild(other, 'a', 'mine')), 'not_found');
  assert.is(await codeOf(overlord.submitChildren(other, [child('a')])), 'conflict');
});

overlords('a parent takes a child back that waits, and gives it back with itself', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  Object.assign(workers[0] ?? {}, { capacity: 1 });
  await overlord.submitChildren(PARENT, [child('a')]);
  await settle();
  assert.is(await stateOf(database, 'a'), 'PENDING');
  assert.is(await overlord.claimChild(PARENT, 'a'), 1);
  // The answer may have been lost on its way: whoever asks again gets it again.
  assert.is(await overlord.claimChild(PARENT, 'a'), 1);
  assert.is(await codeOf(overlord.claimChild(PARENT, 'parent')), 'not_found');
  assert.is((await findTask(database, 'a'))?.workerHost, 'w:1');
  await settle();
  assert.is(await stateOf(database, 'a'), 'RUNNING');
  // Its worker ends, and leaves no other.
  workers.splice(0, 1);
  await overlord.taskReturned('parent', RUN);
  assert.equal([await stateOf(database, 'parent'), await stateOf(database, 'a')], ['PENDING', 'PENDING']);
});

overlords('a run of a child that its parent did counts as any other', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  Object.assign(workers[0] ?? {}, { capacity: 1 });
  await overlord.submitChildren(PARENT, [child('a')]);
  await overlord.claimChild(PARENT, 'a');
  const end = { taskId: 'a', succeeded: true, errorMessage: null, report: { rows: 1 } };
  await overlord.taskEnded({ ...end, run: { session: 's1', attempt: 2 } });
  assert.is(await stateOf(database, 'a'), 'RUNNING');
  await overlord.taskEnded({ ...end, run: RUN });
  assert.is(await stateOf(database, 'a'), 'SUCCESS');
});

overlords('a child that a worker runs is not taken back', async ({ database, overlord }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  await overlord.submitChildren(PARENT, [child('a')]);
  await untilState(database, 'a', 'RUNNING');
  assert.is(await overlord.claimChild(PARENT, 'a'), null);
});

overlords('a child that a run of its parent did waits again once that run counts no more', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  Object.assign(workers[0] ?? {}, { capacity: 1 });
  await overlord.submitChildren(PARENT, [child('a')]);
  await overlord.claimChild(PARENT, 'a');
  // The answer of the worker to the assignment was lost: the worker stays, the run ends.
  await moveTask(database, 'parent', 'RUNNING', 'PENDING');
  overlord.wake();
  while ((await findTask(database, 'parent'))?.attempts !== 2) await settle();
  await untilState(database, 'a', 'PENDING');
  const next = { taskId: 'parent', run: { session: 's1', attempt: 2 } };
  assert.is(await overlord.claimChild(next, 'a'), 2);
});

overlords('a worker that does not answer holds up no other task', async ({ database, overlord, workers }) => {
  await overlord.submit(JSON.stringify({ id: 'parent' }));
  await untilState(database, 'parent', 'RUNNING');
  await overlord.submitChildren(PARENT, [child('a'), child('b')]);
  for (const id of ['a', 'b']) await untilState(database, id, 'RUNNING');
  Object.assign(workers[0] ?? {}, { shutdownTask: () => new Promise(() => undefined) });
  await overlord.taskEnded({ taskId: 'parent', run: RUN, succeeded: false, errorMessage: 'it failed', report: null });
  for (const id of ['a', 'b']) await untilState(database, id, 'FAILED');
  await overlord.submit(JSON.stringify({ id: 'next' }));
  await untilState(database, 'next', 'RUNNING');
});

overlords.run();
