import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomSource } from '../../bench/data/random.js';
import type { ResultColumn, ResultTable } from '../../src/execution/block/result-table.js';
import { rowFilter } from '../../src/execution/post/row-filter.js';
import type { Expression } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import { caseCount } from '../case-count.js';

/* Filters that compare numbers of result rows, against the order of numbers: null is unknown, NaN above all others. */

const comparisons = suite('comparisons of numbers of result rows');

type Cell = number | bigint | null;

const LONGS: readonly Cell[] = [null, 0n, 1n, -1n, 7n, 2n ** 31n, -(2n ** 40n)];
const FAR_LONGS: readonly Cell[] = [...LONGS, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, -(2n ** 63n)];
const DOUBLES: readonly Cell[] = [null, 0, -0, 1, -1, 7.5, 2 ** 31, Infinity, -Infinity, Number.NaN];

function order(a: number | bigint, b: number | bigint): number {
  if (typeof a === 'bigint' && typeof b === 'bigint') return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [Number(a), Number(b)];
  if (Number.isNaN(left) || Number.isNaN(right)) return Number(Number.isNaN(left)) - Number(Number.isNaN(right));
  return left < right ? -1 : left > right ? 1 : 0;
}

const HOLDS: Readonly<Record<string, (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '==': (order) => order === 0,
  '!=': (order) => order !== 0,
};

function expected(a: Cell, operator: string, b: Cell): boolean | null {
  return a === null || b === null ? null : (HOLDS[operator]?.(order(a, b)) ?? null);
}

function columnOf(name: string, kind: 'long' | 'double', cells: readonly Cell[]): ResultColumn {
  const nulls = cells.includes(null) ? Uint8Array.from(cells, (cell) => (cell === null ? 1 : 0)) : null;
  if (kind === 'long') return { kind, name, values: BigInt64Array.from(cells, (cell) => (cell as bigint | null) ?? 0n), nulls };
  return { kind, name, type: 'DOUBLE', values: Float64Array.from(cells, (cell) => (cell as number | null) ?? 0), nulls };
}

const literal = (value: Cell): Expression => ({ kind: 'literal', type: typeof value === 'bigint' ? 'LONG' : 'DOUBLE', value });

for (let seed = 1; seed <= caseCount(60); seed++)
  comparisons(`drawn columns, seed ${seed}`, () => {
    const random = randomSource(seed);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    const drawn = (): { kind: 'long' | 'double'; cells: Cell[]; from: readonly Cell[] } => {
      const kind = random() < 0.5 ? 'long' : 'double';
      const all = kind === 'double' ? DOUBLES : random() < 0.5 ? LONGS : FAR_LONGS;
      const from = random() < 0.5 ? all : all.slice(1);
      return { kind, from, cells: Array.from({ length: 50 }, () => pick(from)) };
    };
    const [a, b] = [drawn(), drawn()];
    const table: ResultTable = { rowCount: 50, keys: [], columns: [columnOf('a', a.kind, a.cells), columnOf('b', b.kind, b.cells)] };
    const check = (filter: Filter, truth: (row: number) => boolean | null): void => {
      const test = rowFilter(table, filter, { check: () => undefined });
      for (let row = 0; row < 50; row++)
        assert.is(test(row), truth(row), `${String(a.cells[row])} and ${String(b.cells[row])} by ${filter.kind} of seed ${seed}`);
    };
    const left: Expression = { kind: 'column', name: 'a' };
    const bound = (): Cell => pick(b.from.filter((cell) => cell !== null && !Number.isNaN(cell)));
    for (const operator of Object.keys(HOLDS)) {
      const right: Expression = { kind: 'column', name: 'b' };
      check({ kind: 'expression', expression: { kind: 'call', function: operator, arguments: [left, right] } }, (row) =>
        expected(a.cells[row] ?? null, operator, b.cells[row] ?? null),
      );
      const value = bound();
      check({ kind: 'expression', expression: { kind: 'call', function: operator, arguments: [left, literal(value)] } }, (row) =>
        expected(a.cells[row] ?? null, operator, value),
      );
    }
    const [lower, upper] = [random() < 0.3 ? null : bound(), random() < 0.3 ? null : bound()];
    const [lowerStrict, upperStrict] = [random() < 0.5, random() < 0.5];
    const type = b.kind === 'long' ? 'LONG' : 'DOUBLE';
    check({ kind: 'range', column: 'a', type, ordering: 'numeric', lower, upper, lowerStrict, upperStrict }, (row) => {
      const value = a.cells[row] ?? null;
      if (value === null) return null;
      const isAbove = lower === null || expected(value, lowerStrict ? '>' : '>=', lower) === true;
      return isAbove && (upper === null || expected(value, upperStrict ? '<' : '<=', upper) === true);
    });
  });

comparisons.run();
