// Texts of the rows that a filter has left, as ids into those that are distinct.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, clear, wordsOf } from '../../block/context.js';
import { widener } from '../dictionary-function.js';
import type { SegmentScope } from '../scope.js';
import { oncePerBlock, type TextNode } from '../vector.js';
import { idsNode } from './text-entries.js';
import type { TextInterner } from './text-interner.js';
import type { TextWork } from './text-node.js';

/** The columns of an expression as leaves for rows without gaps, whose ids are gathered. */
export class PickedColumns {
  readonly #work: TextWork;
  readonly #leaves = new Map<StringColumnView, { readonly ids: Address; readonly node: TextNode; widen(block: Block): Address }>();

  constructor(work: TextWork) {
    this.#work = work;
  }

  node(column: StringColumnView): TextNode {
    let leaf = this.#leaves.get(column);
    if (leaf === undefined) {
      const { scope } = this.#work;
      const ids = scope.arena.take(BLOCK_ROWS * 4);
      leaf = { ids, node: idsNode(this.#work, column, ids), widen: widener(scope, column) };
      this.#leaves.set(column, leaf);
    }
    return leaf.node;
  }

  /** Has the leaves stand for these rows of a block. */
  pick(block: Block, rows: Address, n: number): void {
    const { kernels } = this.#work.scope.context;
    for (const { ids, widen } of this.#leaves.values()) kernels.gather32(widen(block), rows, n, ids);
  }
}

/** An expression over the leaves of picked columns. */
export interface PickedNode {
  readonly columns: PickedColumns;
  readonly node: TextNode;
}

/** A node, and what makes the same of picked rows; that gives undefined where the expression reads more than stored texts. */
export interface TextWays {
  readonly node: TextNode;
  pickedNode(): PickedNode | undefined;
}

/** Ids of a block's rows; those of rows that are not read are any. */
export function idsOfRows(scope: SegmentScope, pool: TextInterner, ways: TextWays): (block: Block) => Address {
  const { arena, context } = scope;
  const out = arena.take(BLOCK_ROWS * 4);
  clear(context, out, BLOCK_ROWS * 4);
  let picked: PickedRows | undefined;
  const run = oncePerBlock((block) => {
    const { selection } = block;
    if (selection === undefined || context.kernels.bitsCount(selection, wordsOf(block)) === block.rows) {
      pool.idsOf(ways.node.texts(block), block.rows, out);
      return;
    }
    picked ??= new PickedRows(scope, pool, ways);
    picked.write(block, selection, out);
  });
  return (block) => {
    run(block);
    return out;
  };
}

/** Selected rows as rows without gaps, and back. */
class PickedRows {
  readonly #scope: SegmentScope;
  readonly #pool: TextInterner;
  readonly #whole: TextNode;
  readonly #picked: PickedNode | undefined;
  readonly #rows: Address;
  readonly #texts: Address;
  readonly #ids: Address;
  #pieces = 0;

  constructor(scope: SegmentScope, pool: TextInterner, { node, pickedNode }: TextWays) {
    const { arena } = scope;
    this.#scope = scope;
    this.#pool = pool;
    this.#whole = node;
    this.#picked = pickedNode();
    this.#rows = arena.take(BLOCK_ROWS * 4);
    this.#texts = this.#picked === undefined ? arena.take(BLOCK_ROWS * 8) : 0;
    this.#ids = arena.take(BLOCK_ROWS * 4);
  }

  write(block: Block, selection: Address, out: Address): void {
    const { kernels, memory } = this.#scope.context;
    const n = kernels.bitsToRows(selection, 0, block.rows, this.#rows);
    if (n === 0) return;
    this.#pool.idsOf(this.#textsOf(block, n), n, this.#ids);
    const [rows, ids, to] = [memory.u32(this.#rows, n), memory.u32(this.#ids, n), memory.u32(out, block.rows)];
    for (let at = 0; at < n; at++) to[rows[at] ?? 0] = ids[at] ?? 0;
  }

  #textsOf(block: Block, n: number): Address {
    if (this.#picked === undefined) {
      this.#scope.context.kernels.gather64(this.#whole.texts(block), this.#rows, n, this.#texts);
      return this.#texts;
    }
    const { columns, node } = this.#picked;
    columns.pick(block, this.#rows, n);
    return node.texts({ start: this.#pieces++, rows: n });
  }
}
