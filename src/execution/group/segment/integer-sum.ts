// Sums of stored integers over the groups of one segment.

import type { Address, Physical } from '../../../base/layout.js';
import { type Block, clear, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { Accumulator } from './local-states.js';

/** Integers as they are stored, without their base. */
interface StoredIntegers {
  readonly physical: Physical;
  readonly takesStretches: boolean;
  values(block: Block): Address;
}

/**
 * Sums of stored integers by group, as i64.
 * @param ending  how they end up in the table; without it they are only read, in `state`
 */
export function integerSum(
  scope: SegmentScope,
  { physical, takesStretches, values }: StoredIntegers,
  ending: (self: Accumulator) => Partial<Pick<Accumulator, 'pack' | 'finish' | 'combine'>> = () => ({}),
): Accumulator {
  const { kernels } = scope.context;
  const type = physical === 'F32' || physical === 'F64' ? 'I64' : physical;
  const sumRuns = kernelFor(kernels, 'sumRuns', type);
  const sumGroups = kernelFor(kernels, 'sumGroups', type);
  const self: Accumulator = {
    bytesPerGroup: 8,
    sums: true,
    takesStretches,
    state: 0,
    initialise: (from, to) => clear(scope.context, self.state + from * 8, (to - from) * 8),
    addRuns: (block, mask, runs, runCount) => sumRuns(values(block), mask, runs, runCount, self.state),
    addGroups: (block, rows, groups, n) => sumGroups(values(block), rows, groups, n, self.state),
    ...(type === 'I64'
      ? {}
      : {
          tally: (block, ids, { groupCount, scratch }, counts) =>
            kernels[`tally${ids.type}${type}`](ids.at, values(block), block.rows, groupCount, scratch, counts, self.state),
        }),
    ...(type === 'U16' ? { narrowValues: values } : {}),
    finish: () => undefined,
    combine: () => undefined,
  };
  return Object.assign(self, ending(self));
}
