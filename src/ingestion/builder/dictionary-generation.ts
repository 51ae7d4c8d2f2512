// Dictionaries of string columns for a stretch of runs, written out when they outgrow memory.

import { assert } from '../../base/errors.js';
import type { SpilledBytes, SpillFile } from '../../execution/spill/spill-file.js';
import { type PackedEntries, PackedEntriesBuilder } from '../../storage/columns/packed-column.js';
import { textAt } from '../../storage/columns/packed-strings.js';
import { sortTexts } from '../../storage/columns/sort-texts.js';
import type { ByteDictionary } from '../column/byte-dictionary.js';

/** The values of one column in one generation, closed. */
export interface ClosedDictionary {
  /** Ids are below it. */
  readonly count: number;
  /** The values in their order, null first: `order[i]` is the id of entry i + 1. A segment reads them from the first one to the last. */
  readonly entries: PackedEntries;
  readonly order: Uint32Array;
  textOf(id: number): string;
}

type Kept = { readonly kind: 'memory'; readonly dictionary: ClosedDictionary } | ({ readonly kind: 'file' } & SpilledDictionary);

/** Places of a dictionary in a file: plain data, which another thread can open. */
interface SpilledDictionary {
  readonly bytes: SpilledBytes;
  readonly ends: SpilledBytes;
  readonly order: SpilledBytes;
}

/** Dictionaries of a generation that are all in a file, by column. */
export type SpilledGeneration = ReadonlyMap<string, SpilledDictionary>;

/**
 * The dictionaries that a stretch of runs shares. A task whose distinct values fit its budget has one generation;
 * when they outgrow it the generation is closed, written out, and the next one begins empty.
 */
export class DictionaryGeneration {
  readonly #columns = new Map<string, Kept>();
  readonly #file: SpillFile | null;

  /**
   * @param file     null: it stays in memory
   * @param spilled  of a generation that another thread has written to the file
   */
  constructor(file: SpillFile | null, spilled: SpilledGeneration = new Map()) {
    this.#file = file;
    for (const [column, { bytes, ends, order }] of spilled) this.#columns.set(column, { kind: 'file', bytes, ends, order });
  }

  /** Its dictionaries for another thread; those that are in memory are left out. */
  spilled(): SpilledGeneration {
    return new Map([...this.#columns].flatMap(([column, kept]) => (kept.kind === 'file' ? [[column, kept] as const] : [])));
  }

  /** `toFile`: more generations follow, so this one gives up its memory. */
  close(column: string, dictionary: ByteDictionary, toFile: boolean): void {
    const { order, entries } = sorted(dictionary);
    const { bytes, ends } = entries;
    if (toFile) {
      const file = this.#spillFile;
      this.#columns.set(column, { kind: 'file', bytes: file.append(bytes), ends: file.append(ends), order: file.append(order) });
    } else this.#columns.set(column, { kind: 'memory', dictionary: closed(entries, order) });
  }

  /** A column's dictionary; read back on every call when it went to the file. */
  dictionary(column: string): ClosedDictionary | undefined {
    const kept = this.#columns.get(column);
    if (kept === undefined || kept.kind === 'memory') return kept?.dictionary;
    const file = this.#spillFile;
    const [bytes, ends] = [new Uint8Array(file.read(kept.bytes)), new Uint32Array(file.read(kept.ends))];
    return closed({ bytes, ends, isSorted: true }, new Uint32Array(file.read(kept.order)));
  }

  get #spillFile(): SpillFile {
    assert(this.#file !== null, 'dictionaries without a file stay in memory');
    return this.#file;
  }
}

function closed(entries: PackedEntries, order: Uint32Array): ClosedDictionary {
  let places: Uint32Array | undefined;
  return { count: order.length + 1, entries, order, textOf: (id) => textAt(entries, (places ??= placesOf(order))[id] ?? 0) };
}

/** The entry of each id. */
function placesOf(order: Uint32Array): Uint32Array {
  const places = new Uint32Array(order.length + 1);
  for (let at = 0; at < order.length; at++) places[order[at] ?? 0] = at + 1;
  return places;
}

/** Ids from 1 on, by text, and the texts in that order. */
function sorted(dictionary: ByteDictionary): { readonly order: Uint32Array; readonly entries: PackedEntries } {
  const { bytes, offsets } = dictionary.contents();
  // The entry of null is empty, so that text i, counted from 0, is that of id i + 1.
  const order = sortTexts({ bytes, ends: offsets.subarray(2) });
  const builder = new PackedEntriesBuilder(offsets.length, bytes.length);
  for (let at = 0; at < order.length; at++) {
    const id = (order[at] ?? 0) + 1;
    order[at] = id;
    builder.add(bytes, offsets[id] ?? 0, offsets[id + 1] ?? 0);
  }
  return { order, entries: builder.entries(true) };
}
