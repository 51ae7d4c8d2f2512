// Reads the payload of a sub-task.

import type { ObjectReader } from '../../base/json-reader.js';
import { type IndexSpec, parseIndexSpec } from '../task-spec/index-spec.js';
import type { SubTaskType } from './sub-task-types.js';

/** Payload of a sub-task, which only its supervisor task writes. */
export interface SubTaskSpec {
  readonly type: SubTaskType;
  readonly spec: IndexSpec;
}

const NAMES = ['id', 'groupId', 'resource', 'context', 'dataSource', 'supervisorTaskId', 'subtaskSpecId', 'numAttempts'];

/** @throws ServiceError `input_invalid` naming the field */
export function parseSubTask(fields: ObjectReader, type: SubTaskType): SubTaskSpec {
  fields.accept([...NAMES, 'spec']);
  fields.string('supervisorTaskId');
  return { type, spec: parseIndexSpec(fields.object('spec'), 'index_parallel') };
}
