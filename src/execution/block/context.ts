// Context of one thread running one query: memory, kernels, scratch space, blocks.

import { ServiceError } from '../../base/errors.js';
import { type Address, BLOCK_ROWS, type Physical } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { KernelSet } from '../../kernels/contract.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { SpillSpace } from '../spill/spill-space.js';
import type { KernelTimes } from './kernel-times.js';
import type { ComputedValues } from './row-counts.js';

/** Context of one thread working on one query. */
export interface RunContext {
  readonly memory: KernelMemory;
  readonly kernels: KernelSet;
  /** Throws `cancelled` or `timeout`; called between blocks. */
  check(): void;
  /** Counts the values of expressions that no kernel computes. */
  readonly computed: ComputedValues;
  /** Kernel times, where they are sampled; see `sampled`. */
  readonly times: KernelTimes | undefined;
  /** Context for a segment about to be read: some segments are read by kernels whose calls are counted and timed. */
  sampled(rows: number): RunContext;
  /** Marks that another segment is read from here on, so that the time a segment may take begins anew. */
  beginSegment(): void;
  /** Rows handled by one set of kernel calls; at most BLOCK_ROWS. */
  readonly batchRows: number;
  /** Memory limit of this thread's group tables. */
  readonly groupBytesMax: number;
  /** Disk space for group tables that outgrow it; undefined for none. */
  readonly spill: SpillSpace | undefined;
}

/** Context and memory of a piece of work; the memory ends with `arena`. */
export interface Scratch {
  readonly context: RunContext;
  readonly arena: Arena;
}

/** Rows [start, start + rows) of a segment; `start` is a multiple of BLOCK_ROWS. Bit arrays and row numbers count from `start`. */
export interface Block {
  readonly start: number;
  readonly rows: number;
  /** Bits of the rows whose values are read; what is computed for others may be anything. Absent: all are. */
  readonly selection?: Address;
}

export function blockAt(row: number, rowCount: number): Block {
  const start = row - (row % BLOCK_ROWS);
  return { start, rows: Math.min(BLOCK_ROWS, rowCount - start) };
}

/** The block that rows [from, to) begin in, and with it those that follow as far as they lie within, `rowsMax` rows in all. */
export function stretchAt(from: number, to: number, rowCount: number, rowsMax: number): Block {
  const block = blockAt(from, rowCount);
  if (block.start !== from) return block;
  const rows = Math.min(rowsMax, to - from);
  const whole = from + rows === rowCount ? rows : rows - (rows % BLOCK_ROWS);
  return whole > block.rows ? { start: from, rows: whole } : block;
}

/** 64-bit words of a bit array over the rows of a block; what lies behind them is undefined. */
export function wordsOf(block: Block): number {
  return Math.ceil(block.rows / 64);
}
const BLOCK_BIT_BYTES = BLOCK_ROWS / 8;

/** One bit per row of a block. */
export function takeBits(arena: Arena): Address {
  return arena.take(BLOCK_BIT_BYTES);
}

/**
 * Clears memory at an address that is a multiple of 8, up to the next multiple of 8: every allocation reaches that far.
 * A kernel does it at memory speed; filling a shared typed array takes up to ten times as long.
 */
export function clear({ kernels }: Pick<RunContext, 'kernels'>, at: Address, bytes: number): void {
  if (bytes > 0) kernels.bitsFill(at, Math.ceil(bytes / 8), 0, 0);
}

/** Copies `count` u32, an even number, and clears what follows up to `room`. */
export function copyWords(context: Pick<RunContext, 'kernels'>, from: Address, count: number, to: Address, room: number): void {
  context.kernels.toI64I64(from, 0, count / 2, 0n, to);
  clear(context, to + count * 4, (room - count) * 4);
}

/** Places by number, u32, 0 where there is nothing yet. */
export interface Places {
  readonly at: Address;
  readonly count: number;
}

/** Room for at least `count` places, in memory that `take` gives; undefined where there is enough. */
export function grownPlaces(
  context: Pick<RunContext, 'kernels'>,
  { at, count: before }: Places,
  count: number,
  take: (bytes: number) => Address,
): Places | undefined {
  if (count <= before) return undefined;
  const room = 2 ** Math.ceil(Math.log2(count));
  const places = take(room * 4);
  copyWords(context, at, before, places, room);
  return { at: places, count: room };
}

export function takeZeroed(arena: Arena, context: Pick<RunContext, 'kernels'>, bytes: number): Address {
  const at = arena.take(bytes);
  clear(context, at, bytes);
  return at;
}

/**
 * The kernel of a family for a type of values: `kernelFor(kernels, 'sumRuns', 'U16')`. The one place where kernels
 * are found by a composed name; the type makes sure that the contract has it.
 */
export function kernelFor<Family extends string, Type extends Physical>(
  kernels: KernelSet,
  family: Family,
  type: Type,
): KernelSet[Extract<`${Family}${Type}`, keyof KernelSet>] {
  return kernels[`${family}${type}` as Extract<`${Family}${Type}`, keyof KernelSet>];
}

export function cancelledError(): ServiceError {
  return new ServiceError('cancelled', 'the query was cancelled');
}
