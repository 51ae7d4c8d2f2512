// Texts of the rows that a filter has left, as ids into those that are distinct.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { type Block, clear, wordsOf } from '../../block/context.js';
import { widener } from '../dictionary-function.js';
import type { SegmentScope } from '../scope.js';
import { oncePerBlock, type RowTexts, type TextNode } from '../vector.js';
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

/** Texts of rows of a block: where these are not all of it, made of them alone if that is possible. */
export function textsOfRows({ arena, context }: SegmentScope, { node, pickedNode }: TextWays): RowTexts {
  const { kernels } = context;
  let picked: PickedNode | undefined;
  let gathered: Address = 0;
  let isOpen = false;
  let pieces = 0;
  const open = (): void => {
    picked = pickedNode();
    if (picked === undefined) gathered = arena.take(BLOCK_ROWS * 8);
    isOpen = true;
  };
  return (block, rows, n) => {
    if (rows === 0) return node.texts(block);
    if (!isOpen) open();
    if (picked === undefined) {
      kernels.gather64(node.texts(block), rows, n, gathered);
      return gathered;
    }
    picked.columns.pick(block, rows, n);
    return picked.node.texts({ start: pieces++, rows: n });
  };
}

/** Ids of a block's rows; those of rows that are not read are any. */
export function idsOfRows(scope: SegmentScope, pool: TextInterner, textsOf: RowTexts): (block: Block) => Address {
  const { arena, context } = scope;
  const out = arena.take(BLOCK_ROWS * 4);
  clear(context, out, BLOCK_ROWS * 4);
  let picked: PickedRows | undefined;
  const run = oncePerBlock((block) => {
    const { selection } = block;
    if (selection === undefined || context.kernels.bitsCount(selection, wordsOf(block)) === block.rows) {
      pool.idsOf(textsOf(block, 0, block.rows), block.rows, out);
      return;
    }
    picked ??= new PickedRows(scope, pool, textsOf);
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
  readonly #textsOf: RowTexts;
  readonly #rows: Address;
  readonly #ids: Address;

  constructor(scope: SegmentScope, pool: TextInterner, textsOf: RowTexts) {
    this.#scope = scope;
    this.#pool = pool;
    this.#textsOf = textsOf;
    this.#rows = scope.arena.take(BLOCK_ROWS * 4);
    this.#ids = scope.arena.take(BLOCK_ROWS * 4);
  }

  write(block: Block, selection: Address, out: Address): void {
    const { kernels, memory } = this.#scope.context;
    const n = kernels.bitsToRows(selection, 0, block.rows, this.#rows);
    if (n === 0) return;
    this.#pool.idsOf(this.#textsOf(block, this.#rows, n), n, this.#ids);
    const [rows, ids, to] = [memory.u32(this.#rows, n), memory.u32(this.#ids, n), memory.u32(out, block.rows)];
    for (let at = 0; at < n; at++) to[rows[at] ?? 0] = ids[at] ?? 0;
  }
}
