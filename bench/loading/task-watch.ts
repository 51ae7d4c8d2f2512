import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { processorTime } from '../processor-time.js';

export interface TaskFigures {
  readonly processorSeconds: number;
  readonly peakBytes: number;
}

const LOOK_EVERY_MS = 10;

/**
 * Watches the task process that a server starts next, until it is gone (Linux).
 * @param ended  aborted when the task is over
 */
export async function watchTask(serverPid: number, ended: AbortSignal): Promise<TaskFigures> {
  let pid: number | undefined;
  let figures: TaskFigures = { processorSeconds: 0, peakBytes: 0 };
  while (!ended.aborted) {
    pid ??= childOf(serverPid);
    try {
      if (pid !== undefined) figures = figuresOf(pid) ?? figures;
    } catch {
      break; // it is gone
    }
    await wait(LOOK_EVERY_MS);
  }
  return figures;
}

function childOf(pid: number): number | undefined {
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [child] = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim().split(' ');
    if (child !== undefined && child !== '') return Number(child);
  }
  return undefined;
}

/** undefined: a thread ended while it was looked at, or the process is ending. */
function figuresOf(pid: number): TaskFigures | undefined {
  // Threads that ended count in `stat`, which is coarse; those that live, in `schedstat`.
  const words = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  const ticks = Number(words[11]) + Number(words[12]);
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (peak === undefined) return undefined;
  return { processorSeconds: Math.max(ticks / 100, processorTime(pid) / 1e9), peakBytes: Number(peak) * 1024 };
}
