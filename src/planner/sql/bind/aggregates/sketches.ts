// SQL aggregates that estimate distinct values and quantiles.

import { type Bound, call, literal, text } from '../../relation/bound.js';
import { type AggregateFunction, type AggregateUse, collectStates, numericOperand } from '../aggregate-list.js';

/** Estimates of distinct values and of quantiles. */
export const SKETCH_AGGREGATES: Readonly<Record<string, AggregateFunction>> = {
  APPROX_COUNT_DISTINCT_DS_HLL: (use) => hll(use, 'BIGINT', 'value'),
  DS_HLL: (use) => hll(use, 'COMPLEX<HLLSketch>', 'state'),
  APPROX_COUNT_DISTINCT_DS_THETA: (use) => roundedTheta(use, thetaSize(use), 2),
  DS_THETA(use) {
    const settings = { operand: () => use.call.any(0), type: 'COMPLEX<thetaSketch>', argumentsMax: 2 } as const;
    return collectStates(use, { type: 'theta', size: thetaSize(use) }, settings, 'state');
  },
  APPROX_QUANTILE_DS(use) {
    const fraction = use.call.number(1);
    if (fraction.kind !== 'literal' || fraction.value === null || Number(fraction.value) < 0 || Number(fraction.value) > 1)
      throw use.call.mismatch(1, 'a literal number from 0 to 1');
    const state = quantiles(use, 2);
    return call('DOUBLE', ':quantile', state, text('classic'), literal('DOUBLE', Number(fraction.value)));
  },
  DS_QUANTILES_SKETCH: (use) => quantiles(use, 1),
};

function hll(use: AggregateUse, type: 'BIGINT' | 'COMPLEX<HLLSketch>', output: 'value' | 'state'): Bound {
  const lgK = use.call.constantInteger(1, 12);
  if (lgK < 4 || lgK > 21) throw use.call.mismatch(1, 'an integer from 4 to 21');
  const target = use.call.constantText(2, 'HLL_4').toUpperCase();
  if (target !== 'HLL_4' && target !== 'HLL_6' && target !== 'HLL_8') throw use.call.mismatch(2, "'HLL_4', 'HLL_6' or 'HLL_8'");
  const width = target === 'HLL_4' ? 4 : target === 'HLL_6' ? 6 : 8;
  const settings = { operand: () => use.call.any(0), type, argumentsMax: 3 };
  return collectStates(use, { type: 'hll', lgK, target: width, round: true, stringEncoding: 'utf16le' }, settings, output);
}

function thetaSize(use: AggregateUse): number {
  const size = use.call.constantInteger(1, 16384);
  if (size < 16 || size > 1 << 26 || !Number.isInteger(Math.log2(size))) throw use.call.mismatch(1, 'a power of 2 from 16 on');
  return size;
}

export function roundedTheta(use: AggregateUse, size: number, argumentsMax: number): Bound {
  const estimate = collectStates(use, { type: 'theta', size }, { operand: () => use.call.any(0), type: 'DOUBLE', argumentsMax });
  if (use.isStored === true) return estimate;
  return call('BIGINT', 'cast', call('DOUBLE', 'round', estimate), text('LONG'));
}

/** `sizeAt`: the argument that is k. */
function quantiles(use: AggregateUse, sizeAt: number): Bound {
  const k = use.call.constantInteger(sizeAt, 128);
  if (k < 2 || k > 32768 || !Number.isInteger(Math.log2(k))) throw use.call.mismatch(sizeAt, 'a power of 2 from 2 to 32768');
  const settings = { operand: () => numericOperand(use), type: 'COMPLEX<quantilesDoublesSketch>', argumentsMax: sizeAt + 1 } as const;
  return collectStates(use, { type: 'quantiles', k }, settings, 'state');
}
