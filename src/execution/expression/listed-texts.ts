// Finds the texts that a condition lists in the dictionary of a segment.

import { BLOCK_ROWS } from '../../base/layout.js';
import { type ValueList, valuesOf } from '../../model/value-list.js';
import type { StringColumnView } from '../../storage/view.js';
import { findText } from '../block/dictionary.js';
import type { SegmentScope } from './scope.js';

/** Different texts in the order of a dictionary, a block of them at a time: bytes, and where each begins. */
interface PackedBlock {
  readonly bytes: Uint8Array;
  /** One more than there are texts. */
  readonly offsets: Uint32Array;
}

/** Lists that were packed: a condition is bound to each segment anew. */
const PACKED = new WeakMap<ValueList, readonly PackedBlock[]>();

/** Kernels may read so many bytes past a text. */
const READ_PAST = 16;
const ABSENT = 0xffffffff;

/** Ids, ascending, of the listed texts that a dictionary has; values that are not strings are looked up as their texts, null is not. */
export function findListed(scope: SegmentScope, { dictionary }: StringColumnView, list: ValueList): number[] {
  const { arena, context } = scope;
  const { kernels, memory } = context;
  if (list.length === 1) {
    const [value = null] = valuesOf(list);
    const id = value === null ? undefined : findText(memory, dictionary, String(value));
    return id === undefined ? [] : [id];
  }
  const blocks = packedTexts(list);
  const first = dictionary.hasNull ? 1 : 0;
  const at = arena.take(blocks.reduce((most, { bytes }) => Math.max(most, bytes.length), 0) + READ_PAST);
  const most = blocks.reduce((longest, { offsets }) => Math.max(longest, offsets.length), 1);
  const [places, out] = [arena.take(most * 4), arena.take(most * 4)];
  const ids: number[] = [];
  for (const { bytes, offsets } of blocks) {
    context.check();
    const count = offsets.length - 1;
    memory.u8(at, bytes.length).set(bytes);
    memory.u32(places, offsets.length).set(offsets);
    kernels.joinTexts(at, places, 0, count, dictionary.bytes, dictionary.offsets, first, dictionary.count, out);
    for (const id of memory.u32(out, count)) if (id !== ABSENT) ids.push(id);
  }
  return ids;
}

function packedTexts(list: ValueList): readonly PackedBlock[] {
  let blocks = PACKED.get(list);
  if (blocks === undefined) {
    blocks = pack(list);
    PACKED.set(list, blocks);
  }
  return blocks;
}

function pack(list: ValueList): readonly PackedBlock[] {
  const texts = new Set(valuesOf(list).flatMap((value) => (value === null ? [] : [String(value)])));
  const sorted = [...texts].sort((a, b) => (a < b ? -1 : 1));
  const blocks: PackedBlock[] = [];
  for (let from = 0; from < sorted.length; from += BLOCK_ROWS) {
    // Half of a surrogate pair is in no dictionary, but its bytes are those of U+FFFD.
    const parts = sorted.slice(from, from + BLOCK_ROWS).flatMap((text) => {
      const part = Buffer.from(text);
      return part.toString() === text ? [part] : [];
    });
    const offsets = new Uint32Array(parts.length + 1);
    parts.forEach((part, index) => {
      offsets[index + 1] = (offsets[index] ?? 0) + part.length;
    });
    blocks.push({ bytes: Buffer.concat(parts), offsets });
  }
  return blocks;
}
