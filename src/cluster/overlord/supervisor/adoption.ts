// Finds tasks of a supervisor that it does not know: those of the Overlord before it, or of a spec before its own.

import { lowest } from '../../../base/lists.js';
import { failpoint } from '../../../configuration/failpoint.js';
import { compareOffsets, type Offsets, type StreamPosition } from '../../../model/stream/offsets.js';
import { toServiceError } from '../../rpc/message.js';
import type { KnownTask, StreamTasks } from './stream-tasks.js';
import type { SupervisorState } from './supervisor-state.js';
import { TaskGroup } from './task-group.js';
import type { TaskGroups } from './task-groups.js';

interface AdoptionOptions {
  readonly tasks: StreamTasks;
  readonly groups: TaskGroups;
  readonly state: SupervisorState;
  /** Group of a partition; undefined: there is no such partition. */
  groupOf(partition: string): number | undefined;
  /** Number of partitions of a group. */
  sizeOf(group: number): number;
  /** Name that sequences of these rows have under the spec of today. */
  nameOf(task: KnownTask): string;
  /** Time by which tasks that publish are to be done. */
  completesByMs(): number;
}

/** Takes tasks into groups: those that publish as they are, those that read if they are as the spec has them; ends the others. */
export async function adoptTasks(options: AdoptionOptions): Promise<void> {
  const { tasks, groups, state } = options;
  const unknown = (await tasks.active()).filter(({ record }) => !groups.has(record.id));
  const adopted = new Set<TaskGroup>();
  await Promise.all(
    unknown.map(async (task) => {
      try {
        const ends = await publishingEnds(task, tasks);
        if (ends !== null) addPublishing(task, ends, options);
        else {
          const group = readingGroup(task, options);
          if (group === undefined) await tasks.kill(task.record.id, 'it does not read as the spec says');
          else adopted.add(group);
        }
      } catch (error) {
        state.note(error);
        await tasks.kill(task.record.id, `it did not tell its status: ${toServiceError(error).message}`);
      }
    }),
  );
  await Promise.all([...adopted].map((group) => resume(group, tasks)));
  if (unknown.length > 0) failpoint('supervisor.adopted');
}

/** Ends of a task that publishes; null of one that reads, or starts. */
async function publishingEnds({ record }: KnownTask, tasks: StreamTasks): Promise<Offsets | null> {
  if (record.state !== 'RUNNING') return null;
  const status = await tasks
    .glance(record)
    .status()
    .catch((error: unknown) => {
      if (toServiceError(error).code === 'unavailable') return 'NOT_STARTED';
      throw error;
    });
  return status === 'PUBLISHING' ? tasks.control(record).endOffsets() : null;
}

function addPublishing(task: KnownTask, ends: Offsets, { groups, groupOf, completesByMs }: AdoptionOptions): void {
  const same = groups.publishing.find(({ baseSequenceName }) => baseSequenceName === task.baseSequenceName);
  const [first = ''] = task.start.offsets.keys();
  const group = same ?? new TaskGroup(groupOf(first) ?? 0, task.start, task.times, task.baseSequenceName);
  group.completesByMs ??= completesByMs();
  if (same === undefined) groups.publishing.push(group);
  group.add(task.record.id, task.record);
  groups.continueAt(ends);
}

/** The group that a task reads for; undefined when the spec of today would have it read otherwise. */
function readingGroup(task: KnownTask, { groups, groupOf, sizeOf, nameOf }: AdoptionOptions): TaskGroup | undefined {
  const numbers = new Set([...task.start.offsets.keys()].map((partition) => groupOf(partition)));
  const [number] = numbers;
  if (numbers.size !== 1 || number === undefined || sizeOf(number) !== task.start.offsets.size) return undefined;
  if (nameOf(task) !== task.baseSequenceName) return undefined;
  const known = groups.reading.get(number);
  if (known !== undefined && known.baseSequenceName !== task.baseSequenceName) return undefined;
  const group = known ?? new TaskGroup(number, task.start, task.times, task.baseSequenceName);
  groups.reading.set(number, group);
  group.add(task.record.id, task.record);
  return group;
}

/** An Overlord that ended between pausing tasks and telling them where to end has left them paused. */
async function resume(group: TaskGroup, tasks: StreamTasks): Promise<void> {
  for (const { record } of group.tasks.values())
    if (record?.state === 'RUNNING')
      await tasks
        .glance(record)
        .resume()
        .catch(() => undefined);
}

/**
 * Compares the sequences of a group's tasks with each other and with what is stored, so that tasks added to it begin with the first
 * sequence that is not published. Tasks that do not fit are killed.
 * @returns whether the group can go on
 */
export async function agreeOnCheckpoints(
  group: TaskGroup,
  stored: StreamPosition | undefined,
  isBehindOthers: boolean,
  { tasks, state }: Pick<AdoptionOptions, 'tasks' | 'state'>,
): Promise<boolean> {
  const told = await Promise.all(
    [...group.tasks.values()].map(async ({ id, record }) => {
      if (record?.state !== 'RUNNING') return { id, checkpoints: null };
      try {
        return { id, checkpoints: await tasks.glance(record).checkpoints() };
      } catch (error) {
        if (toServiceError(error).code !== 'unavailable') state.note(error);
        return { id, checkpoints: null };
      }
    }),
  );
  const known = told.flatMap(({ id, checkpoints }) => (checkpoints === null || checkpoints.size === 0 ? [] : [{ id, checkpoints }]));
  // Tasks that have not begun read what the group says.
  if (known.length === 0) return group.tasks.size > 0 || isBehindOthers;
  known.sort((left, right) => firstOf(right.checkpoints) - firstOf(left.checkpoints));
  let agreed: ReadonlyMap<number, Offsets> | undefined;
  for (const { id, checkpoints } of known) {
    const from = agreed === undefined ? firstUnpublished(checkpoints, stored, isBehindOthers) : firstOf(agreed);
    const rest = new Map([...checkpoints].filter(([number]) => from !== undefined && number >= from));
    if (rest.size === 0 || (agreed !== undefined && !sameCheckpoints(agreed, rest))) {
      group.tasks.delete(id);
      await tasks.kill(id, 'its sequences are not those of its group, or begin behind what is published');
    } else agreed ??= rest;
  }
  if (agreed !== undefined) group.checkpoints = agreed;
  return group.tasks.size > 0;
}

const firstOf = (checkpoints: ReadonlyMap<number, Offsets>): number => lowest([...checkpoints.keys()]);

/** Number of the sequence that begins where publishing has come to. */
function firstUnpublished(
  checkpoints: ReadonlyMap<number, Offsets>,
  stored: StreamPosition | undefined,
  isBehindOthers: boolean,
): number | undefined {
  for (const [number, offsets] of checkpoints)
    if ([...offsets].every(([partition, offset]) => compareOffsets(stored?.offsets.get(partition) ?? offset, offset) === 0)) return number;
  // Groups before this one are not published yet.
  return isBehindOthers ? firstOf(checkpoints) : undefined;
}

function sameCheckpoints(left: ReadonlyMap<number, Offsets>, right: ReadonlyMap<number, Offsets>): boolean {
  if (left.size !== right.size) return false;
  const first = firstOf(left);
  const [start, other] = [left.get(first), right.get(first)];
  if (start === undefined || other === undefined || start.size !== other.size) return false;
  return [...start].every(([partition, offset]) => other.get(partition) === offset);
}
