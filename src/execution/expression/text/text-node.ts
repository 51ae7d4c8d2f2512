// Memory of trees of kernels over texts.

import { assert } from '../../../base/errors.js';
import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { extended } from '../../../base/names.js';
import { powersOfTen } from '../../../base/number-text.js';
import { type Block, type Scratch, takeBits, wordsOf } from '../../block/context.js';
import { constantNode } from '../number/leaf.js';
import { type NumberNode, type Result, Rooms } from '../number/node.js';
import type { SegmentScope } from '../scope.js';
import { oncePerBlock, type TextNode } from '../vector.js';

/** Working memory of nodes: their results, for blocks of at most `rows`. */
export class TextWork {
  readonly scope: SegmentScope;
  readonly rows: number;
  /** Whether surrogate pairs may be cut: what is made of such a text is wrong, and counted. */
  readonly mayCut: boolean;
  cuts = 0;
  /** Whether a node is there that counts. */
  countsCuts = false;

  constructor(scope: SegmentScope, rows: number, mayCut: boolean) {
    this.scope = scope;
    this.rows = Math.ceil(Math.min(BLOCK_ROWS, Math.max(1, rows)) / 64) * 64;
    this.mayCut = mayCut;
  }

  /** Room for eight bytes a row. */
  words(): Address {
    return this.scope.arena.take(this.rows * 8);
  }

  bits(): Address {
    return takeBits(this.scope.arena);
  }

  /** The bytes, and their address. */
  upload(bytes: Uint8Array): Address {
    const { arena, context } = this.scope;
    const at = arena.take(Math.max(16, bytes.length));
    context.memory.u8(at, bytes.length).set(bytes);
    return at;
  }

  /** A node of eight bytes a row, computed once for a block. */
  node(made: Omit<TextNode, 'texts'>, compute: (block: Block, out: Address) => void): TextNode {
    const out = this.words();
    const run = oncePerBlock((block) => compute(block, out));
    return extended(made, {
      texts(block: Block) {
        run(block);
        return out;
      },
    });
  }

  /** A LONG for all rows. */
  long(value: bigint): NumberNode {
    const node = constantNode(new Rooms(this.scope), value);
    assert(node !== undefined, 'a LONG is a number');
    return node;
  }

  /** Bits of the rows whose LONG is null or lies outside [least, 2^31); 0: none does. */
  outside({ constant }: NumberNode, least: bigint): (block: Block, result: Result) => Address {
    if (typeof constant === 'bigint' && constant >= least && constant < 2n ** 31n) return () => 0;
    const out = this.bits();
    const { kernels } = this.scope.context;
    if (constant !== undefined)
      return (block) => {
        kernels.bitsFill(out, wordsOf(block), 0, block.rows);
        return out;
      };
    return (block, { at, nulls }) => {
      kernels.filterRangeI64(at, block.rows, least, 2n ** 31n - 1n, out);
      if (nulls !== 0) kernels.bitsAndNot(out, nulls, wordsOf(block), out);
      kernels.bitsNot(out, block.rows, out);
      return out;
    };
  }

  /** Bits of the rows that are null; 0: none is. */
  nullsOf(node: TextNode): (block: Block) => Address {
    if (!node.mayBeNull) return () => 0;
    const out = this.bits();
    const { kernels } = this.scope.context;
    const texts = node.constant === undefined ? node : this.everyRow(node);
    let count = 0;
    const run = oncePerBlock((block) => {
      count = kernels.textNulls(texts.texts(block), block.rows, out);
    });
    return (block) => {
      run(block);
      return count === 0 ? 0 : out;
    };
  }

  /** Rows for which any of the bits are set. */
  anyOf(parts: readonly ((block: Block) => Address)[]): (block: Block) => Address {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    const out = this.bits();
    const { kernels } = this.scope.context;
    return (block) => {
      let found: Address = 0;
      for (const part of parts) {
        const next = part(block);
        if (next !== 0 && found !== 0) kernels.bitsOr(found, next, wordsOf(block), out);
        found = found === 0 ? next : next === 0 ? found : out;
      }
      return found;
    };
  }

  /** A constant written out for each row. */
  everyRow(node: TextNode): TextNode {
    if (node.constant === undefined) return node;
    const { kernels, memory } = this.scope.context;
    const [out, ids] = [this.words(), this.scope.arena.take(this.rows * 4)];
    memory.u32(ids, this.rows).fill(0);
    kernels.gather64(node.texts({ start: 0, rows: 1 }), ids, this.rows, out);
    return { mayBeNull: node.mayBeNull, isBmp: node.isBmp, texts: () => out };
  }
}

/** Room for the bytes of new texts, which grows. */
export class Room {
  readonly #work: TextWork;
  #at: Address = 0;
  #bytes = 0;

  constructor(work: TextWork) {
    this.#work = work;
  }

  /** Kernels may write 16 bytes past their texts. */
  of(bytes: number): Address {
    if (bytes + 16 > this.#bytes) {
      this.#bytes = Math.max(this.#work.rows * 16, 2 ** Math.ceil(Math.log2(bytes + 16)));
      this.#at = this.#work.scope.arena.take(this.#bytes);
    }
    return this.#at;
  }
}

/** Digits of the longest LONG, and its sign. */
export const LONG_BYTES_MAX = 20;
/** Bytes of the longest DOUBLE or FLOAT. */
export const DOUBLE_BYTES_MAX = 26;

/** The powers of ten that the kernel `textOfDoubles` asks for. */
export function uploadPowers({ arena, context }: Scratch): Address {
  const powers = powersOfTen();
  const at = arena.take(powers.byteLength);
  context.memory.i64(at, powers.length).set(new BigInt64Array(powers.buffer));
  return at;
}
