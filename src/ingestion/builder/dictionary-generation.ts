// Dictionaries of string columns for a stretch of runs, written out when they outgrow memory.

import { Buffer } from 'node:buffer';
import type { SpilledBytes, SpillFile } from '../../execution/spill/spill-file.js';
import { sortTexts } from '../../storage/columns/packed-strings.js';
import type { ByteDictionary } from '../column/byte-dictionary.js';

/** The values of one column in one generation, closed: `order` lists the ids (null apart) by value. */
export interface ClosedDictionary {
  readonly count: number;
  readonly order: Uint32Array;
  /** Value `id` is bytes[offsets[id] .. offsets[id + 1]). */
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  textOf(id: number): string;
}

type Kept =
  | { readonly kind: 'memory'; readonly dictionary: ClosedDictionary }
  | { readonly kind: 'file'; readonly bytes: SpilledBytes; readonly offsets: SpilledBytes; readonly order: SpilledBytes };

/**
 * The dictionaries that a stretch of runs shares. A task whose distinct values fit its budget has one generation;
 * when they outgrow it the generation is closed, written out, and the next one begins empty.
 */
export class DictionaryGeneration {
  readonly #columns = new Map<string, Kept>();
  readonly #file: SpillFile;

  constructor(file: SpillFile) {
    this.#file = file;
  }

  /** `toFile`: more generations follow, so this one gives up its memory. */
  close(column: string, dictionary: ByteDictionary, toFile: boolean): void {
    const { bytes, offsets } = dictionary.contents();
    const order = orderOf(bytes, offsets);
    if (toFile)
      this.#columns.set(column, {
        kind: 'file',
        bytes: this.#file.append(bytes),
        offsets: this.#file.append(offsets),
        order: this.#file.append(order),
      });
    else this.#columns.set(column, { kind: 'memory', dictionary: closed(bytes, offsets, order) });
  }

  /** A column's dictionary; read back on every call when it went to the file. */
  dictionary(column: string): ClosedDictionary | undefined {
    const kept = this.#columns.get(column);
    if (kept === undefined || kept.kind === 'memory') return kept?.dictionary;
    return closed(
      Buffer.from(this.#file.read(kept.bytes)),
      new Uint32Array(this.#file.read(kept.offsets)),
      new Uint32Array(this.#file.read(kept.order)),
    );
  }
}

function closed(bytes: Buffer, offsets: Uint32Array, order: Uint32Array): ClosedDictionary {
  return {
    count: offsets.length - 1,
    order,
    bytes,
    offsets,
    textOf: (id) => bytes.toString('utf8', offsets[id] ?? 0, offsets[id + 1] ?? 0),
  };
}

/** Ids from 1 on, by text. */
function orderOf(bytes: Buffer, offsets: Uint32Array): Uint32Array {
  // The entry of null is empty, so that text i, counted from 0, is that of id i + 1.
  const order = sortTexts({ bytes, ends: offsets.subarray(2) });
  for (let at = 0; at < order.length; at++) order[at] = (order[at] ?? 0) + 1;
  return order;
}
