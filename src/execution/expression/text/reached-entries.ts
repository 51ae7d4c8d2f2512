// Functions of those entries of a dictionary that selected rows reach.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, takeBits, wordsOf } from '../../block/context.js';
import { widener } from '../dictionary-function.js';
import type { Lane, Node, Result } from '../number/node.js';
import type { SegmentScope } from '../scope.js';

/** Cost of a row, whose text lies anywhere, in entries that are read one after the other. */
const ENTRIES_PER_ROW = 4;

/** Two ways to the same function of the texts of a column. */
interface Ways {
  /** Lane of numbers; undefined: conditions. */
  readonly lane: Lane | undefined;
  readonly mayBeNull: boolean;
  /** The function of as many texts as there are positions, by their ids. */
  ofIds(ids: Address): Node | undefined;
  /** The function of rows, made for all entries before. */
  ofAll(): Node;
}

/** For selected rows as long as they are few, for all entries from then on. */
export function ofReached(scope: SegmentScope, column: StringColumnView, ways: Ways): Node {
  const { kernels } = scope.context;
  const { count } = column.dictionary;
  let all: Node | undefined;
  let few: FewRows | undefined;
  let reached = 0;
  const run = (block: Block): Result => {
    if (all === undefined && block.selection !== undefined && reached * ENTRIES_PER_ROW < count) {
      reached += kernels.bitsCount(block.selection, wordsOf(block));
      few ??= new FewRows(scope, column, ways);
      const found = reached * ENTRIES_PER_ROW < count ? few.run(block, block.selection) : undefined;
      if (found !== undefined) return found;
    }
    all ??= ways.ofAll();
    return all.run(block);
  };
  const { lane, mayBeNull } = ways;
  return lane === undefined ? { kind: 'truth', mayBeNull, run } : { kind: 'number', lane, isOne: false, mayBeNull, room: undefined, run };
}

/** Selected rows as positions without gaps, and back. */
class FewRows {
  readonly #scope: SegmentScope;
  readonly #node: Node | undefined;
  readonly #widen: (block: Block) => Address;
  readonly #rows: Address;
  readonly #ids: Address;
  readonly #out: Address;
  readonly #nulls: Address;
  #pieces = 0;

  constructor(scope: SegmentScope, column: StringColumnView, ways: Ways) {
    const { arena } = scope;
    this.#scope = scope;
    this.#widen = widener(scope, column);
    this.#rows = arena.take(BLOCK_ROWS * 4);
    this.#ids = arena.take(BLOCK_ROWS * 4);
    this.#out = arena.take(BLOCK_ROWS * 8);
    this.#nulls = takeBits(arena);
    this.#node = ways.ofIds(this.#ids);
  }

  run(block: Block, selection: Address): Result | undefined {
    const { kernels, memory } = this.#scope.context;
    if (this.#node === undefined) return undefined;
    const n = kernels.bitsToRows(selection, 0, block.rows, this.#rows);
    kernels.gather32(this.#widen(block), this.#rows, n, this.#ids);
    const { at, nulls } = this.#node.run({ start: this.#pieces++, rows: n });
    const rows = memory.u32(this.#rows, n);
    if (this.#node.kind === 'truth') this.#spreadBits(block, rows, at, this.#out);
    else {
      const [from, to] = [memory.u32(at, n * 2), memory.u32(this.#out, block.rows * 2)];
      rows.forEach((row, i) => {
        to[row * 2] = from[i * 2] ?? 0;
        to[row * 2 + 1] = from[i * 2 + 1] ?? 0;
      });
    }
    if (nulls !== 0) this.#spreadBits(block, rows, nulls, this.#nulls);
    return { at: this.#out, nulls: nulls === 0 ? 0 : this.#nulls };
  }

  #spreadBits(block: Block, rows: Uint32Array, bits: Address, out: Address): void {
    const { kernels, memory } = this.#scope.context;
    kernels.bitsFill(out, wordsOf(block), 0, 0);
    const [from, to] = [memory.u32(bits, Math.ceil(rows.length / 32)), memory.u32(out, wordsOf(block) * 2)];
    rows.forEach((row, i) => {
      if ((((from[i >>> 5] ?? 0) >>> (i & 31)) & 1) === 1) to[row >>> 5] = (to[row >>> 5] ?? 0) | (1 << (row & 31));
    });
  }
}
