import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../src/base/json-reader.js';
import { SubTaskRuns } from '../../src/ingestion/batch/sub-task-runs.js';
import type { ChildTask, TaskContext } from '../../src/ingestion/contract.js';
import { parseIndexSpec } from '../../src/ingestion/task-spec/index-spec.js';
import { taskContext } from './run-task.js';

const runs = suite('runs of sub-tasks');

const SPEC = {
  dataSchema: { dataSource: 'ds', timestampSpec: { column: 't' }, dimensionsSpec: { dimensions: ['a'] } },
  ioConfig: { inputSource: { type: 'inline', data: '' }, inputFormat: { type: 'json' } },
};

runs('a later run ends what an earlier one left of the phase it is in, and nothing of those to come', async () => {
  const left: readonly ChildTask[] = [
    { id: 'partial_dimension_cardinality_ds_left_0', state: 'RUNNING', error: null },
    { id: 'partial_dimension_cardinality_ds_done_0', state: 'SUCCESS', error: null },
    { id: 'partial_index_generate_ds_next_0', state: 'RUNNING', error: null },
    { id: 'partial_index_generic_merge_ds_last_0', state: 'PENDING', error: null },
  ];
  const stopped: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-sub-tasks-'));
  const base = taskContext(folder, []);
  const stop = async (id: string): Promise<void> => void stopped.push(id);
  const context: TaskContext = { ...base, children: { ...base.children, list: async () => left, stop } };
  const spec = parseIndexSpec(new ObjectReader(SPEC, 'spec', readContextOf('input_invalid', 'the task')), 'index_parallel');
  const subTasks = new SubTaskRuns(context, 'ds', spec.tuning.subTasks);
  assert.equal(await subTasks.run('partial_dimension_cardinality', [], () => null), []);
  assert.equal(stopped, ['partial_dimension_cardinality_ds_left_0']);
  assert.equal(await subTasks.run('partial_index_generate', [], () => null), []);
  assert.equal(stopped.slice(1), ['partial_index_generate_ds_next_0']);
  rmSync(folder, { recursive: true, force: true });
});

runs('a sub-task that runs for too long is ended, and what it did is done by another one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dolmen-sub-tasks-'));
  try {
    const base = taskContext(folder, []);
    const states = new Map<string, ChildTask>();
    const stopped: [string, string][] = [];
    let nowMs = 0;
    const context: TaskContext = {
      ...base,
      // Every look at the clock finds it a second later.
      now: () => (nowMs += 1000),
      children: {
        ...base.children,
        submit: async (payloads) => {
          for (const { id } of payloads as readonly { readonly id: string }[]) states.set(id, { id, state: 'RUNNING', error: null });
        },
        list: async () => [...states.values()],
        look: async (ids) => ids.map((id) => ({ status: { id }, progress: null })),
        stop: async (id, reason) => {
          stopped.push([id, reason]);
          states.set(id, { id, state: 'FAILED', error: reason });
        },
      },
    };
    const spec = parseIndexSpec(new ObjectReader(SPEC, 'spec', readContextOf('input_invalid', 'the task')), 'index_parallel');
    const tuning = { ...spec.tuning.subTasks, maxRetry: 1, pollMs: 1, timeoutMs: 5000 };
    const run = new SubTaskRuns(context, 'ds', tuning).run('partial_index_generate', [{ part: 1 }], () => null);
    await run.then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, /tuningConfig.maxRetry.*subTaskTimeoutMillis \(5000 ms\)/),
    );
    assert.is(stopped.length, 2);
    assert.ok(stopped.every(([, reason]) => reason.includes('context.subTaskTimeoutMillis')));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

runs.run();
