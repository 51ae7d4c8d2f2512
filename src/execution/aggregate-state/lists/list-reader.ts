// Lists of groups, put together from their entries.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { TEXT_LENGTH_MAX } from '../../../expression/functions/text-length.js';
import type { Value } from '../../../expression/value.js';
import type { Arena } from '../../../kernels/arena.js';
import { sortTexts } from '../../../storage/columns/sort-texts.js';
import type { Check } from '../../block/checked-loops.js';
import type { RunContext } from '../../block/context.js';
import { packEntries } from '../../block/packed-texts.js';
import { rememberTexts } from '../../block/result-table.js';
import { referredText } from '../../block/text-references.js';
import { rowsByWords } from '../../post/radix-order.js';
import type { ListStates } from '../state-operations.js';
import type { ListShape } from './list-shape.js';

/** Entries of groups below `groupCount`, and {u32 elements, u32 bytes} of each. */
export interface AllLists extends ListStates {
  readonly words: 1 | 2;
  readonly isSet: boolean;
  readonly groupCount: number;
  readonly sizes: Address;
}

/** Forms of `listTexts`. */
const FORMS = { joined: 0, STRING: 1, LONG: 2, DOUBLE: 3 } as const;
/** Bytes of a number in the text of an array. */
const NUMBER_BYTES = 18;
/** Entries of a set, or of several, that a kernel sorts at a time: some milliseconds. */
const SHORT_MAX = 1 << 13;
const SIGN = 0x80000000;
/** Bytes of texts that are made before they are decoded; one alone may have more. */
const PIECE_BYTES = 1 << 20;

/** The rows of entries by group, in memory of its own; until the entries change. */
export class GroupedLists {
  readonly #context: RunContext;
  readonly #lists: AllLists;
  readonly #arena: Arena;
  readonly #keys: Address;
  readonly #starts: Address;
  readonly #rows: Address;

  constructor(context: RunContext, lists: AllLists) {
    this.#context = context;
    this.#lists = lists;
    this.#arena = context.memory.arena();
    const { count, groupCount } = lists;
    try {
      this.#keys = this.#inOrder();
      // An empty list behind the last is that of groups beyond it.
      this.#starts = this.#arena.take((groupCount + 2) * 4);
      this.#rows = this.#arena.take(Math.max(1, count) * 4);
      this.#list();
      if (lists.isSet) this.#sort();
    } catch (error) {
      this.#arena.release();
      throw error;
    }
  }

  free(): void {
    this.#arena.release();
  }

  /** The entries in the order of their segments. */
  #inOrder(): Address {
    const { keys, count, words, ranges } = this.#lists;
    if (ranges.every(({ order }, at) => at === 0 || (ranges[at - 1]?.order ?? 0) <= order)) return keys;
    const { memory } = this.#context;
    const sorted = this.#arena.take(count * words * 8);
    let to = sorted;
    for (const { start, end } of ranges.map((range) => range).sort((a, b) => a.order - b.order)) {
      const bytes = (end - start) * words * 8;
      memory.u8(to, bytes).set(memory.u8(keys + start * words * 8, bytes));
      to += bytes;
    }
    return sorted;
  }

  #list(): void {
    const { kernels, memory, check } = this.#context;
    const { count, words, groupCount } = this.#lists;
    const arena = memory.arena();
    try {
      const groups = arena.take(Math.max(1, count) * 4);
      const halves = arena.take(BLOCK_ROWS * 4);
      kernels.keyDenseU32(memory.rowNumbers, 0, Math.min(BLOCK_ROWS, count), words * 2, 0, halves);
      for (let from = 0; from < count; from += BLOCK_ROWS) {
        check();
        kernels.gather32(this.#keys + from * words * 8, halves, Math.min(BLOCK_ROWS, count - from), groups + from * 4);
      }
      kernels.joinLists(groups, count, groupCount + 1, this.#starts, this.#rows);
    } finally {
      arena.release();
    }
  }

  /** Puts the entries of each set in order: a kernel those of short ones, for as many groups as take little time. */
  #sort(): void {
    const { kernels, memory, check } = this.#context;
    const { words, groupCount, strings } = this.#lists;
    const starts = memory.u32(this.#starts, groupCount + 1);
    let from = 0;
    const sortTo = (end: number): void => {
      check();
      if (from < end) kernels.listSort(this.#keys, words, strings?.entries ?? 0, this.#starts + from * 4, end - from, this.#rows);
      from = end;
    };
    for (let group = 0; group < groupCount; group++) {
      const [start = 0, end = 0] = [starts[group], starts[group + 1]];
      if (end - start > SHORT_MAX) {
        sortTo(group);
        this.#sortLong(start, end);
        from = group + 1;
      } else if (end - (starts[from] ?? 0) > SHORT_MAX) sortTo(group + 1);
    }
    sortTo(groupCount);
  }

  /** Rows [start, end) in the order of their values, of which null is the first. */
  #sortLong(start: number, end: number): void {
    const { memory, check } = this.#context;
    const { count, words, strings } = this.#lists;
    const halves = memory.u32(this.#keys, count * words * 2);
    const listed = memory.u32(this.#rows + start * 4, end - start);
    const rows = listed.slice();
    const half = (at: number): Uint32Array => rows.map((row) => halves[row * words * 2 + at] ?? 0);
    if (strings === undefined) {
      const high = half(3).map((word) => word ^ SIGN);
      const order = rowsByWords([half(1).map((isNull) => 1 - isNull), high, half(2)], rows.length, check);
      order.forEach((at, place) => void (listed[place] = rows[at] ?? 0));
      return;
    }
    const ids = half(1);
    const present = ids.filter((id) => id !== 0);
    const withText = rows.filter((_, at) => ids[at] !== 0);
    const { bytes, ends } = packEntries(memory, strings.entries)(present, check);
    const order = sortTexts({ bytes, ends: ends.subarray(1) });
    listed.set(rows.filter((_, at) => ids[at] === 0));
    const first = rows.length - withText.length;
    order.forEach((at, place) => void (listed[first + place] = withText[at] ?? 0));
  }

  /** Reads the values of a group; undefined of one without. Until memory of the kernels is taken. */
  reader(): (group: number) => Value[] | undefined {
    const { memory } = this.#context;
    const { count, words, groupCount } = this.#lists;
    const starts = memory.u32(this.#starts, groupCount + 1);
    const rows = memory.u32(this.#rows, count);
    const valueOf = valueReader(this.#context, this.#lists, this.#keys);
    return (group) => {
      const [start = 0, end = 0] = group < groupCount ? [starts[group], starts[group + 1]] : [];
      return start === end ? undefined : Array.from(rows.subarray(start, end), (row) => valueOf(row * words));
    };
  }

  /** Texts of the results of groups; undefined where one is longer than strings may be. */
  texts(groups: Uint32Array, result: NonNullable<ListShape['result']>, check: Check): (string | null)[] | undefined {
    const { memory } = this.#context;
    const { element, groupCount, sizes, words } = this.#lists;
    const separator = Buffer.from(result.kind === 'joined' ? result.separator : '');
    const known = memory.u32(sizes, groupCount * 2).slice();
    const bytesOf = (group: number): number => {
      const [elements = 0, bytes = 0] = group < groupCount ? [known[group * 2], known[group * 2 + 1]] : [];
      return result.kind === 'joined'
        ? bytes + elements * separator.length
        : words === 2
          ? elements * NUMBER_BYTES
          : 2 * (bytes + elements);
    };
    if (result.kind === 'joined' && groups.some((group) => bytesOf(group) > TEXT_LENGTH_MAX)) return undefined;
    const form = result.kind === 'joined' ? FORMS.joined : FORMS[element];
    const texts: (string | null)[] = [];
    for (let from = 0; from < groups.length; ) {
      check();
      let [end, bytes] = [from, 0];
      do bytes += bytesOf(groups[end++] ?? 0);
      while (end < groups.length && end - from < BLOCK_ROWS && bytes + bytesOf(groups[end] ?? 0) <= PIECE_BYTES);
      this.#decode(groups.subarray(from, end), bytes, { form, separator }, texts);
      from = end;
    }
    return texts;
  }

  #decode(
    groups: Uint32Array,
    bytes: number,
    { form, separator }: { readonly form: number; readonly separator: Buffer },
    into: (string | null)[],
  ): void {
    const { kernels, memory } = this.#context;
    const { words, strings, groupCount } = this.#lists;
    const arena = memory.arena();
    try {
      const [numbers, out] = [arena.take(groups.length * 4), arena.take(groups.length * 8)];
      const between = arena.take(separator.length + 16);
      const buffer = arena.take(bytes + 32);
      memory.u8(between, separator.length).set(separator);
      const listed = memory.u32(numbers, groups.length);
      for (let at = 0; at < groups.length; at++) listed[at] = Math.min(groups[at] ?? 0, groupCount);
      const [keys, starts, rows] = [this.#keys, this.#starts, this.#rows];
      kernels.listTexts(
        keys,
        words,
        strings?.entries ?? 0,
        starts,
        rows,
        numbers,
        groups.length,
        form,
        between,
        separator.length,
        out,
        buffer,
      );
      const references = memory.u32(out, groups.length * 2);
      const all = Buffer.from(memory.u8(0, buffer + bytes + 32).buffer);
      for (let at = 0; at < groups.length; at++) {
        const start = references[at * 2] ?? 0;
        const end = start + ((references[at * 2 + 1] ?? 0) & 0x7fffffff);
        into.push(start === 0 ? null : words === 2 ? all.toString('latin1', start, end) : all.toString('utf8', start, end));
      }
    } finally {
      arena.release();
    }
  }
}

/** Reads the value of the entry whose key begins at a word. */
export function valueReader({ memory }: RunContext, { element, count, strings }: ListStates, keys: Address): (word: number) => Value {
  const words = element === 'STRING' ? 1 : 2;
  const halves = memory.u32(keys, count * words * 2);
  if (element === 'STRING') {
    const text = rememberTexts((id) => referredText(memory, (strings?.entries ?? 0) + id * 8));
    return (word) => text(halves[word * 2 + 1] ?? 0);
  }
  const numbers = element === 'LONG' ? memory.i64(keys, count * 2) : memory.f64(keys, count * 2);
  return (word) => (halves[word * 2 + 1] !== 0 ? null : (numbers[word + 1] ?? null));
}
