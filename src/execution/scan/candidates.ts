// Rows of a segment that may be among the first of an order.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Scalar } from '../../expression/value.js';
import { type Block, takeBits } from '../block/context.js';
import type { SegmentScope } from '../expression/scope.js';
import { ALL, type Predicate } from '../filter/predicate.js';
import type { MatchedBlock } from './row-source.js';

/** The rows of a segment that come first, so far, and those that may tie with the last of them. */
export interface Candidates {
  readonly count: number;
  /** Whether there may be no room for another block. */
  readonly isFull: boolean;
  /** Rows that the first key alone leaves; undefined for all. */
  readonly within: Predicate | undefined;
  /**
   * The first key of the last row that is wanted, once this segment has so many. The bound it began with is not given back:
   * it need not have so many rows up to it here.
   */
  readonly bound: Scalar | undefined;
  /** @param bound  first key of the last row wanted before; @param isWhole  whether all rows of the segment take part */
  begin(bound: Scalar | undefined, isWhole: boolean): void;
  /** Adds the rows of a block that match. Returns how many these are. */
  add(matched: MatchedBlock): number;
  /** Their numbers in the segment; there are none afterwards. */
  take(): Uint32Array;
}

/** Rows of a block that match. */
export interface MatchedRows {
  /** The block, which selects them. */
  readonly block: Block;
  readonly n: number;
  /** u32 numbers in the block; 0: they are all of it. */
  readonly rows: Address;
}

/** Lists the rows of blocks that match, one block at a time. */
export function matchedRows({ arena, context: { kernels } }: SegmentScope): (matched: MatchedBlock) => MatchedRows {
  const [blockRows, bits] = [arena.take(BLOCK_ROWS * 4), takeBits(arena)];
  return ({ block, from, to, match }) => {
    const isAll = match === ALL && from === 0 && to === block.rows;
    if (isAll) return { block, n: block.rows, rows: 0 };
    if (match === ALL) kernels.bitsFill(bits, Math.ceil(block.rows / 64), from, to);
    const mask = match === ALL ? bits : match;
    const n = kernels.bitsToRows(mask, from, to, blockRows);
    return { block: match === ALL ? block : { start: block.start, rows: block.rows, selection: mask }, n, rows: blockRows };
  };
}
