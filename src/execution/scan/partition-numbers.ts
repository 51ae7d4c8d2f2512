// Numbers of the partitions of rows, from 0 on.

import { type Address, BLOCK_ROWS } from '../../base/layout.js';
import type { Arena } from '../../kernels/arena.js';
import type { Block, RunContext } from '../block/context.js';
import { PairSet } from '../block/pair-set.js';
import type { Ranks } from './rank.js';

/** Partitions that are numbered by their ranks in any number of rows. */
const DENSE_MAX = 1 << 16;

/** Numbers of the partitions of rows: their rank where these are few, else in the order in which they come. */
export class PartitionNumbers {
  readonly #context: RunContext;
  readonly #seen: PairSet | undefined;
  readonly #ranksAt: Address;
  readonly #halves: Address;
  readonly #out: Address;
  /** Number of partitions that there can be. */
  readonly most: number;

  /** @param ways  number of ranks that partitions can have; undefined: any i64 */
  constructor(context: RunContext, arena: Arena, ways: bigint | undefined, rowCount: number) {
    const isDense = ways !== undefined && ways <= BigInt(Math.max(DENSE_MAX, rowCount));
    this.#context = context;
    this.most = isDense ? Number(ways) : rowCount;
    this.#ranksAt = arena.take(BLOCK_ROWS * 8);
    this.#halves = arena.take(BLOCK_ROWS * 4);
    this.#out = arena.take(BLOCK_ROWS * 4);
    context.memory.u32(this.#out, BLOCK_ROWS).fill(0);
    context.memory.u32(this.#halves, BLOCK_ROWS).forEach((_, at, halves) => {
      halves[at] = at * 2;
    });
    this.#seen = isDense
      ? undefined
      : new PairSet(
          context,
          1,
          (bytes) => arena.take(bytes),
          () => undefined,
        );
  }

  /** Whether the number of a partition is its rank. */
  get areRanks(): boolean {
    return this.#seen === undefined;
  }

  /** Number of partitions so far, or the most there can be. */
  get count(): number {
    return this.#seen?.count ?? this.most;
  }

  /** u32 numbers of n rows of a block. @param ranks  of the partitions; null: all rows are one */
  write(ranks: Pick<Ranks, 'write'> | null, block: Block, rows: Address, n: number): Address {
    if (ranks === null) return this.#out;
    ranks.write(block, rows, n, this.#ranksAt);
    if (this.#seen === undefined) {
      this.#context.kernels.gather32(this.#ranksAt, this.#halves, n, this.#out);
      return this.#out;
    }
    this.#seen.add(this.#ranksAt, n);
    return this.#seen.numbers;
  }
}
