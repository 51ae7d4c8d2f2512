// Interface of a kind of aggregate state: create, merge, encode, decode, value.

import type { Address } from '../../base/layout.js';
import type { Value } from '../../expression/value.js';
import type { ColumnType } from '../../model/schema.js';
import type { Check } from '../block/checked-loops.js';
import type { Block, RunContext } from '../block/context.js';
import type { NumberedTexts } from '../block/result-table.js';
import type { SegmentScope } from '../expression/scope.js';
import type { NumberVector } from '../expression/vector.js';
import type { PieceStates, ValuePieces } from './quantiles/value-pieces.js';
import type { GatheredHashes, HashKind } from './sketch/gathered-hashes.js';
import type { Ending } from './timed/timed-value.js';

/**
 * One kind of state that a `state` aggregator keeps for a group: an object of this thread's heap. A state never holds
 * on to another: `merge` copies what it takes.
 */
export interface StateOperations<State> {
  /**
   * Whether the order of merging shows in the result. Then segments are not cut between threads, and states of segments
   * are kept apart until all have met, to be merged in the order of the segments.
   */
  readonly isOrdered: boolean;
  /** The value of no rows. */
  readonly emptyValue: Value;
  create(): State;
  merge(into: State, from: State): void;
  /** Size of a state, for the query's memory limit. */
  bytes(state: State): number;
  /** `decode(encode(state))` equals `state`. */
  encode(state: State): string;
  decode(text: string): State;
  /** Takes a number in, where columns may hold states and the texts of numbers. */
  addNumber?(state: State, value: number): void;
  /** Takes a null in, where it counts nulls and columns may hold states and the texts of numbers. */
  addNull?(state: State): void;
  /** Takes in a row of results, given the values of its columns: frames of windows have such. */
  addRow?(state: State, values: readonly Value[]): void;
  /** @param check  looked at in loops over what a state has collected; left out: there is little of it */
  value(state: State, check?: Check): Value;
  /** Order of results where their values do not define it: below 0, 0 or above 0. */
  compare?(a: State, b: State): number;
  /** Sketches of hashes, which groups keep as they are while there are few; absent for all other kinds. */
  readonly hashes?: HashKind;
  /** States that are bits, which groups keep as LONGs; absent for all others. */
  readonly bits?: BitKind;
  /** Store of the states of groups, where it is not objects of the heap. @param charge  told of every byte that is kept */
  store?(context: RunContext, charge: (bytes: number) => void): GroupStates;
  /** Undefined: no row of the segment changes any state. */
  bind(scope: SegmentScope, columns: readonly string[], shared: SharedWork): Feed<State> | undefined;
}

/** States of groups as text, for files and other servers. */
export interface EncodedStates {
  readonly kind: 'encoded';
  readonly groups: readonly number[];
  readonly orders: readonly number[];
  readonly states: readonly string[];
}

/** References to texts (8 bytes), one for each of `count` groups, 0 for none. */
export interface TextStates {
  readonly kind: 'texts';
  readonly references: Address;
  readonly count: number;
}

/** The best time (i64) and its value for each of `count` groups. */
export interface TimedStates {
  readonly kind: 'timed';
  readonly ending: Ending;
  readonly valueType: ColumnType;
  readonly times: Address;
  /** References to texts, 0 for null; or keys of numbers. */
  readonly values: Address;
  /** Marks of numbers, u8 by group, as `bestAtTimesI64` sets them; 0: texts. */
  readonly known: Address;
  readonly count: number;
}

/** Count, sum, mean and squared distances (f64 each) of each of `count` groups, all 0 for none. */
export interface MomentStates {
  readonly kind: 'moments';
  readonly states: Address;
  readonly count: number;
}

/** Strings by id in kernel memory: {u32 address, u32 bytes} each. */
export interface ListedStrings {
  readonly entries: Address;
  readonly count: number;
}

/** Entries of lists (kernels/list-contract.ts). `strings`: by the ids in them; undefined: they are of numbers. */
export interface ListedValues {
  readonly keys: Address;
  readonly count: number;
  readonly strings: ListedStrings | undefined;
}

/** Lists of groups: entries [start, end) came of the segment at that place of the query; without ranges their order does not matter. */
export interface ListStates extends ListedValues {
  readonly kind: 'lists';
  readonly element: 'STRING' | 'LONG' | 'DOUBLE';
  readonly ranges: readonly ListRange[];
}

export interface ListRange {
  readonly order: number;
  readonly start: number;
  readonly end: number;
}

/** Times (i64; 0: all are equal) and values of rows, by position: references to texts, or keys of numbers. */
export interface TimedRows {
  readonly times: Address;
  readonly values: Address;
  /** Whether all values are null: there are none to read. */
  readonly areNull: boolean;
  readonly groups: Address;
  readonly n: number;
}

/** Ids of texts in kernel memory. */
export interface NumberedColumn {
  readonly ids: Uint32Array;
  readonly text: (id: number) => string | null;
  readonly packed: NumberedTexts;
}

/** A kind of state that is a LONG, which rows and other states change by one operation of bits, in any order. */
export interface BitKind {
  readonly operation: 'and' | 'or' | 'xor';
  /** The state of a group that some row took part in. */
  stateOf(value: bigint): unknown;
}

/** Bits of groups, by their numbers. */
export interface BitStates {
  readonly kind: 'bits';
  readonly values: BigInt64Array;
  /** 1 where some row took part. */
  readonly seen: Uint8Array;
}

/** Hashes with the numbers of their groups, and sketches that groups have besides. */
export interface HashStates {
  readonly kind: 'hashes';
  readonly groups: Uint32Array;
  readonly kept: Uint32Array;
  readonly sketches: readonly { readonly group: number; readonly packed: Uint32Array }[];
}

/** States of another thread: plain data. */
export type StateParts = EncodedStates | BitStates | TextStates | TimedStates | MomentStates | ListStates | PieceStates | HashStates;

/** The states of one aggregator over the groups of a thread's table. */
export interface GroupStates {
  readonly isEmpty: boolean;
  /** @param order  place of the segment the state comes from among those of the query */
  add(group: number, order: number, state: unknown): void;
  /** The same of several groups, where each alone would take much longer. */
  addStates?(groups: readonly number[], order: number, states: readonly unknown[]): void;
  /**
   * Lets `work` change the states of groups themselves, absent ones created; what they have grown by is told afterwards.
   * Only for states whose order does not matter.
   */
  change(work: (stateOf: (group: number) => unknown) => void): void;
  /** Takes the texts of a feed, where these are the states: references, 0 for none, one for each of the groups. */
  addTexts?(texts: Address, groups: Address, n: number): void;
  /** The same where the states are values and their times. */
  addTimed?(rows: TimedRows): void;
  /** The same where they are moments: those of n states of another place. */
  addMoments?(states: Address, groups: Address, n: number): void;
  /** The same where they are lists. @param groupOf  u32 number here of each group of the entries */
  addLists?(values: ListedValues, groupOf: Address, order: number): void;
  /** The same where they are pieces. */
  addPieces?(pieces: ValuePieces, groupOf: Uint32Array): void;
  /** The same where they are bits. */
  addBits?(values: BigInt64Array, seen: Uint8Array, groupOf: Uint32Array): void;
  /** The same where they are hashes, or sketches of these. */
  addHashes?(hashes: GatheredHashes, groupOf: Uint32Array): void;
  /** The values of groups as texts, where they are made without an object for each; undefined: by `reader`. */
  texts?(groups: Uint32Array, check: Check): (string | null)[] | undefined;
  /** The values of groups as numbers, NaN of no values; undefined where they are none. */
  numbers?(groups: Uint32Array, check: Check): Float64Array | undefined;
  /** The values of groups as ids of texts that stay in kernel memory; absent where they are no texts there. */
  column?(groups: Uint32Array): NumberedColumn | undefined;
  /** Reads all of a group as one, undefined when no row took part; until the states change, or memory of the kernels is taken. */
  reader(): (group: number) => unknown;
  parts(): StateParts;
  /** @param groupOf  u32 number in this table of each group there */
  join(parts: StateParts, groupOf: Address, groupCount: number): void;
  /** Gives away the memory that its parts lie in. */
  handOver(): readonly Address[];
  free(): void;
}

/** Things that feeds make once for all that get the same rows of a segment, by their names. */
export type SharedWork = Map<string, unknown>;

/** Reads rows of one segment into states. */
export interface Feed<State> {
  /** Rows that are null there take no part. */
  readonly nulls: NumberVector | undefined;
  /** Row rows[i] (0: row i) of the block belongs to groups[i]. */
  add(block: Block, rows: Address, groups: Address, n: number, stateOf: (group: number) => State): void;
  /** Values that were added and are in no state yet; absent for none. */
  readonly waiting?: number;
  /** Bytes of values that are in no state; absent where states take all of it. */
  bytesOf?(): number;
  /** Called after the last row. */
  end?(stateOf: (group: number) => State): void;
  /** Called instead of `end` where texts are the states. @param groupOf  u32 number of each of the segment's groups */
  endTexts?(groupOf: Address, groupCount: number, add: (texts: Address, groups: Address, n: number) => void): void;
  /** The same where values and their times are the states. */
  endTimed?(groupOf: Address, groupCount: number, add: (rows: TimedRows) => void): void;
  /** The same where lists of the segment's groups are the states. */
  endLists?(add: (values: ListedValues) => void): void;
  /** The same where moments are the states. */
  endMoments?(groupOf: Address, groupCount: number, add: (states: Address, groups: Address, n: number) => void): void;
  /** The same where bits are the states: 1 in `seen` for groups that have some. */
  endBits?(add: (values: BigInt64Array, seen: Uint8Array) => void): void;
  /** The same where pieces are the states. @param order  place of the segment in the query */
  endPieces?(order: number, add: (pieces: ValuePieces) => void): void;
}
