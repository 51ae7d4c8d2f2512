// Context of queries on a thread: its memory and kernels, deadlines, cancellation.

import { threadId } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import type { Address } from '../../base/layout.js';
import type { KernelSet } from '../../kernels/contract.js';
import { ACCOUNT_BYTES, type KernelMemory, type MemoryAccount } from '../../kernels/memory.js';
import type { KernelSets } from '../../kernels/registry.js';
import type { RunLimits } from '../../model/run-limits.js';
import { cancelledError, type RunContext } from '../block/context.js';
import { KernelTimes } from '../block/kernel-times.js';
import { giveAway } from '../block/own-time.js';
import type { ComputedValues } from '../block/row-counts.js';
import { type SpillPlace, SpillSpace } from '../spill/spill-space.js';

/** Settings of a query's run on a thread; plain data. */
export interface RunControl {
  /** i32 words in kernel memory: 1 once cancelled; number of the next morsel to take; KiB spilled to disk. */
  readonly flags: Address;
  readonly deadlineMs: number;
  readonly kernels: string;
  readonly batchRows: number;
  readonly groupBytesMax: number;
  /** Disk space for spilled group tables; null for none. */
  readonly spill: SpillPlace | null;
  /** Rows that a sort of scanned rows may hold. */
  readonly heldRowsMax: number;
  /** Work of a higher one goes first, between any two blocks. */
  readonly priority: number;
  /** About how many rows the run reads: small work goes before large work that has not waited much longer. */
  readonly rows: number;
  readonly limits: RunLimits;
  /** Account of everything that the query allocates. */
  readonly account: MemoryAccount;
}

/** Size of the flags and the account's words after them. */
export const FLAG_BYTES = 16 + ACCOUNT_BYTES;
export const ACCOUNT_OFFSET = 16;

/** One segment in so many is read by kernels that are looked at. */
const SEGMENTS_PER_SAMPLE = 8;
/** Looking at kernels takes as long as reading some blocks. */
const SAMPLED_ROWS_MIN = 50_000;

/** A thread's own things. */
export class ThreadContext {
  readonly memory: KernelMemory;
  readonly #kernels: KernelSets;
  readonly #yieldToUrgent: () => number;
  readonly #sampledRowsMin: number;

  /**
   * @param yieldToUrgent   called between blocks: does what is more urgent, and tells how many milliseconds that took
   * @param sampledRowsMin  of a segment whose kernels may be looked at
   */
  constructor(memory: KernelMemory, kernels: KernelSets, yieldToUrgent: () => number, sampledRowsMin = SAMPLED_ROWS_MIN) {
    this.memory = memory;
    this.#kernels = kernels;
    this.#yieldToUrgent = yieldToUrgent;
    this.#sampledRowsMin = sampledRowsMin;
  }

  kernels(name?: string): KernelSet {
    return this.#kernels.get(name);
  }

  /** @param computed  counts that the run adds to */
  context(
    { flags, deadlineMs, limits, kernels, batchRows, groupBytesMax, spill, account }: RunControl,
    computed: ComputedValues,
  ): RunContext {
    const words = this.memory.i32(flags, 1);
    const yieldToUrgent = this.#yieldToUrgent;
    const sampledRowsMin = this.#sampledRowsMin;
    const { perSegmentTimeout = null } = limits;
    let segmentDeadlineMs = Infinity;
    let segments = 0;
    let looked: RunContext | undefined;
    const context: RunContext = {
      memory: this.memory.charging(account),
      kernels: this.kernels(kernels),
      batchRows,
      groupBytesMax,
      spill: spill === null ? undefined : new SpillSpace(spill, this.memory, threadId),
      check: () => {
        if (Atomics.load(words, 0) !== 0) throw cancelledError();
        const now = Date.now();
        if (now > segmentDeadlineMs)
          throw new ServiceError('timeout', 'the query worked on one segment for longer than the context key perSegmentTimeout allows');
        if (now > deadlineMs)
          throw new ServiceError('timeout', 'the query did not end before its deadline; the limit is the context key timeout');
        segmentDeadlineMs += giveAway(yieldToUrgent);
      },
      beginSegment: () => {
        if (perSegmentTimeout !== null) segmentDeadlineMs = Date.now() + perSegmentTimeout;
      },
      computed,
      times: undefined,
      sampled: (rows) => {
        if (rows < sampledRowsMin || segments++ % SEGMENTS_PER_SAMPLE !== 0) return context;
        if (looked === undefined) {
          const times = new KernelTimes();
          looked = { ...context, times, kernels: times.over(context.kernels) };
        }
        return looked;
      },
    };
    return context;
  }
}
