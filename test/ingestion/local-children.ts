// Children of a task that a test runs in its own process.

import { stringifyJson } from '../../src/base/json.js';
import { runHere } from '../../src/cluster/middlemanager/child-run.js';
import type { ChildPayload, ChildTask, ChildTasks, TaskContext, TaskOutcome } from '../../src/ingestion/contract.js';
import { runTask, validateTask } from '../../src/ingestion/task.js';
import type { DeepStorage } from '../../src/storage/contract.js';

interface Child {
  readonly payload: ChildPayload;
  state: ChildTask['state'];
  error: string | null;
  report: string | null;
  attempts: number;
}

export interface LocalChildren {
  readonly context: TaskContext;
  /** Children by id, in the order in which they were submitted. */
  readonly children: ReadonlyMap<string, Child>;
}

/**
 * A context whose children wait for workers that never come: the task runs them itself.
 * @param failing  run before each child; one that throws fails it
 */
export function withLocalChildren(
  base: TaskContext,
  storage: Pick<DeepStorage, 'push' | 'pull'>,
  failing: (payload: ChildPayload) => void = () => undefined,
): LocalChildren {
  const children = new Map<string, Child>();
  const childOf = (id: string): Child => {
    const child = children.get(id);
    if (child === undefined) throw new Error(`no child ${id}`);
    return child;
  };
  const run = async (payload: unknown, context: TaskContext): Promise<TaskOutcome> => {
    try {
      failing(payload as ChildPayload);
    } catch (error) {
      return { succeeded: false, errorMessage: String(error), report: {} };
    }
    return runTask(payload, context);
  };
  const tasks: ChildTasks = {
    async submit(payloads) {
      for (const written of payloads) {
        const payload = JSON.parse(stringifyJson(written)) as ChildPayload;
        if (validateTask(payload, 0).isChild !== true) throw new Error(`${payload.type} is not a type of children`);
        if (!children.has(payload.id)) children.set(payload.id, { payload, state: 'PENDING', error: null, report: null, attempts: 0 });
      }
    },
    list: async () => [...children].map(([id, { state, error }]) => ({ id, state, error })),
    documents: async (id) => ({ payload: stringifyJson(childOf(id).payload), report: childOf(id).report }),
    look: async (ids) => ids.map((id) => ({ status: { id, status: childOf(id).state }, progress: null })),
    async stop(id, reason) {
      Object.assign(childOf(id), { state: 'FAILED', error: reason });
    },
    async claim(id) {
      const child = childOf(id);
      if (child.state !== 'PENDING') return null;
      child.state = 'RUNNING';
      return ++child.attempts;
    },
    async ended(id, _attempt, { succeeded, errorMessage, report }) {
      Object.assign(childOf(id), { state: succeeded ? 'SUCCESS' : 'FAILED', error: errorMessage, report: stringifyJson(report) });
    },
  };
  const context: TaskContext = {
    ...base,
    children: {
      ...tasks,
      runHere: ({ id }, progress) => runHere(childOf(id).payload, { parent: context, storage: storage as DeepStorage, run, progress }),
    },
  };
  return { context, children };
}
