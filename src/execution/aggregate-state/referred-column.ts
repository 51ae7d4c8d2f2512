// Columns of texts that groups have references to.

import type { KernelMemory } from '../../kernels/memory.js';
import { packReferences } from '../block/packed-texts.js';
import { rememberTexts } from '../block/result-table.js';
import { LENGTH, referredTexts } from '../block/text-references.js';
import type { NumberedColumn, TextStates } from './state-operations.js';

/** The texts of the groups listed, which stay where they are. */
export function referredColumn(
  memory: KernelMemory,
  { references, count }: Pick<TextStates, 'references' | 'count'>,
  groups: Uint32Array,
): NumberedColumn {
  const read = referredTexts(memory, references, count);
  return {
    ids: textIds(memory, { references, count }, groups),
    text: rememberTexts((id) => (id < count ? read(id) : null)),
    packed: { pack: packReferences(memory, references), nullId: count, isDistinct: false },
  };
}

/** Slots of texts that are met, twice as many as are remembered. */
const SLOT_BITS = 13;
const REMEMBERED_MAX = 1 << (SLOT_BITS - 1);
/** Groups for each of the texts that are remembered, where these are worth being looked for. */
const SHARED_MIN = 4;
/** Longer texts are not compared: byte by byte they cost more than to be sorted. */
const COMPARED_BYTES = 32;

/**
 * The number of the first group with the same text is the id of a group's text, as far as few have to be remembered: many groups
 * often share a few texts, which are then packed and sorted once. `count`: a group has none.
 */
function textIds(memory: KernelMemory, { references, count }: Pick<TextStates, 'references' | 'count'>, groups: Uint32Array): Uint32Array {
  const ids = new Uint32Array(groups.length);
  const [words, bytes] = [memory.u32(references, count * 2), memory.u8(0)];
  const slots = new Uint32Array(1 << SLOT_BITS);
  let remembered = 0;
  let looksOn = true;
  for (let at = 0; at < groups.length; at++) {
    const group = groups[at] ?? 0;
    const start = group < count ? (words[group * 2] ?? 0) : 0;
    ids[at] = start === 0 ? count : group;
    const size = start === 0 ? 0 : (words[group * 2 + 1] ?? 0) & LENGTH;
    if (start === 0 || !looksOn || size > COMPARED_BYTES) continue;
    let hash = size;
    for (let byte = 0; byte < size; byte++) hash = Math.imul(hash ^ (bytes[start + byte] ?? 0), 0x01000193);
    let slot = Math.imul(hash, 0x9e3779b1) >>> (32 - SLOT_BITS);
    let known = slots[slot] ?? 0;
    while (known !== 0 && !isSame(bytes, words, known - 1, start, size)) {
      slot = (slot + 1) & (slots.length - 1);
      known = slots[slot] ?? 0;
    }
    if (known !== 0) ids[at] = known - 1;
    else if (remembered < REMEMBERED_MAX) {
      slots[slot] = group + 1;
      remembered++;
    } else looksOn = at >= REMEMBERED_MAX * SHARED_MIN;
  }
  return ids;
}

/** Whether the text of a group has these bytes. */
function isSame(bytes: Uint8Array, words: Uint32Array, group: number, start: number, size: number): boolean {
  if (((words[group * 2 + 1] ?? 0) & LENGTH) !== size) return false;
  const from = words[group * 2] ?? 0;
  for (let byte = 0; byte < size; byte++) if (bytes[from + byte] !== bytes[start + byte]) return false;
  return true;
}
