import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../src/base/errors.js';
import { ETERNITY } from '../../src/base/instant.js';
import { lockRequestOf, newTask } from '../../src/cluster/overlord/submission.js';
import type { TaskDescription } from '../../src/ingestion/contract.js';
import { validateTask } from '../../src/ingestion/task.js';
import { day } from '../metadata/fixture.js';

const locks = suite('locks of tasks');

/** `lock kind`, or `code: message` of the refusal at submission. */
function lockOf({ kind, context = {}, type = 'index_parallel', spec = {} }: Given): string {
  const mode = kind === 'append' ? ({ kind } as const) : ({ kind, intervals: [day(0)] } as const);
  const description: TaskDescription = { type, dataSource: 'ds', id: 't', groupId: null, context, mode, spec };
  try {
    newTask({ document: '{}', description }, 0);
    const request = lockRequestOf('t', description);
    assert.equal(request.intervals, kind === 'append' ? [ETERNITY] : [day(0)]);
    return request.kind;
  } catch (error) {
    const { code, message } = error as ServiceError;
    return `${code}: ${message}`;
  }
}

interface Given {
  readonly kind: 'append' | 'replace';
  readonly context?: Readonly<Record<string, unknown>>;
  readonly type?: TaskDescription['type'];
  readonly spec?: TaskDescription['spec'];
}

const CASES: readonly (readonly [string, Given, string])[] = [
  ['an append without a context', { kind: 'append' }, 'shared'],
  ['a replace without a context', { kind: 'replace' }, 'exclusive'],
  ['an append with concurrent locks', { kind: 'append', context: { useConcurrentLocks: true } }, 'append'],
  ['a replace with concurrent locks', { kind: 'replace', context: { useConcurrentLocks: 'true' } }, 'replace'],
  [
    'concurrent locks before a type of lock',
    { kind: 'replace', context: { useConcurrentLocks: true, taskLockType: 'EXCLUSIVE' } },
    'replace',
  ],
  ['a type of lock', { kind: 'append', context: { useConcurrentLocks: false, taskLockType: 'append' } }, 'append'],
  ['an exclusive append', { kind: 'append', context: { taskLockType: 'EXCLUSIVE' } }, 'exclusive'],
  ['a replace under a type of appends', { kind: 'replace', context: { taskLockType: 'SHARED' } }, 'exclusive'],
  ['a kill task', { kind: 'replace', type: 'kill', context: { useConcurrentLocks: true } }, 'replace'],
  [
    'a statement, whose context is its own',
    { kind: 'append', type: 'query_controller', spec: { context: { taskLockType: 'APPEND' } } },
    'append',
  ],
  [
    'a statement that replaces under a type of appends',
    { kind: 'replace', type: 'query_controller', spec: { context: { taskLockType: 'SHARED' } } },
    'input_invalid: context.taskLockType: found "SHARED", but a task that replaces takes one of EXCLUSIVE, REPLACE',
  ],
  [
    'an append under the type of replaces',
    { kind: 'append', context: { taskLockType: 'REPLACE' } },
    'input_invalid: context.taskLockType: found "REPLACE", but a task that appends takes one of SHARED, APPEND, EXCLUSIVE',
  ],
  [
    'an unknown type of lock',
    { kind: 'append', context: { taskLockType: 'constructor' } },
    'input_invalid: context.taskLockType: found "constructor", expected EXCLUSIVE, SHARED, APPEND or REPLACE',
  ],
  [
    'what is neither true nor false',
    { kind: 'append', context: { useConcurrentLocks: 1 } },
    'input_invalid: context.useConcurrentLocks: found 1, expected true or false',
  ],
];

for (const [title, given, expected] of CASES) locks(title, () => assert.is(lockOf(given), expected));

locks('a statement that reads waits for no lock, whatever its context asks for', () => {
  for (const [context, query] of [
    [{ useConcurrentLocks: true }, 'SELECT 1'],
    [{ taskLockType: 'EXCLUSIVE' }, 'SELECT 1'],
    [{}, 'SELECT 1'],
  ] as const) {
    const request = lockRequestOf('t', validateTask({ type: 'query_controller', spec: { query, context } }, 0));
    assert.equal(request, { taskId: 't', dataSource: '__query_select', kind: 'shared', intervals: [] });
  }
});

locks.run();
