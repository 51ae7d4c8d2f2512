// Disk space that a query may spill to.

import { mkdirSync } from 'node:fs';
import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import { type SpillBudget, SpillFile } from './spill-file.js';

/** Limit of the bytes of rows that are held. */
export interface HeldBytes {
  readonly max: number;
  /** Property that sets it. */
  readonly property: string;
}

/** Disk space of one query for what its memory does not hold; plain data. */
export interface SpillPlace {
  /** Folder of this query alone; created when a thread first needs it, removed by the query's owner. */
  readonly folder: string;
  /** Property that says where the folder lies. */
  readonly directoryProperty: string;
  /** Most bytes on disk at once, of all threads together. */
  readonly bytesMax: number;
  /** Bytes of rows that a sort holds before it writes a sorted run. */
  readonly sortBytes: number;
  /** Limit of rows that a step holds which has to see all of them; null: none. */
  readonly heldBytes: HeldBytes | null;
  /** Two i32 in kernel memory: KiB on disk now, of all threads; and 1 once a thread has made the folder. */
  readonly used: Address;
}

/** Whether a thread has made the folder of a query. */
export function hasFolder({ used }: SpillPlace, memory: KernelMemory): boolean {
  return Atomics.load(memory.i32(used, 2), 1) === 1;
}

const KIBIBYTE = 1024;
let filesMade = 0;

/** The disk space of one query, as one thread sees it. */
export class SpillSpace implements SpillBudget {
  readonly #place: SpillPlace;
  readonly #memory: KernelMemory;
  readonly #thread: number;

  /** @param thread  number of the thread in this process, so that names of files differ */
  constructor(place: SpillPlace, memory: KernelMemory, thread: number) {
    this.#place = place;
    this.#memory = memory;
    this.#thread = thread;
  }

  get directoryProperty(): string {
    return this.#place.directoryProperty;
  }

  get sortBytes(): number {
    return this.#place.sortBytes;
  }

  get heldBytes(): HeldBytes | null {
    return this.#place.heldBytes;
  }

  create(): SpillFile {
    Atomics.store(this.#words(), 1, 1);
    mkdirSync(this.#place.folder, { recursive: true });
    return new SpillFile(`${this.#place.folder}/${this.#thread}-${++filesMade}.spill`, this);
  }

  /** @throws ServiceError `resource_limit` */
  reserve(bytes: number): void {
    const kibibytes = Math.ceil(bytes / KIBIBYTE);
    const used = Atomics.add(this.#words(), 0, kibibytes) + kibibytes;
    if (used * KIBIBYTE <= this.#place.bytesMax) return;
    this.release(bytes);
    throw new ServiceError(
      'resource_limit',
      `the groups of the query need more than ${this.#place.bytesMax} bytes on disk; the limits are svc.query.groupBy.maxOnDiskStorage and the context key maxOnDiskStorage`,
    );
  }

  /** Releases one whole reservation. */
  release(bytes: number): void {
    Atomics.sub(this.#words(), 0, Math.ceil(bytes / KIBIBYTE));
  }

  #words(): Int32Array {
    return this.#memory.i32(this.#place.used, 2);
  }
}
