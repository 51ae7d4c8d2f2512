// Picks rows of frames, with dictionaries of no more than they use.

import { type Frame, type FrameColumn, isNullAt } from '../../../model/frame.js';

/** These rows of a frame, which shares no memory with it but texts. */
export function pickRows(frame: Frame, rows: Uint32Array): Frame {
  return { rowCount: rows.length, columns: frame.columns.map((column) => pickColumn(column, rows)) };
}

function pickColumn(column: FrameColumn, rows: Uint32Array): FrameColumn {
  switch (column.kind) {
    case 'string':
      return {
        ...column,
        ...usedEntries(
          column.dictionary,
          rows.map((row) => column.ids[row] ?? 0),
        ),
      };
    case 'multi': {
      const offsets = new Uint32Array(rows.length + 1);
      for (let at = 0; at < rows.length; at++) {
        const row = rows[at] ?? 0;
        offsets[at + 1] = (offsets[at] ?? 0) + (column.offsets[row + 1] ?? 0) - (column.offsets[row] ?? 0);
      }
      const ids = new Uint32Array(offsets[rows.length] ?? 0);
      rows.forEach((row, at) => ids.set(column.ids.subarray(column.offsets[row], column.offsets[row + 1]), offsets[at]));
      return { ...column, offsets, ...usedEntries(column.dictionary, ids) };
    }
    case 'long': {
      const values = new BigInt64Array(rows.length);
      for (let at = 0; at < rows.length; at++) values[at] = column.values[rows[at] ?? 0] ?? 0n;
      return { ...column, values, nulls: pickBits(column.nulls, rows) };
    }
    case 'double': {
      const values = new Float64Array(rows.length);
      for (let at = 0; at < rows.length; at++) values[at] = column.values[rows[at] ?? 0] ?? 0;
      return { ...column, values, nulls: pickBits(column.nulls, rows) };
    }
  }
}

/** The entries that occur, in the order of their first use, and the ids of them. */
function usedEntries(
  dictionary: readonly (string | null)[],
  ids: Uint32Array,
): { readonly ids: Uint32Array; readonly dictionary: readonly (string | null)[] } {
  // Few rows do not go through a large dictionary: frames are cut into as many parts as there are partitions.
  const places: PlacesById = ids.length < dictionary.length / 8 ? new Map() : new ListedPlaces(dictionary.length);
  const used: (string | null)[] = [];
  for (let at = 0; at < ids.length; at++) {
    const id = ids[at] ?? 0;
    let place = places.get(id);
    if (place === undefined) {
      place = used.push(dictionary[id] ?? null) - 1;
      places.set(id, place);
    }
    ids[at] = place;
  }
  return { ids, dictionary: used };
}

interface PlacesById {
  get(id: number): number | undefined;
  set(id: number, place: number): unknown;
}

class ListedPlaces implements PlacesById {
  readonly #following: Uint32Array;

  constructor(count: number) {
    this.#following = new Uint32Array(count);
  }

  get(id: number): number | undefined {
    const following = this.#following[id] ?? 0;
    return following === 0 ? undefined : following - 1;
  }

  set(id: number, place: number): void {
    this.#following[id] = place + 1;
  }
}

function pickBits(words: Uint32Array | null, rows: Uint32Array): Uint32Array | null {
  if (words === null) return null;
  const picked = new Uint32Array((rows.length + 31) >>> 5);
  let isAny = false;
  for (let at = 0; at < rows.length; at++) {
    if (!isNullAt(words, rows[at] ?? 0)) continue;
    isAny = true;
    picked[at >>> 5] = (picked[at >>> 5] ?? 0) | (1 << (at & 31));
  }
  return isAny ? picked : null;
}
