// Sums of `a * column + b` computed from sums of the stored column.

import { type Address, BLOCK_ROWS } from '../../../base/layout.js';
import { extended } from '../../../base/names.js';
import { constantOf, expressionType } from '../../../expression/expression-type.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import type { Expression } from '../../../model/expression.js';
import type { ColumnType } from '../../../model/schema.js';
import type { NumberColumnView } from '../../../storage/view.js';
import { clear } from '../../block/context.js';
import { unionOfNulls } from '../../expression/nulls.js';
import { type SegmentScope, type Source, storedSource, typeOfSource } from '../../expression/scope.js';
import { type NumberVector, storedNumbers } from '../../expression/vector.js';
import { integerSum } from './integer-sum.js';
import { type Accumulator, READS_NO_ROWS } from './local-states.js';

/** factor * column summed over terms, plus a constant; modulo 2^64, so the sum of it may be taken apart exactly. */
interface Linear {
  readonly terms: ReadonlyMap<NumberColumnView, bigint>;
  readonly constant: bigint;
}

/** Sums of stored columns by group, without their bases: read once for all sums that are made of them. */
export class StoredSums {
  readonly #scope: SegmentScope;
  readonly #byRows = new Map<SharedRows, SumOf>();

  constructor(scope: SegmentScope) {
    this.#scope = scope;
  }

  /** Sums over some rows, whose accumulators gain each that is made. */
  of(rows: SharedRows): SumOf {
    const known = this.#byRows.get(rows);
    if (known !== undefined) return known;
    const byColumn = new Map<NumberColumnView, Accumulator>();
    const sumOf: SumOf = (column) => {
      const sum = byColumn.get(column) ?? storedSum(this.#scope, column);
      if (!byColumn.has(column)) rows.accumulators.push(sum);
      byColumn.set(column, sum);
      return sum;
    };
    this.#byRows.set(rows, sumOf);
    return sumOf;
  }
}

interface SharedRows {
  readonly accumulators: Accumulator[];
}

type SumOf = (column: NumberColumnView) => Accumulator;

function storedSum(scope: SegmentScope, column: NumberColumnView): Accumulator {
  const { values } = storedNumbers(scope, column);
  return integerSum(scope, { physical: column.physical, values, takesStretches: true });
}

/** A sum that is made of others. */
export interface LinearSum {
  readonly nulls: NumberVector | undefined;
  readonly needsCounts: boolean;
  /** @param sums  of the rows that it is of */
  bind(sumOf: SumOf): Accumulator;
}

/**
 * SUM(a - b * 2 + 1) as SUM(a) - 2 SUM(b) + COUNT: sums run over the stored narrow columns, and the arithmetic happens
 * once per group.
 * @returns undefined when the column is not an expression linear in stored LONG columns
 */
export function linearSum(scope: SegmentScope, index: number, column: string): LinearSum | undefined {
  if (scope.computation(column) === undefined) return undefined;
  const linear = new Linears(scope).ofColumn(column);
  if (linear === undefined || linear.terms.size === 0) return undefined;
  const vectors = [...linear.terms.keys()].map((view) => storedNumbers(scope, view));
  const nullable = vectors.filter((vector) => vector.mayBeNull);
  const [first] = nullable;
  const nulls =
    first === undefined || nullable.length === 1 ? first : { ...first, stored: undefined, nulls: unionOfNulls(scope, nullable) };
  const perRow = [...linear.terms].reduce((sum, [view, factor]) => sum + view.base * factor, linear.constant);
  return { nulls, needsCounts: perRow !== 0n, bind: (sumOf) => madeOf(scope, index, linear, perRow, sumOf) };
}

/** @param perRow  what each row adds beside the stored values */
function madeOf(scope: SegmentScope, index: number, { terms }: Linear, perRow: bigint, sumOf: SumOf): Accumulator {
  const { arena, context } = scope;
  const { memory, kernels } = context;
  const parts = [...terms].map(([view, factor]) => ({ sum: sumOf(view), factor }));
  const scalar = (value: bigint): Address => {
    const at = arena.take(8);
    memory.i64(at, 1)[0] = BigInt.asIntN(64, value);
    return at;
  };
  const self: Accumulator = extended(READS_NO_ROWS, {
    sums: true,
    state: 0,
    finish: (groupCount: number, counts: Address) => {
      self.state = arena.take(Math.max(1, groupCount) * 8);
      const scratch = arena.take(Math.min(BLOCK_ROWS, Math.max(1, groupCount)) * 8);
      for (let from = 0; from < groupCount; from += BLOCK_ROWS) {
        const n = Math.min(BLOCK_ROWS, groupCount - from);
        const at = self.state + from * 8;
        clear(context, at, n * 8);
        for (const { sum, factor } of parts) {
          const added = factor === 1n ? sum.state + from * 8 : scratch;
          if (factor !== 1n) kernels.multiplyI64(sum.state + from * 8, scalar(factor), 1, n, scratch);
          kernels.addI64(at, added, 0, n, at);
        }
        if (perRow === 0n) continue;
        kernels.multiplyI64(counts + from * 8, scalar(perRow), 1, n, scratch);
        kernels.addI64(at, scratch, 0, n, at);
      }
    },
    combine: (from: number, cells: Address, groups: Address, n: number, table: Parameters<Accumulator['combine']>[4]) =>
      kernels.sumGroupsI64(self.state + from * 8, cells, groups, n, table.states[index]?.at ?? 0),
  });
  return self;
}

/** Expressions as linear ones, each virtual column once however often others name it. */
class Linears {
  readonly #scope: SegmentScope;
  readonly #known = new Map<string, Linear | undefined>();
  /** Virtual columns whose expressions are being read: within one, its name means the stored column. */
  readonly #open = new Set<string>();

  constructor(scope: SegmentScope) {
    this.#scope = scope;
  }

  ofColumn(name: string): Linear | undefined {
    if (this.#open.has(name)) return stored(storedSource(this.#scope.view, name));
    if (this.#known.has(name)) return this.#known.get(name);
    const computed = this.#scope.computation(name);
    const linear = computed === undefined ? stored(this.#scope.source(name)) : this.#ofComputed(name, computed);
    this.#known.set(name, linear);
    return linear;
  }

  #ofComputed(name: string, { expression, outputType }: Pick<VirtualColumn, 'expression' | 'outputType'>): Linear | undefined {
    this.#open.add(name);
    try {
      const isLong = (outputType ?? 'LONG') === 'LONG' && expressionType(expression, (each) => this.#typeOf(each)) === 'LONG';
      return isLong ? this.#of(expression) : undefined;
    } finally {
      this.#open.delete(name);
    }
  }

  #typeOf(name: string): ColumnType | undefined {
    return this.#open.has(name) ? typeOfSource(storedSource(this.#scope.view, name)) : this.#scope.typeOf(name);
  }

  #of(expression: Expression): Linear | undefined {
    switch (expression.kind) {
      case 'literal': {
        const value = constantOf(expression)?.value;
        return typeof value === 'bigint' ? { terms: new Map(), constant: value } : undefined;
      }
      case 'column':
        return this.ofColumn(expression.name);
      case 'call': {
        const [a, b] = expression.arguments.map((argument) => this.#of(argument));
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
}

function stored(source: Source): Linear | undefined {
  return source.kind === 'number' && source.column.type === 'LONG' ? { terms: new Map([[source.column, 1n]]), constant: 0n } : undefined;
}

function add(a: Linear, b: Linear, sign: bigint): Linear {
  const terms = new Map(a.terms);
  for (const [column, factor] of b.terms) terms.set(column, wrapped((terms.get(column) ?? 0n) + sign * factor));
  return { terms, constant: wrapped(a.constant + sign * b.constant) };
}

/** A column times 0 stays a term: where it is null, so is the whole. */
function scale({ terms, constant }: Linear, factor: bigint): Linear {
  return { terms: new Map([...terms].map(([column, old]) => [column, wrapped(old * factor)])), constant: wrapped(constant * factor) };
}

const wrapped = (value: bigint): bigint => BigInt.asIntN(64, value);
