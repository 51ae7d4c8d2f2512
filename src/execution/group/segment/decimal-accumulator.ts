// Sums and extremes of doubles that are stored as decimal integers.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { Decimals } from '../../expression/vector.js';
import { integerSum } from './integer-sum.js';
import { type Accumulator, addBase, initialExtremes } from './local-states.js';

/** The sum of doubles kept as integers: exact, whatever the order; one division a group makes it a double. */
export function decimalSum(scope: SegmentScope, index: number, { physical, base, scale, values }: Decimals): Accumulator {
  const { kernels } = scope.context;
  return integerSum(scope, { physical, values, takesStretches: true }, (self) => ({
    finish(groupCount, counts) {
      if (base !== 0n) addBase(scope, self.state, counts, base, groupCount);
      const scratch = scope.arena.take(BLOCK_ROWS * 8);
      const divide = divider(scope, scale);
      for (let from = 0; from < groupCount; from += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, groupCount - from);
        kernels.toF64I64(self.state + from * 8, 0, n, 0n, scratch);
        divide(scratch, n, self.state + from * 8);
      }
    },
    combine: (from, cells, groups, n, table) =>
      kernels.sumGroupsF64(self.state + from * 8, cells, groups, n, table.states[index]?.at ?? 0, 1),
  }));
}

/** Order among the integers is order among the doubles. */
export function decimalExtreme(
  scope: SegmentScope,
  index: number,
  { physical, base, scale, values }: Decimals,
  kind: 'min' | 'max',
): Accumulator {
  const { kernels } = scope.context;
  const byRuns = kernelFor(kernels, `${kind}Runs`, physical);
  const byGroups = kernelFor(kernels, `${kind}Groups`, physical);
  const combineGroups = kernelFor(kernels, `${kind}Groups`, 'F64');
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  const divide = divider(scope, scale);
  const self: Accumulator = {
    bytesPerGroup: 4,
    sums: false,
    takesStretches: true,
    state: 0,
    initialise: (from, to) => initialExtremes(scope, physical, kind, self.state, from, to),
    addRuns: (block, mask, runs, runCount) => byRuns(values(block), mask, runs, runCount, self.state),
    addGroups: (block, rows, groups, n) => byGroups(values(block), rows, groups, n, self.state),
    finish: () => undefined,
    combine(from, cells, groups, n, table) {
      kernels.toF64U32(self.state + from * 4, cells, n, base, wide);
      divide(wide, n, wide);
      combineGroups(wide, 0, groups, n, table.states[index]?.at ?? 0);
    },
  };
  return self;
}

function divider({ arena, context: { memory, kernels } }: SegmentScope, scale: number): (at: Address, n: number, out: Address) => void {
  const divisor = arena.take(8);
  memory.f64(divisor, 1)[0] = scale;
  return (at, n, out) => kernels.divideF64(at, divisor, 1, n, out);
}
