// Aggregate states of approximate and fixed-bucket histograms.

import { BLOCK_ROWS } from '../../../base/layout.js';
import { Structured } from '../../../expression/value.js';
import type { AggregateState } from '../../../model/aggregate-state.js';
import { ApproximateHistogram } from '../../../sketch/approximate-histogram.js';
import { fromBase64, toBase64 } from '../../../sketch/base64.js';
import { BreaksHistogram } from '../../../sketch/breaks-histogram.js';
import { FixedHistogram } from '../../../sketch/fixed-histogram.js';
import { clear, kernelFor } from '../../block/context.js';
import { asNumbers } from '../../expression/convert.js';
import type { SegmentScope } from '../../expression/scope.js';
import { numberFeed } from '../number-feed.js';
import type { Feed, StateOperations } from '../state-operations.js';

export function histogramState(aggregateState: Extract<AggregateState, { type: 'histogram' }>): StateOperations<ApproximateHistogram> {
  const limits = { lower: aggregateState.lower ?? -Infinity, upper: aggregateState.upper ?? Infinity };
  const encode = (state: ApproximateHistogram): string => toBase64(state.encode());
  return {
    isOrdered: true,
    emptyValue: null,
    create: () => new ApproximateHistogram(aggregateState.resolution, limits),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode,
    decode: (text) => ApproximateHistogram.decode(fromBase64(text), limits),
    addNumber: (state, value) => state.add(value),
    compare: (a, b) => a.count - b.count,
    value: (state) => (aggregateState.asBytes ? encode(state) : new Structured(state.equalBuckets(aggregateState.buckets))),
    bind: (scope, [column = '']) => numberFeed(scope, column, (state, value) => state.add(value)),
  };
}

export function breaksHistogramState({ breaks }: Extract<AggregateState, { type: 'breaksHistogram' }>): StateOperations<BreaksHistogram> {
  return {
    isOrdered: false,
    emptyValue: new Structured(new BreaksHistogram(breaks).toJson()),
    create: () => new BreaksHistogram(breaks),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode: (state) => toBase64(state.encode()),
    decode: (text) => BreaksHistogram.decode(fromBase64(text)),
    addNumber: (state, value) => state.add(value),
    compare: (a, b) => a.count - b.count,
    value: (state) => new Structured(state.toJson()),
    bind: (scope, [column = '']) => numberFeed(scope, column, (state, value) => state.add(value)),
  };
}

export function fixedHistogramState({
  shape,
  asBytes,
}: Extract<AggregateState, { type: 'fixedHistogram' }>): StateOperations<FixedHistogram> {
  const encode = (state: FixedHistogram): string => toBase64(state.encode());
  return {
    isOrdered: false,
    emptyValue: null,
    create: () => new FixedHistogram(shape),
    merge: (into, from) => into.merge(from),
    bytes: (state) => state.bytes,
    encode,
    decode: (text) => FixedHistogram.decode(fromBase64(text)),
    addNumber: (state, value) => state.add(value),
    addNull: (state) => state.add(null),
    compare: (a, b) => a.count - b.count,
    value: (state) => (asBytes ? encode(state) : new Structured(state.toJson())),
    bind: (scope, [column = '']) => bindWithNulls(scope, column),
  };
}

/** Nulls are counted too, and a column that a segment does not have is null there. */
function bindWithNulls(scope: SegmentScope, column: string): Feed<FixedHistogram> {
  const { memory, kernels } = scope.context;
  const vector = asNumbers(scope, scope.source(column), 'DOUBLE');
  const widen = kernelFor(kernels, 'toF64', vector?.physical ?? 'F64');
  const wide = scope.arena.take(BLOCK_ROWS * 8);
  clear(scope.context, wide, BLOCK_ROWS * 8);
  return {
    nulls: undefined,
    add(block, rows, groups, n, stateOf) {
      if (vector !== undefined) widen(vector.values(block), rows, n, vector.base, wide);
      const bits = vector?.nulls(block) ?? 0;
      const nulls = bits === 0 ? undefined : memory.u8(bits, Math.ceil(block.rows / 8));
      const listed = rows === 0 ? undefined : memory.u32(rows, n);
      const values = memory.f64(wide, n);
      const numbers = memory.u32(groups, n);
      for (let i = 0; i < n; i++) {
        const row = listed === undefined ? i : (listed[i] ?? 0);
        const isNull = vector === undefined || (nulls !== undefined && ((nulls[row >>> 3] ?? 0) & (1 << (row & 7))) !== 0);
        stateOf(numbers[i] ?? 0).add(isNull ? null : (values[i] ?? 0));
      }
    },
  };
}
