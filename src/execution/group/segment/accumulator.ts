// Accumulators of counts, sums and extremes over the groups of one segment.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import type { KernelSet } from '../../../kernels/contract.js';
import { clear, kernelFor } from '../../block/context.js';
import type { SegmentScope } from '../../expression/scope.js';
import type { NumberVector } from '../../expression/vector.js';
import { decimalExtreme, decimalSum } from './decimal-accumulator.js';
import { integerSum } from './integer-sum.js';
import { type Accumulator, addBase, initialExtremes, type LocalStates, READS_NO_ROWS } from './local-states.js';

/** @param rows  where the rows of each group are counted: `state` of i64, or of words that are shared with a sum */
export function countAccumulator(
  scope: SegmentScope,
  index: number,
  rows: { readonly state: Address; readonly words: Accumulator | undefined },
): Accumulator {
  const { kernels } = scope.context;
  // Spelled out: every query makes some, and fields behind a spread go through V8's runtime.
  return {
    bytesPerGroup: READS_NO_ROWS.bytesPerGroup,
    takesStretches: READS_NO_ROWS.takesStretches,
    initialise: READS_NO_ROWS.initialise,
    addRuns: READS_NO_ROWS.addRuns,
    addGroups: READS_NO_ROWS.addGroups,
    finish: READS_NO_ROWS.finish,
    sums: true,
    state: 0,
    combine(base, cells, groups, n, table) {
      const [from, to] = [rows.state + base * 8, table.states[index]?.at ?? 0];
      if (rows.words === undefined) kernels.sumGroupsI64(from, cells, groups, n, to);
      else kernels.foldCountSums(from, cells, groups, n, to, 0);
    },
  };
}

export function sumAccumulator(scope: SegmentScope, index: number, vector: NumberVector, states: LocalStates): Accumulator {
  if (vector.decimals !== undefined) return decimalSum(scope, index, vector.decimals);
  return vector.type === 'LONG' ? longSum(scope, index, vector) : doubleSum(scope, index, vector, states);
}

function longSum(scope: SegmentScope, index: number, { physical, base, stored, values }: NumberVector): Accumulator {
  const { kernels } = scope.context;
  let isPacked = false;
  return integerSum(scope, { physical, values, takesStretches: stored !== undefined }, (self) => {
    const ending: Partial<Accumulator> = {
      finish(groupCount, counts) {
        if (base !== 0n) addBase(scope, self.state, counts, base, groupCount);
      },
      combine(from, cells, groups, n, table) {
        const [sums, to] = [self.state + from * 8, table.states[index]?.at ?? 0];
        if (isPacked) kernels.foldCountSums(sums, cells, groups, n, 0, to);
        else kernels.sumGroupsI64(sums, cells, groups, n, to);
      },
    };
    if (base === 0n && (physical === 'U8' || physical === 'U16'))
      ending.pack = () => {
        isPacked = true;
        const countAndSum = kernelFor(kernels, 'countSumGroups', physical);
        self.addGroups = (block, rows, groups, n) => countAndSum(values(block), rows, groups, n, self.state);
      };
    return ending;
  });
}

function doubleSum(scope: SegmentScope, index: number, vector: NumberVector, { copies }: LocalStates): Accumulator {
  const { kernels } = scope.context;
  const type = vector.physical === 'F32' ? 'F32' : 'F64';
  const sumRuns = kernelFor(kernels, 'sumRuns', type);
  const sumGroups = kernelFor(kernels, 'sumGroups', type);
  const self: Accumulator = {
    bytesPerGroup: 8 * copies,
    sums: true,
    takesStretches: vector.stored !== undefined,
    state: 0,
    initialise: (from, to) => clear(scope.context, self.state + from * 8 * copies, (to - from) * 8 * copies),
    addRuns: (block, mask, runs, runCount) => sumRuns(vector.values(block), mask, runs, runCount, self.state),
    addGroups: (block, rows, groups, n) => sumGroups(vector.values(block), rows, groups, n, self.state, copies),
    ...(type === 'F32' || copies === 1
      ? {}
      : {
          tally: (block, ids, { groupCount, scratch }, counts) =>
            kernels[`tally${ids.type}${type}`](ids.at, vector.values(block), block.rows, groupCount, scratch, counts, self.state),
        }),
    finish: (groupCount) => {
      if (copies === 4) kernels.foldSums(self.state, groupCount, self.state);
    },
    combine: (from, cells, groups, n, table) =>
      kernels.sumGroupsF64(self.state + from * 8, cells, groups, n, table.states[index]?.at ?? 0, 1),
  };
  return self;
}

/** The extreme of all LONGs of a stored column, which is written beside it; undefined where it is not. */
function knownExtreme(scope: SegmentScope, index: number, { stored }: NumberVector, kind: 'min' | 'max'): Accumulator | undefined {
  const value = stored?.[kind];
  if (typeof value !== 'bigint' || stored?.isPart === true) return undefined;
  const { kernels, memory } = scope.context;
  const byGroups = kernelFor(kernels, `${kind}Groups`, 'I64');
  const at = scope.arena.take(8);
  memory.i64(at, 1)[0] = value;
  return {
    ...READS_NO_ROWS,
    sums: false,
    state: at,
    combine: (from, cells, groups, n, table) => byGroups(at + from * 8, cells, groups, n, table.states[index]?.at ?? 0),
  };
}

/** @param isWhole  whether there is one group, and every row that the column was uploaded with is in it */
export function extremeAccumulator(
  scope: SegmentScope,
  index: number,
  vector: NumberVector,
  kind: 'min' | 'max',
  isWhole: boolean,
): Accumulator {
  const known = isWhole ? knownExtreme(scope, index, vector, kind) : undefined;
  if (known !== undefined) return known;
  if (vector.decimals !== undefined) return decimalExtreme(scope, index, vector.decimals, kind);
  const { kernels } = scope.context;
  const { physical } = vector;
  const narrow = physical === 'U8' || physical === 'U16' || physical === 'U32';
  const byRuns = kernelFor(kernels, `${kind}Runs`, physical);
  const byGroups = kernelFor(kernels, `${kind}Groups`, physical);
  const bytes = narrow ? 4 : 8;
  const self: Accumulator = {
    bytesPerGroup: bytes,
    sums: false,
    takesStretches: vector.stored !== undefined,
    state: 0,
    initialise: (from, to) => initialExtremes(scope, physical, kind, self.state, from, to),
    addRuns: (block, mask, runs, runCount) => byRuns(vector.values(block), mask, runs, runCount, self.state),
    addGroups: (block, rows, groups, n) => byGroups(vector.values(block), rows, groups, n, self.state),
    finish: () => undefined,
    combine: narrow
      ? combineNarrow(scope, index, vector, kind, () => self.state)
      : combineWide(kernels, index, physical === 'I64' ? 'I64' : 'F64', kind, () => self.state),
  };
  return self;
}

function combineWide(
  kernels: KernelSet,
  index: number,
  type: 'I64' | 'F64',
  kind: 'min' | 'max',
  state: () => Address,
): Accumulator['combine'] {
  const byGroups = kernelFor(kernels, `${kind}Groups`, type);
  return (from, cells, groups, n, table) => byGroups(state() + from * 8, cells, groups, n, table.states[index]?.at ?? 0);
}

/** Combines narrow states. Only groups with a row are combined, so the initial state never meets the base. */
function combineNarrow(
  scope: SegmentScope,
  index: number,
  vector: NumberVector,
  kind: 'min' | 'max',
  state: () => Address,
): Accumulator['combine'] {
  const { kernels } = scope.context;
  const byGroups = kernelFor(kernels, `${kind}Groups`, 'I64');
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  return (from, cells, groups, n, table) => {
    kernels.toI64U32(state() + from * 4, cells, n, vector.base, wide);
    byGroups(wide, 0, groups, n, table.states[index]?.at ?? 0);
  };
}
