import { readdirSync, readFileSync } from 'node:fs';

/** Nanoseconds of processor time that a process has taken so far, over all its threads (Linux). */
export function processorTime(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]), 0);
}
