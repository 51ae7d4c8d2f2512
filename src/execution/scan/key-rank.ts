// The rank of a row by one sort key.

import type { Address } from '../../base/layout.js';
import type { Scalar } from '../../expression/value.js';
import type { Block } from '../block/context.js';
import type { Predicate } from '../filter/predicate.js';

/** A sort key bound to a segment. The rank of a row is smaller where it comes first: `offset + sign * part`, an i64. */
export interface KeyRank {
  /** Ranks are from 0 on, below it; undefined: any i64. */
  readonly count: bigint | undefined;
  /** Whether rows of one rank are equal in this key. */
  readonly isExact: boolean;
  /** Whether some row has each rank. */
  readonly usesAll: boolean;
  readonly offset: bigint;
  readonly sign: 1n | -1n;
  /** i64 parts of n rows of a block (rows[i], or i where `rows` is 0). */
  write(block: Block, rows: Address, n: number, out: Address): void;
  /** The rows of this rank or a smaller one, and maybe others; undefined: to find them is to compute the key of all rows. */
  within?(rank: bigint): Predicate;
  valueOf(rank: bigint): Scalar;
  /** The rank of a value, or where it is none of the segment's, of one after it; undefined: it may come before all rows. */
  rankOf(value: Scalar): bigint | undefined;
}
