// Entries of lists with the strings that they name and the sizes of lists.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { clear, type Scratch } from '../../block/context.js';
import { TextInterner } from '../../expression/text/text-interner.js';
import { GroupRoom } from '../best-texts.js';
import type { ListedStrings, ListedValues } from '../state-operations.js';
import { type ListEntries, listEntries } from './list-entries.js';
import type { ListShape } from './list-shape.js';

/** Bytes of a group: how many elements it has, and their bytes, u32 each. */
const SIZE_BYTES = 8;

/** All in the memory of one arena. */
export class ListMemory {
  readonly entries: ListEntries;
  readonly strings: TextInterner | undefined;
  readonly #scope: Scratch;
  readonly #room: GroupRoom;
  readonly #most: Address;
  sizes: Address = 0;

  constructor(scope: Scratch, { element, isSet }: ListShape) {
    this.#scope = scope;
    this.entries = listEntries(scope, element === 'STRING' ? 1 : 2, isSet);
    this.strings = element === 'STRING' ? new TextInterner(scope) : undefined;
    this.#room = new GroupRoom(scope);
    this.#most = scope.arena.take(8);
    scope.context.memory.u32(this.#most, 2).fill(0);
  }

  get groupCount(): number {
    return this.#room.groups;
  }

  get largest(): { readonly elements: number; readonly bytes: number } {
    const [elements = 0, bytes = 0] = this.#scope.context.memory.u32(this.#most, 2);
    return { elements, bytes };
  }

  /**
   * @param ids  u32 ids here of all strings that the entries may name; 0: they are found for those that entries have
   */
  add({ arena, context }: Scratch, { keys, count, strings }: ListedValues, ids: Address, groupOf: Address): void {
    const { kernels } = context;
    const { words } = this.entries;
    const halves = arena.take(BLOCK_ROWS * 4);
    kernels.keyDenseU32(context.memory.rowNumbers, 0, Math.min(BLOCK_ROWS, count), words * 2, 0, halves);
    const wholes = arena.take(BLOCK_ROWS * 4);
    kernels.keyDenseU32(context.memory.rowNumbers, 0, Math.min(BLOCK_ROWS, count), words, 0, wholes);
    const [own, groups, high, wide] = [
      arena.take(BLOCK_ROWS * 4),
      arena.take(BLOCK_ROWS * 4),
      arena.take(BLOCK_ROWS * 4),
      arena.take(BLOCK_ROWS * 8),
    ];
    const packed = arena.take(BLOCK_ROWS * words * 8);
    for (let from = 0; from < count; from += BLOCK_ROWS) {
      context.check();
      const n = Math.min(BLOCK_ROWS, count - from);
      const at = keys + from * words * 8;
      kernels.gather32(at, halves, n, own);
      kernels.gather32(groupOf, own, n, groups);
      kernels.gather32(at + 4, halves, n, own);
      if (ids !== 0) kernels.gather32(ids, own, n, high);
      else if (strings !== undefined) {
        kernels.gather64(strings.entries, own, n, wide);
        this.strings?.idsOf(wide, n, high);
      }
      kernels.keyWordU32(groups, 0, n, words, 0, 0, 1, packed);
      kernels.keyWordU32(strings === undefined ? own : high, 0, n, words, 0, 32, 0, packed);
      if (words === 2) {
        kernels.gather64(at + 8, wholes, n, wide);
        kernels.keyWordI64(wide, 0, n, words, 1, 0, 1, packed);
      }
      const before = this.entries.count;
      const added = this.entries.add(packed, n);
      this.#room.reserve(groups, n, (first, end) => this.#grow(first, end));
      kernels.listSizes(added, this.entries.count - before, words, this.strings?.entries ?? 0, this.sizes, this.#most);
    }
  }

  #grow(from: number, to: number): void {
    const { arena, context } = this.#scope;
    const { memory } = context;
    const sizes = arena.take(to * SIZE_BYTES);
    memory.u8(sizes, from * SIZE_BYTES).set(memory.u8(this.sizes, from * SIZE_BYTES));
    clear(context, sizes + from * SIZE_BYTES, (to - from) * SIZE_BYTES);
    if (this.sizes !== 0 && arena.letGo(this.sizes)) memory.free(this.sizes);
    this.sizes = sizes;
  }
}

/** u32 ids of strings in lists by their ids elsewhere; 0 for numbers, and for entries that are fewer than the strings they may name. */
export function idsOfStrings(scratch: Scratch, { strings: into }: ListMemory, { strings, count }: ListedValues): Address {
  return into === undefined || strings === undefined || count < strings.count ? 0 : internAll(scratch, into, strings);
}

function internAll({ arena, context }: Scratch, into: TextInterner, { entries, count }: ListedStrings): Address {
  const ids = arena.take(Math.max(1, count) * 4);
  for (let from = 0; from < count; from += BLOCK_ROWS) {
    context.check();
    into.idsOf(entries + from * 8, Math.min(BLOCK_ROWS, count - from), ids + from * 4);
  }
  return ids;
}
