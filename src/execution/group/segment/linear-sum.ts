// Sums of `a * column + b` computed from sums of the stored column.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Expression } from '../../../model/expression.js';
import type { NumberColumnView } from '../../../storage/view.js';
import { clear, kernelFor } from '../../block/context.js';
import { unionOfNulls } from '../../expression/nulls.js';
import type { SegmentScope } from '../../expression/scope.js';
import { type NumberVector, storedNumbers } from '../../expression/vector.js';
import type { Accumulator } from './local-states.js';

/** factor * column summed over terms, plus a constant; modulo 2^64, so the sum of it may be taken apart exactly. */
interface Linear {
  readonly terms: ReadonlyMap<NumberColumnView, bigint>;
  readonly constant: bigint;
}

/**
 * SUM(a - b * 2 + 1) as SUM(a) - 2 SUM(b) + COUNT: sums run over the stored narrow columns, and the arithmetic happens
 * once per group.
 * @returns undefined when the column is not an expression linear in stored LONG columns
 */
export function linearSum(
  scope: SegmentScope,
  index: number,
  column: string,
): { accumulator: Accumulator; nulls: NumberVector | undefined; needsCounts: boolean } | undefined {
  const source = scope.source(column);
  if (source.kind !== 'computed' || source.vector.kind !== 'number' || source.vector.type !== 'LONG') return undefined;
  const linear = linearOf(scope, source.expression);
  if (linear === undefined || linear.terms.size === 0) return undefined;
  const { arena, context } = scope;
  const { memory, kernels } = context;
  const parts = [...linear.terms].map(([view, factor]) => {
    const physical = view.physical === 'F32' || view.physical === 'F64' ? 'I64' : view.physical;
    return {
      vector: storedNumbers(scope, view),
      factor,
      sumRuns: kernelFor(kernels, 'sumRuns', physical),
      sumGroups: kernelFor(kernels, 'sumGroups', physical),
    };
  });
  const nullable = parts.map((part) => part.vector).filter((vector) => vector.mayBeNull);
  const nulls: NumberVector | undefined =
    nullable.length === 0 ? undefined : { ...(source.vector as NumberVector), nulls: unionOfNulls(scope, nullable) };
  const perRow = parts.reduce((sum, { vector, factor }) => sum + vector.base * factor, linear.constant);
  const count = parts.length;
  // States of all parts follow each other, each with room for all groups.
  let room = 0;
  const stateOf = (part: number): Address => self.state + part * room * 8;
  const self: Accumulator = {
    bytesPerGroup: 8 * count,
    sums: true,
    takesStretches: true,
    state: 0,
    initialise: (from, to) => {
      if (from > 0) spread(from, to);
      room = to;
      for (let part = 0; part < count; part++) clear(context, stateOf(part) + from * 8, (to - from) * 8);
    },
    addRuns: (block, mask, runs, runCount) =>
      parts.forEach(({ vector, sumRuns }, part) => sumRuns(vector.values(block), mask, runs, runCount, stateOf(part))),
    addGroups: (block, rows, groups, n) =>
      parts.forEach(({ vector, sumGroups }, part) => sumGroups(vector.values(block), rows, groups, n, stateOf(part))),
    finish: (groupCount, counts) => {
      const scratch = arena.take(BLOCK_ROWS * 8);
      for (let from = 0; from < groupCount; from += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, groupCount - from);
        parts.forEach(({ factor }, part) => {
          const at = stateOf(part) + from * 8;
          if (factor !== 1n) kernels.multiplyI64(at, scalar(factor), 1, n, at);
          if (part > 0) kernels.addI64(self.state + from * 8, at, 0, n, self.state + from * 8);
        });
        if (perRow === 0n) continue;
        kernels.multiplyI64(counts + from * 8, scalar(perRow), 1, n, scratch);
        kernels.addI64(self.state + from * 8, scratch, 0, n, self.state + from * 8);
      }
    },
    combine: (from, cells, groups, n, table) => kernels.sumGroupsI64(self.state + from * 8, cells, groups, n, table.states[index]?.at ?? 0),
  };
  return { accumulator: self, nulls, needsCounts: perRow !== 0n };

  /** Moves the parts to their new beginnings after the states were moved to a larger place as one piece. */
  function spread(old: number, larger: number): void {
    for (let part = count - 1; part > 0; part--)
      memory.u8(self.state, (part * larger + old) * 8).copyWithin(part * larger * 8, part * old * 8, (part + 1) * old * 8);
  }

  function scalar(value: bigint): Address {
    const at = arena.take(8);
    memory.i64(at, 1)[0] = BigInt.asIntN(64, value);
    return at;
  }
}

function linearOf(scope: SegmentScope, expression: Expression): Linear | undefined {
  switch (expression.kind) {
    case 'literal': {
      const value = constantOf(expression)?.value;
      return typeof value === 'bigint' ? { terms: new Map(), constant: value } : undefined;
    }
    case 'column': {
      const source = scope.source(expression.name);
      if (source.kind === 'computed')
        return source.vector.kind === 'number' && source.vector.type === 'LONG' ? linearOf(scope, source.expression) : undefined;
      return source.kind === 'number' && source.column.type === 'LONG'
        ? { terms: new Map([[source.column, 1n]]), constant: 0n }
        : undefined;
    }
    case 'call': {
      const [a, b] = expression.arguments.map((argument) => linearOf(scope, argument));
      if (a === undefined || b === undefined || expression.arguments.length !== 2) return undefined;
      if (expression.function === '+') return add(a, b, 1n);
      if (expression.function === '-') return add(a, b, -1n);
      if (expression.function !== '*') return undefined;
      if (b.terms.size === 0) return scale(a, b.constant);
      return a.terms.size === 0 ? scale(b, a.constant) : undefined;
    }
    case 'lambda':
      return undefined;
  }
}

function add(a: Linear, b: Linear, sign: bigint): Linear {
  const terms = new Map(a.terms);
  for (const [column, factor] of b.terms) terms.set(column, (terms.get(column) ?? 0n) + sign * factor);
  return { terms, constant: a.constant + sign * b.constant };
}

/** A column times 0 stays a term: where it is null, so is the whole. */
function scale({ terms, constant }: Linear, factor: bigint): Linear {
  return { terms: new Map([...terms].map(([column, old]) => [column, old * factor])), constant: constant * factor };
}
