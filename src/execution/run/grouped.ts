// Runs a grouping over segments on several threads and merges their tables.

import { extended } from '../../base/names.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { Frame } from '../../model/frame.js';
import { morselsOf } from '../group/run.js';
import type { GroupTableParts } from '../group/table/group-parts.js';
import { keepsRight } from '../join/with-stages.js';
import type { BestRows } from '../post/parts.js';
import type { Executor } from '../threads/executor.js';
import type { GroupRequest } from '../threads/group-stream.js';
import type { StreamItem } from '../threads/stream-items.js';
import type { RunOptions } from './engine.js';
import type { Executors } from './executors.js';
import type { KeepBuilt, StreamReader } from './read-streams.js';
import type { RunControls } from './run-controls.js';

interface GroupRun {
  readonly memory: KernelMemory;
  readonly executors: Executors;
  /** Executor of a grouping that is not divided. */
  readonly place: Executor;
  readonly controls: RunControls;
  readonly reader: StreamReader;
  readonly keep: KeepBuilt | undefined;
  /** Rows of a morsel, where segments are cut. */
  readonly morselRows: number;
}

/**
 * Groups the rows of segments: on one thread where they are few, else each thread takes morsels into a table of its own,
 * and the last one merges the tables of all.
 */
export function runGrouped(group: GroupRun, run: Omit<GroupRequest, 'cut' | 'ending'>, options: RunOptions): AsyncGenerator<Frame> {
  const { executors, place, reader, keep, morselRows } = group;
  const { ending, profile } = options;
  const { control, plan, data, builds } = run;
  const threads = executors.runsInline(control.rows) ? 1 : executors.threads;
  const cut = { threads, morselRows: morselRows };
  const morselCount = threads === 1 ? 1 : morselsOf(data.views, plan, cut).length;
  if (morselCount >= 2) return runOnThreads(group, { control, plan, data, builds, cut, ending }, options, morselCount);
  const stream = place.open('group', { control, plan, data, builds, cut, ending, awaitsParts: false });
  return reader.read(stream, 'group', profile, { keep });
}

async function* runOnThreads(
  { memory, executors, controls, reader, keep }: GroupRun,
  request: GroupRequest,
  { profile }: RunOptions,
  morselCount: number,
): AsyncGenerator<Frame> {
  const { control } = request;
  const { threads } = request.cut;
  const [last = executors.inline, ...others] = executors.threadsFor(Math.min(threads, morselCount), control);
  const stream = last.open('group', extended(request, { awaitsParts: true }));
  const parts: GroupTableParts[] = [];
  let failure: unknown;
  // A thread that fails stops the others; all have ended before memory is given back.
  const all = async (work: readonly Promise<unknown>[]): Promise<void> => {
    await Promise.all(
      work.map((each) =>
        each.catch((error: unknown) => {
          failure ??= error;
          controls.cancel(control);
        }),
      ),
    );
  };
  const freeParts = (): void => {
    for (const { owned } of parts) for (const address of owned) memory.free(address);
  };
  let divided: StreamItem['divided'];
  // This thread's counts come with its frames.
  const own = (): Promise<void> =>
    stream.next().then((item) => {
      divided = item?.divided;
      if (divided !== undefined) parts.push(divided.parts);
    });
  await all([
    own(),
    ...others.map(async (thread) => {
      const result = await thread.call('groupPart', request);
      parts.push(result.parts);
      reader.count(result.counts, 'group', profile);
    }),
  ]);
  // Rows that only right sides have are the last thread's to add, now that all others are through.
  if (failure === undefined && keepsRight(request.plan)) await all([own()]);
  const isShared = failure === undefined && divided !== undefined && parts.length > 1 && parts.every(({ spilled }) => spilled === null);
  const best: BestRows[] = [];
  let columns: StreamItem['columns'];
  if (isShared && divided?.isInColumns === true)
    await all([stream.next({ kind: 'divided', parts }).then((item) => (columns = item?.columns))]);
  const isDealt = isShared && failure === undefined && (divided?.isInColumns === false || columns !== undefined);
  if (isDealt) {
    Atomics.store(memory.i32(control.flags, 2), 1, 0);
    await all([
      stream.next(columns === undefined ? { kind: 'divided', parts } : undefined),
      ...others.map(async (thread) => {
        const given = { ...request, tables: parts };
        if (columns === undefined) {
          const result = await thread.call('groupBest', given);
          best.push(result.best);
          reader.count(result.counts, 'group', profile);
        } else reader.count((await thread.call('groupColumns', { ...given, into: columns.columns })).counts, 'group', profile);
      }),
    ]);
    freeParts();
    parts.length = 0;
  }
  if (failure !== undefined) {
    await stream.close();
    freeParts();
    for (const address of columns?.owned ?? []) memory.free(address);
    throw failure;
  }
  yield* reader.read(stream, 'group', profile, { input: isDealt ? { kind: 'best', best } : { kind: 'parts', parts }, keep });
}
