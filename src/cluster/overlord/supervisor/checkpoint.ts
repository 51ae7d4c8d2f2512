// Sets one end for all tasks of a group.

import { failpoint } from '../../../configuration/failpoint.js';
import { compareOffsets, type Offsets } from '../../../model/stream/offsets.js';
import { toServiceError } from '../../rpc/message.js';
import type { StreamTasks } from './stream-tasks.js';
import type { SupervisorState } from './supervisor-state.js';
import type { TaskGroup } from './task-group.js';

interface Tools {
  readonly tasks: StreamTasks;
  readonly state: SupervisorState;
}

/**
 * Pauses the tasks of a group, ends their sequence at the furthest offsets that one of them has read, and has them go on to there. A
 * task that does not answer is killed: its replicas do without it.
 * @param finish  they publish and end, rather than begin their next sequence
 * @returns the ends; null: no task is left, or the group is done
 */
export async function checkpointGroup(group: TaskGroup, finish: boolean, { tasks, state }: Tools): Promise<Offsets | null> {
  if (finish) {
    const done = [...group.tasks.values()].find(({ record }) => record?.state === 'SUCCESS');
    if (done !== undefined) {
      state.taskEnded(true);
      await killOthers(group, `task ${done.id} of its group has succeeded`, tasks);
      return null;
    }
    for (const { id, record } of group.tasks.values())
      if (record === null || record.state === 'WAITING' || record.state === 'PENDING') await drop(group, id, 'no worker has it yet', tasks);
  }
  const ends = new Map<string, string>();
  await forEachTask(group, { tasks, state }, 'did not pause', async (control) => {
    const offsets = await control.pause();
    if (offsets.size === 0) throw new Error('it told no offsets');
    for (const [partition, offset] of offsets) {
      const known = ends.get(partition);
      if (known === undefined || compareOffsets(known, offset) < 0) ends.set(partition, offset);
    }
  });
  if (group.tasks.size === 0) return null;
  failpoint('supervisor.paused');
  await forEachTask(group, { tasks, state }, 'took no end', (control) => control.setEndOffsets(ends, finish));
  failpoint('supervisor.ended');
  return group.tasks.size === 0 ? null : ends;
}

/** Calls the tasks of a group at once; those that fail are killed and leave the group. */
async function forEachTask(
  group: TaskGroup,
  { tasks, state }: Tools,
  fault: string,
  work: (control: ReturnType<StreamTasks['control']>) => Promise<void>,
): Promise<void> {
  await Promise.all(
    [...group.tasks.values()].map(async ({ id, record }) => {
      try {
        if (record === null) throw new Error('it is not known yet');
        await work(tasks.control(record));
      } catch (error) {
        state.note(error);
        await drop(group, id, `it ${fault}: ${toServiceError(error).message}`, tasks);
      }
    }),
  );
}

async function drop(group: TaskGroup, taskId: string, reason: string, tasks: StreamTasks): Promise<void> {
  group.tasks.delete(taskId);
  await tasks.kill(taskId, reason);
}

/** Ends the unfinished tasks of a group. */
export async function killOthers(group: TaskGroup, reason: string, tasks: StreamTasks): Promise<void> {
  for (const { id, record } of group.tasks.values())
    if (record?.state !== 'SUCCESS' && record?.state !== 'FAILED') await tasks.kill(id, reason);
}
