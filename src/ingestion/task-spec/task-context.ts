// Reads the keys of a task's context that are about native tasks.

import type { ObjectReader } from '../../base/json-reader.js';
import { INERT_KEYS } from './inert-keys.js';

/** The part of the context of a native task that its run keeps to. Further keys are those of users. */
export interface TaskContextOptions {
  /** Longest time that a sub-task may run; 0: any. */
  readonly subTaskTimeoutMs: number;
}

/** @throws ServiceError `input_invalid` or `unsupported` naming the key */
export function parseTaskContext(context: ObjectReader | undefined, taskType: string): TaskContextOptions {
  if (context === undefined) return { subTaskTimeoutMs: 0 };
  for (const [key, shape] of Object.entries(INERT_KEYS.taskContext)) {
    shape(context, key);
    if (context.has(key)) context.context.inertKeys.push(context.at(key));
  }
  if (!context.boolean('storeEmptyColumns', true))
    throw context.unsupported('storeEmptyColumns', 'columns that a spec declares are stored, also without a value');
  if (taskType !== 'compact' && context.boolean('storeCompactionState', false))
    throw context.unsupported('storeCompactionState', 'only compact tasks store it');
  return { subTaskTimeoutMs: context.optionalInteger('subTaskTimeoutMillis', 0) ?? 0 };
}
