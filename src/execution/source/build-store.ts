import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../base/errors.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { Stage } from '../../model/stage.js';
import type { BuildSide } from './build-side.js';

/** The build sides that lie in this process's kernel memory, by id. */
export class BuildStore {
  readonly #memory: KernelMemory;
  /** No other process makes the same ids. */
  readonly #prefix = randomBytes(8).toString('hex');
  readonly #sides = new Map<string, BuildSide>();
  #count = 0;

  constructor(memory: KernelMemory) {
    this.#memory = memory;
  }

  add(side: BuildSide): string {
    const id = `${this.#prefix}-${++this.#count}`;
    this.#sides.set(id, side);
    return id;
  }

  find(id: string): BuildSide | undefined {
    return this.#sides.get(id);
  }

  free(id: string): void {
    const side = this.#sides.get(id);
    this.#sides.delete(id);
    for (const address of side?.owned ?? []) this.#memory.free(address);
  }

  /** Ids and frames of the build sides that stages need and this process does not have. */
  missing(stages: readonly Stage[]) {
    return stages.flatMap((stage) => {
      if (stage.kind !== 'join' || this.#sides.has(stage.build.id)) return [];
      const { frames } = stage.build;
      if (frames === null) throw new ServiceError('internal', 'the right side of a join did not come along');
      return [{ stage, frames }];
    });
  }
}

/** Stages as they go to threads: what was placed need not be sent. */
export function withoutFrames(stages: readonly Stage[]): readonly Stage[] {
  return stages.map((stage) => (stage.kind === 'join' ? { ...stage, build: { ...stage.build, frames: null } } : stage));
}
