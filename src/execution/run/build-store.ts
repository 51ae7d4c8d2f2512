// Keeps the uploaded build sides of joins, shared between the runs of a query.

import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import { createByName } from '../../base/names.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { Frame } from '../../model/frame.js';
import type { RowPlan } from '../../model/plan.js';
import type { JoinStage, Stage } from '../../model/stage.js';
import type { BuildRequest } from '../../model/upload.js';
import type { BuildSide } from '../join/build-side.js';
import type { Builds } from '../join/with-stages.js';
import type { OpenStream } from '../threads/executor.js';
import type { RunControl } from '../threads/thread-context.js';
import type { UploadedRows } from './engine.js';
import { feed, peek } from './row-feed.js';

/** Rows of frames that are looked at before it is decided where they are uploaded. */
export const ROWS_AHEAD = 2000;

/** Opens a stream that places a build side of about so many rows; null: of many. */
type OpenBuild = (side: BuildRequest, rowCount: number | null, control: RunControl) => OpenStream;

interface KeptSide {
  readonly side: BuildSide;
  users: number;
  readonly held: (() => void)[];
}

/** The build sides that lie in this process's kernel memory, by id. */
export class BuildStore {
  readonly #memory: KernelMemory;
  readonly #open: OpenBuild;
  /** No other process makes the same ids. */
  readonly #prefix = randomBytes(8).toString('hex');
  readonly #sides = new Map<string, KeptSide>();
  #count = 0;

  constructor(memory: KernelMemory, open: OpenBuild) {
    this.#memory = memory;
    this.#open = open;
  }

  /** An id for a result that is to be left in memory. */
  reserve(): string {
    return `${this.#prefix}-${++this.#count}`;
  }

  /**
   * Takes a build side over, under an id that was reserved.
   * @param parents  ids of the build sides whose columns it has
   */
  add(id: string, side: BuildSide, parents: readonly string[] = []): Frame {
    this.#sides.set(id, { side, users: 1, held: [] });
    for (const parent of parents) this.share(parent, id);
    return { rowCount: 0, columns: [], uploaded: { id, rowCount: side.view.rowCount, bytes: side.bytes } };
  }

  /** Keeps a build side until another one, which has columns of it, is released. */
  share(parent: string, id: string): void {
    const kept = this.#sides.get(parent);
    if (kept === undefined) return;
    kept.users++;
    this.hold(id, () => this.release(parent));
  }

  /** Has something let go, such as a pin, when the build side is released. */
  hold(id: string, letGo: () => void): void {
    const kept = this.#sides.get(id);
    if (kept === undefined) letGo();
    else kept.held.push(letGo);
  }

  /** Gives an id back, with what lies in memory under it once nothing else has columns of it. */
  release(id: string): void {
    const kept = this.#sides.get(id);
    if (kept === undefined || --kept.users > 0) return;
    this.#sides.delete(id);
    for (const address of kept.side.owned) this.#memory.free(address);
    for (const letGo of kept.held) letGo();
  }

  find(id: string): BuildSide | undefined {
    return this.#sides.get(id)?.side;
  }

  /** Places rows, on a thread where there are many; gives one result. */
  async *place(rows: AsyncIterable<Frame>, side: BuildRequest, control: RunControl): AsyncGenerator<UploadedRows> {
    const source = await peek(rows, ROWS_AHEAD);
    for await (const { built } of feed(() => this.#open(side, source.rowCount, control), source.rows)) {
      if (built === undefined) continue;
      const id = this.reserve();
      this.add(id, built);
      yield { id, rowCount: built.view.rowCount, bytes: built.bytes, release: () => this.release(id) };
    }
  }

  /**
   * Runs `work` with the build sides of the plan's joins, of which those that came along are uploaded for so long. It gets
   * the plan as it goes to threads: what was uploaded need not be sent.
   */
  with(plan: RowPlan, control: RunControl, work: (plan: RowPlan, builds: Builds) => AsyncIterable<Frame>): AsyncIterable<Frame> {
    return plan.stages === undefined || plan.stages.length === 0
      ? work(plan, createByName())
      : this.#withStages(plan, plan.stages, control, work);
  }

  async *#withStages(
    plan: RowPlan,
    given: readonly Stage[],
    control: RunControl,
    work: (plan: RowPlan, builds: Builds) => AsyncIterable<Frame>,
  ): AsyncGenerator<Frame> {
    const stages: Stage[] = [];
    const placed: UploadedRows[] = [];
    const builds = createByName<BuildSide>();
    try {
      for (const stage of given) {
        if (stage.kind !== 'join') {
          stages.push(stage);
          continue;
        }
        let { id } = stage.build;
        if (!this.#sides.has(id))
          for await (const rows of this.place(
            framesOf(stage),
            { keys: stage.keys, ranges: stage.ranges ?? [], keysOnly: false, marked: false, bytesMax: Infinity, limit: '' },
            control,
          )) {
            placed.push(rows);
            id = rows.id;
          }
        const side = this.find(id);
        if (side !== undefined) builds[id] = side;
        stages.push({ ...stage, build: { id, frames: null } });
      }
      yield* work({ ...plan, stages }, builds);
    } finally {
      for (const rows of placed) rows.release();
    }
  }
}

async function* framesOf({ build: { frames } }: JoinStage): AsyncGenerator<Frame> {
  if (frames === null) throw new ServiceError('internal', 'the right side of a join did not come along');
  yield* frames;
}
