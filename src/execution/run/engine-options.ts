// Options of an engine.

import type { KernelMemory, MakeRoom } from '../../kernels/memory.js';
import type { HeldBytes } from '../spill/spill-space.js';
import type { ThreadPool } from '../threads/pool.js';

export interface EngineOptions {
  readonly memory: KernelMemory;
  /** Name of the kernel set for queries that name none. */
  readonly kernels: string;
  /** Processing threads; 0: everything runs where it is asked for. Or threads over this memory that someone else has, who ends them. */
  readonly threads: number | ThreadPool;
  /** Memory limit of one query over all threads (`svc.query.maxMemoryBytes`). */
  readonly queryBytesMax?: number;
  /** Whether resident columns could give way to an allocation of so many bytes. */
  readonly makeRoom?: MakeRoom;
  /** Limit of one query's group tables over all threads (`svc.query.groupBy.maxMemoryBytes`). */
  readonly groupBytesMax?: number;
  /** Directory of this process for group tables that outgrow this; undefined for none. */
  readonly spillDirectory?: string;
  /** Property that names that directory; left out: `svc.query.groupBy.spillDirectory`. */
  readonly spillDirectoryProperty?: string;
  /** Bytes of rows that a sort holds before it writes them to that directory. */
  readonly sortBytes?: number;
  /** Disk limit of one query (`svc.query.groupBy.maxOnDiskStorage`); 0 for none. */
  readonly spillBytesMax?: number;
  /** Rows of a scan that one query may hold to sort them (`svc.query.scan.maxRowsQueuedForOrdering`). */
  readonly heldRowsMax?: number;
  /** Bytes of rows that a step may hold which has to see all of them; left out: no limit. With a directory only. */
  readonly heldBytes?: HeldBytes;
  /** Plans over fewer rows run on the calling thread: a hand-over would cost more. */
  readonly rowsRunInline?: number;
  /** Rows of a morsel, where segments are cut. */
  readonly morselRows?: number;
  /** Values of the columns of a scan in time order that are in memory together, where segments follow each other in time. */
  readonly cellsAtOnce?: number;
  /** Time for which a scan that may end at once is tried on the calling thread; 0: never. */
  readonly briefMs?: number;
}
