// Texts that are made of the entries of a dictionary.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import type { Block } from '../../block/context.js';
import type { InternedTexts } from '../../block/interned-texts.js';
import { widener } from '../dictionary-function.js';
import type { SegmentScope } from '../scope.js';
import { oncePerBlock, type TextNode } from '../vector.js';
import { eachEntryBlock } from './text-entries.js';
import type { TextInterner } from './text-interner.js';

/** Texts made of the entries of a dictionary, one for each. */
export interface Entries {
  readonly column: StringColumnView;
  readonly node: TextNode;
}

function afterRun(run: (block: Block) => void, out: Address): (block: Block) => Address {
  return (block) => {
    run(block);
    return out;
  };
}

/** A function of each entry of a dictionary, computed when the first id of a result is asked for. */
export class EntryTexts {
  readonly #scope: SegmentScope;
  readonly #entries: Entries;
  readonly #pool: TextInterner;
  #lookUp: ((block: Block) => Address) | undefined;

  constructor(scope: SegmentScope, entries: Entries, pool: TextInterner) {
    this.#scope = scope;
    this.#entries = entries;
    this.#pool = pool;
  }

  get values(): readonly (string | null)[] {
    this.#ready();
    return this.#pool.values;
  }

  get count(): number {
    this.#ready();
    return this.#pool.count;
  }

  get entries(): Address {
    this.#ready();
    return this.#pool.entries;
  }

  get interned(): InternedTexts {
    this.#ready();
    return this.#pool.interned;
  }

  ids(block: Block): Address {
    return this.#ready()(block);
  }

  #ready(): (block: Block) => Address {
    this.#lookUp ??= this.#make();
    return this.#lookUp;
  }

  #make(): (block: Block) => Address {
    const scope = this.#scope;
    const { column, node } = this.#entries;
    const table = scope.arena.take(Math.max(1, column.dictionary.count) * 4);
    eachEntryBlock(scope, column, (block) => this.#pool.idsOf(node.texts(block), block.rows, table + block.start * 4));
    const widen = widener(scope, column);
    const out = scope.arena.take(BLOCK_ROWS * 4);
    const run = oncePerBlock((block) => scope.context.kernels.gather32(table, widen(block), block.rows, out));
    return afterRun(run, out);
  }
}
