// Makes a multi-value column of lists that kernels make.

import { BLOCK_ROWS } from '../../../base/layout.js';
import type { StringColumnView } from '../../../storage/view.js';
import { blockAt } from '../../block/context.js';
import { TextInterner } from '../text/text-interner.js';
import { Room, type TextWork } from '../text/text-node.js';
import { byCodeUnits, uploadedColumn } from '../uploaded-column.js';
import { eachPiece, elementTexts } from './list-functions.js';
import type { ListNode } from './list-node.js';

/** A multi-value column of the elements of lists, as strings; a list of one null has no value. It lies in the scope's arena. */
export function columnOfLists(work: TextWork, list: ListNode): StringColumnView {
  const { scope } = work;
  const { memory } = scope.context;
  const { rowCount } = scope.view;
  const pool = new TextInterner(scope);
  const textsOf = elementTexts(work, list);
  const numbers = new Room(work);
  const offsets = new Uint32Array(rowCount + 1);
  let ids = new Uint32Array(BLOCK_ROWS);
  let count = 0;
  for (let start = 0; start < rowCount; start += BLOCK_ROWS) {
    eachPiece(list, blockAt(start, rowCount), (piece) => {
      const texts = textsOf(list.values(), piece.count);
      const at = numbers.of(piece.count * 4);
      pool.idsOf(texts, piece.count, at);
      if (count + piece.count > ids.length) {
        const longer = new Uint32Array(Math.max(ids.length * 2, count + piece.count));
        longer.set(ids);
        ids = longer;
      }
      const [found, starts] = [memory.u32(at, piece.count), memory.u32(piece.starts, piece.rows + 1)];
      const [first = 0] = starts;
      for (let row = 0; row < piece.rows; row++) {
        const [from, to] = [(starts[row] ?? 0) - first, (starts[row + 1] ?? 0) - first];
        const isNone = to - from === 1 && found[from] === 0;
        for (let value = from; value < to && !isNone; value++) ids[count++] = found[value] ?? 0;
        offsets[start + piece.from + row + 1] = count;
      }
    });
  }
  return sorted(work, pool, ids.subarray(0, count), offsets);
}

/** The column, with ids in the order of its strings. */
function sorted({ scope }: TextWork, pool: TextInterner, ids: Uint32Array, offsets: Uint32Array): StringColumnView {
  const hasNull = ids.includes(0);
  const entries = pool.values.filter((text) => text !== null).sort(byCodeUnits);
  const places = new Map<string | null, number>(entries.map((text, index) => [text, index + (hasNull ? 1 : 0)]));
  const newIds = Uint32Array.from(pool.values, (text) => places.get(text) ?? 0);
  for (let at = 0; at < ids.length; at++) ids[at] = newIds[ids[at] ?? 0] ?? 0;
  return uploadedColumn(scope, { ids, offsets }, entries, hasNull);
}
