import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { taskBody } from '../../src/cluster/overlord/task-body.js';
import type { TaskRecord } from '../../src/metadata/tasks.js';

const TASK: TaskRecord = {
  id: 't',
  groupId: 't',
  type: 'index_parallel',
  dataSource: 'd',
  state: 'RUNNING',
  priority: 50,
  createdMs: 0,
  queuedMs: 0,
  startedMs: 0,
  finishedMs: null,
  workerHost: null,
  workerSession: null,
  attempts: 1,
  error: null,
  parentId: null,
  claimedBy: null,
};

const bodies = suite('tasks as status calls show them');

const LOCATIONS: readonly (readonly [worker: string | null, isTls: boolean, location: object])[] = [
  [null, false, { host: null, port: -1, tlsPort: -1 }],
  [null, true, { host: null, port: -1, tlsPort: -1 }],
  ['worker-1:8091', false, { host: 'worker-1', port: 8091, tlsPort: -1 }],
  ['worker-1:8291', true, { host: 'worker-1', port: -1, tlsPort: 8291 }],
  ['[::1]:8091', false, { host: '[::1]', port: 8091, tlsPort: -1 }],
];
for (const [workerHost, isTls, location] of LOCATIONS)
  bodies(`a task at ${workerHost}${isTls ? ', with TLS' : ''}`, () =>
    assert.equal(taskBody({ ...TASK, workerHost }, isTls)['location'], location),
  );

bodies.run();
