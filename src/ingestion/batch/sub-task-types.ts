// Types of sub-tasks.

/** Types of sub-tasks of an `index_parallel` task, as the interface calls them. */
export const SUB_TASK_TYPES = [
  'single_phase_sub_task',
  'partial_dimension_cardinality',
  'partial_dimension_distribution',
  'partial_index_generate',
  'partial_range_index_generate',
  'partial_index_generic_merge',
] as const;
export type SubTaskType = (typeof SUB_TASK_TYPES)[number];

export function isSubTaskType(type: string): type is SubTaskType {
  return (SUB_TASK_TYPES as readonly string[]).includes(type);
}
