// Divides an input source into splits, each the source of a sub-task.

import type { SplitHint } from '../task-spec/split-hint.js';
import type { InputSource, SourceUnit, UnitLimits } from './source-kind.js';

/** Input of a sub-task: the spec of its source. */
export interface Split {
  readonly source: Readonly<Record<string, unknown>>;
  /** null when unknown. */
  readonly sizeBytes: number | null;
}

/** The splits of a source in its order; one alone, or none, when it cannot be divided. */
export async function splitsOf(source: InputSource, hint: SplitHint, limits: UnitLimits): Promise<readonly Split[]> {
  const units = (await source.units?.(limits)) ?? [];
  return groupsOf(units, hint).map((group) => ({ source: sourceOf(group), sizeBytes: sizeOf(group) }));
}

/** A unit of unknown size, and one above the largest size, is a group of its own. */
function groupsOf(units: readonly SourceUnit[], { maxBytes, maxUnits }: SplitHint): readonly (readonly SourceUnit[])[] {
  const groups: SourceUnit[][] = [];
  let bytes = 0;
  let isOpen = false;
  for (const unit of units) {
    const size = unit.sizeBytes ?? maxBytes;
    const last = groups.at(-1);
    if (isOpen && last !== undefined && last.length < maxUnits && bytes + size <= maxBytes) {
      last.push(unit);
      bytes += size;
    } else {
      groups.push([unit]);
      bytes = size;
    }
    isOpen = unit.sizeBytes !== null;
  }
  return groups;
}

function sizeOf(units: readonly SourceUnit[]): number | null {
  return units.some(({ sizeBytes }) => sizeBytes === null) ? null : units.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0);
}

/** Units of one origin that follow each other are one source; several sources are combined. */
function sourceOf(units: readonly SourceUnit[]): Readonly<Record<string, unknown>> {
  const runs: { readonly origin: SourceUnit['origin']; readonly items: unknown[] }[] = [];
  for (const { origin, item } of units) {
    const last = runs.at(-1);
    if (last?.origin === origin) last.items.push(item);
    else runs.push({ origin, items: [item] });
  }
  const specs = runs.flatMap(({ origin, items }) => origin.specsOf(items));
  const [only, second] = specs;
  return only !== undefined && second === undefined ? only : { type: 'combining', delegates: specs };
}
