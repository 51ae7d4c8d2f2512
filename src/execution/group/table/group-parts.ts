// A group table as plain data that crosses threads.

import type { Address } from '../../../base/layout.js';
import type { StateParts } from '../../aggregate-state/state-operations.js';
import type { PairMemory } from '../../block/pair-set.js';
import type { SpilledBytes } from '../../spill/spill-file.js';
import type { PooledValues } from '../key/key-pool.js';
import type { SpilledValues } from '../spill/spilled-values.js';

/** A group table as plain data, for another thread to combine; its memory goes with it. */
export interface GroupTableParts {
  readonly groupCount: number;
  readonly present: Address;
  /** dense, of groups that were spilled: u32 cell of each group; 0: group i is cell i. */
  readonly cells: Address;
  readonly keys: Address;
  readonly states: readonly {
    at: Address;
    seen: Address;
    bits: Address;
    /** Without slots where they were spilled. */
    pairs: (Pick<PairMemory, 'keys' | 'count'> & Partial<PairMemory>) | undefined;
    objects: StateParts | undefined;
  }[];
  readonly pools: readonly PooledValues[];
  readonly distinctPools: readonly PooledValues[];
  readonly owned: readonly Address[];
  /** Groups that the table wrote to disk before. */
  readonly spilled: SpilledGroups | null;
  /** Set where groups lie by parts of their keys' hash; several may then have one key. */
  readonly division: Division | undefined;
}

/** Upper bits of a key's hash that its part is. */
export const DIVISION_BITS = 8;
export const PARTS = 2 ** DIVISION_BITS;

/** Blocks of groups, each in the order of their parts. */
export interface Division {
  /** u32[PARTS + 1] per block: numbers of the first group of each part, and behind the last (`divideKeys`). */
  readonly starts: Address;
  readonly blocks: number;
}

/** Groups of one partition, written at once. */
export interface SpilledChunk {
  readonly partition: number;
  readonly offset: number;
  readonly groupCount: number;
  /** Number of pairs by aggregator; 0 where it keeps none. */
  readonly pairCounts: readonly number[];
  /** Location of the aggregate states by aggregator; null where it has none. */
  readonly objects: readonly (SpilledBytes | null)[];
  /** Interned values that the groups refer to, by key and by aggregator; null where there are none. */
  readonly pools: readonly (SpilledValues | null)[];
  readonly distinctPools: readonly (SpilledValues | null)[];
}

/** Files that a table has written, as plain data. */
export interface SpilledGroups {
  readonly path: string;
  readonly chunks: readonly SpilledChunk[];
}
