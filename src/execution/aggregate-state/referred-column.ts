// Columns of texts that groups have references to.

import type { KernelMemory } from '../../kernels/memory.js';
import { packReferences } from '../block/packed-texts.js';
import { rememberTexts } from '../block/result-table.js';
import { referredTexts } from '../block/text-references.js';
import type { NumberedColumn, TextStates } from './state-operations.js';

/** The texts of the groups listed, which stay where they are. */
export function referredColumn(
  memory: KernelMemory,
  { references, count }: Pick<TextStates, 'references' | 'count'>,
  groups: Uint32Array,
): NumberedColumn {
  const words = memory.u32(references, count * 2);
  // A group's number is the id of its text.
  const ids = groups.map((group) => (group < count && words[group * 2] !== 0 ? group : count));
  const read = referredTexts(memory, references, count);
  return {
    ids,
    text: rememberTexts((id) => (id < count ? read(id) : null)),
    packed: { pack: packReferences(memory, references), nullId: count, isDistinct: false },
  };
}
