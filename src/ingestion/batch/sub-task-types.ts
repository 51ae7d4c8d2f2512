// Types of sub-tasks.

/** Types of sub-tasks of an `index_parallel` task, as the interface calls them. */
export const SUB_TASK_TYPES = ['single_phase_sub_task'] as const;
export type SubTaskType = (typeof SUB_TASK_TYPES)[number];

export function isSubTaskType(type: string): type is SubTaskType {
  return (SUB_TASK_TYPES as readonly string[]).includes(type);
}
