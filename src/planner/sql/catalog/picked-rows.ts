// Rows of a frame that its reader may see.

import { type Frame, type FrameColumn, isNullAt } from '../../../model/frame.js';

/**
 * The rows of which a text is taken, with nothing of the others, in no dictionary either. Columns are made when they are read.
 * @param name     of a column of texts
 * @param isTaken  asked once for each entry of its dictionary
 */
export function rowsWhere(frame: Frame, name: string, isTaken: (text: string | null) => boolean): Frame {
  const column = frame.columns.find((each) => each.name === name);
  if (column?.kind !== 'string') throw new Error(`rows cannot be picked by ${name}`);
  const taken = column.dictionary.map(isTaken);
  const rows: number[] = [];
  for (let row = 0; row < frame.rowCount; row++) if (taken[column.ids[row] ?? 0] === true) rows.push(row);
  return { rowCount: rows.length, columns: frame.columns.map((each) => picked(each, rows)) };
}

function picked(column: FrameColumn, rows: readonly number[]): FrameColumn {
  const { name } = column;
  if (column.kind === 'long') {
    return {
      kind: 'long',
      name,
      get values() {
        const { values } = column;
        return BigInt64Array.from(rows, (row) => values[row] ?? 0n);
      },
      get nulls() {
        const { nulls } = column;
        if (nulls === null) return null;
        const bits = new Uint32Array(Math.ceil(rows.length / 32));
        for (const [at, row] of rows.entries()) if (isNullAt(nulls, row)) bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
        return bits;
      },
    };
  }
  if (column.kind !== 'string') throw new Error(`rows of ${name} cannot be picked`);
  let made: { readonly ids: Uint32Array; readonly dictionary: readonly (string | null)[] } | undefined;
  const make = (): NonNullable<typeof made> => {
    const { ids, dictionary } = column;
    const places = new Map<number, number>();
    const own = Uint32Array.from(rows, (row) => {
      const id = ids[row] ?? 0;
      const place = places.get(id) ?? places.size;
      places.set(id, place);
      return place;
    });
    return { ids: own, dictionary: [...places.keys()].map((id) => dictionary[id] ?? null) };
  };
  return {
    kind: 'string',
    name,
    ...(column.type === undefined ? {} : { type: column.type }),
    get ids() {
      made ??= make();
      return made.ids;
    },
    get dictionary() {
      made ??= make();
      return made.dictionary;
    },
  };
}
