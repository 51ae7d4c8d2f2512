// Strings of scanned rows as ids, whose texts stay in kernel memory.

import { own } from '../../base/names.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { TextType } from '../../model/schema.js';
import type { DictionaryView, SegmentView, StringColumnView } from '../../storage/view.js';
import { globalTextAt, textAt } from '../block/dictionary.js';
import { packEntries, packStacked } from '../block/packed-texts.js';
import { type NumberedTexts, rememberTexts } from '../block/result-table.js';
import type { SegmentData } from '../block/segment-data.js';

/** Numbers of a column's strings over all segments; null is 0. */
export interface TextNumbers {
  readonly packed: NumberedTexts;
  text(id: number): string | null;
  /** Puts the ids of rows of a segment at a place. */
  write(view: SegmentView, rows: Uint32Array, into: Uint32Array, at: number): void;
}

/** Texts that are held, once they are asked for. */
const TEXTS_HELD_MAX = 1 << 18;
const IDS_MAX = 2 ** 32;

/**
 * Numbers of a column's strings by the dictionary that all segments share, where there is one; else the entries of their
 * dictionaries after each other, of which those of different segments may be equal.
 * @returns undefined where a segment keeps something else than one string a row
 */
export function textNumbers(memory: KernelMemory, data: SegmentData, name: string, type: TextType): TextNumbers | undefined {
  const found: (readonly [SegmentView, StringColumnView])[] = [];
  for (const view of data.views) {
    const column = Object.hasOwn(view.columns, name) ? own(view.columns, name) : undefined;
    if (column === undefined) continue;
    if (column.kind !== 'string' || column.offsets !== 0 || column.type !== type) return undefined;
    found.push([view, column]);
  }
  return sharedNumbers(memory, data, name, found) ?? stackedNumbers(memory, found);
}

type Columns = readonly (readonly [SegmentView, StringColumnView])[];

function sharedNumbers(memory: KernelMemory, { dictionaries }: SegmentData, name: string, found: Columns): TextNumbers | undefined {
  const dictionary = Object.hasOwn(dictionaries, name) ? own(dictionaries, name) : undefined;
  if (dictionary === undefined) return undefined;
  const columns = new Map(found.map(([view, column]) => [view, { column, remap: own(dictionary.remaps, view.id) }]));
  if (found.some(([view]) => columns.get(view)?.remap === undefined)) return undefined;
  return {
    packed: { pack: packEntries(memory, dictionary.entries), nullId: 0, isDistinct: true },
    text: rememberTexts((id) => globalTextAt(memory, dictionary, id), TEXTS_HELD_MAX),
    write(view, rows, into, at) {
      const { column, remap = 0 } = columns.get(view) ?? {};
      if (column === undefined) return;
      const ids = idsOf(memory, column, view.rowCount);
      const numbers = memory.u32(remap, column.dictionary.count);
      for (let index = 0; index < rows.length; index++) into[at + index] = numbers[ids[rows[index] ?? 0] ?? 0] ?? 0;
    },
  };
}

function stackedNumbers(memory: KernelMemory, found: Columns): TextNumbers | undefined {
  const bases = new Uint32Array(found.length + 1);
  let end = 1;
  const columns = new Map(
    found.map(([view, column], index) => {
      const base = end;
      bases[index] = base;
      end += column.dictionary.count;
      return [view, { column, base }];
    }),
  );
  if (end >= IDS_MAX) return undefined;
  bases[found.length] = end;
  const dictionaries = found.map(([, { dictionary }]): DictionaryView => dictionary);
  const placeOf = placer(bases);
  return {
    packed: { pack: packStacked(memory, dictionaries, bases, placeOf), nullId: 0, isDistinct: found.length <= 1 },
    text: rememberTexts((id) => {
      const place = id === 0 ? 0 : placeOf(id);
      const dictionary = dictionaries[place];
      return id === 0 || dictionary === undefined ? null : textAt(memory, dictionary, id - (bases[place] ?? 0));
    }, TEXTS_HELD_MAX),
    write(view, rows, into, at) {
      const { column, base = 0 } = columns.get(view) ?? {};
      if (column === undefined) return;
      const ids = idsOf(memory, column, view.rowCount);
      const nullId = column.dictionary.hasNull ? 0 : -1;
      for (let index = 0; index < rows.length; index++) {
        const id = ids[rows[index] ?? 0] ?? 0;
        into[at + index] = id === nullId ? 0 : base + id;
      }
    },
  };
}

/** Finds the last base that is no larger than an id; most ids are of the one that was found last. */
function placer(bases: Uint32Array): (id: number) => number {
  let last = 0;
  return (id) => {
    if (id >= (bases[last] ?? 0) && id < (bases[last + 1] ?? 0)) return last;
    let [low, high] = [0, bases.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((bases[middle] ?? 0) <= id) low = middle;
      else high = middle;
    }
    last = low;
    return low;
  };
}

function idsOf(memory: KernelMemory, { ids, physical }: StringColumnView, count: number): Uint8Array | Uint16Array | Uint32Array {
  return physical === 'U8' ? memory.u8(ids, count) : physical === 'U16' ? memory.u16(ids, count) : memory.u32(ids, count);
}
