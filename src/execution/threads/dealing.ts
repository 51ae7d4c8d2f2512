// Deals work out to the threads of a query, by a counter that they share.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../../kernels/memory.js';
import type { GroupPlan } from '../../model/plan.js';
import type { SegmentView } from '../../storage/view.js';
import { type Morsel, type MorselCut, morselsOf } from '../group/run.js';
import { PARTS } from '../group/table/group-parts.js';

/** The threads of a query have it in common. */
interface Shared {
  /** Its second word is the counter. */
  readonly control: { readonly flags: Address };
  readonly plan: GroupPlan;
  readonly data: { readonly views: readonly SegmentView[] };
  readonly cut: MorselCut;
}

/** Threads of a query cut the same morsels and share one counter, so a fast thread takes more. */
export function morselTaker({ control, plan, data, cut }: Shared, memory: KernelMemory): () => Morsel | undefined {
  const morsels = morselsOf(data.views, plan, cut);
  const words = memory.i32(control.flags, 2);
  return () => morsels[Atomics.add(words, 1, 1)];
}

/** Parts of divided tables, by the counter of morsels, which begins anew. */
export function partTaker({ control }: Pick<Shared, 'control'>, memory: KernelMemory): () => number | undefined {
  const words = memory.i32(control.flags, 2);
  return () => {
    const part = Atomics.add(words, 1, 1);
    return part < PARTS ? part : undefined;
  };
}
