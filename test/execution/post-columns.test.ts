import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ResultColumn, ResultTable } from '../../src/execution/block/result-table.js';
import { typeOfResult, valueAt } from '../../src/execution/block/result-table.js';
import { computedDoubles } from '../../src/execution/post/computed-doubles.js';
import { sortedRows } from '../../src/execution/post/sort.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { parseExpression } from '../../src/expression/parse.js';
import { convert } from '../../src/expression/value.js';
import type { SortKey } from '../../src/model/plan.js';
import { caseCount } from '../case-count.js';

const check = (): void => undefined;

type Cell = string | number | bigint | null;

const someDouble = fc.oneof(
  fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 5e-324, -5e-324, 1, -1, 1.5, -1.5, Number.MAX_VALUE),
  fc.double(),
  fc.integer({ min: -300, max: 300 }),
);
const someLong = fc.oneof(
  fc.constantFrom(0n, 1n, -1n, 2n ** 32n, -(2n ** 32n), 2n ** 63n - 1n, -(2n ** 63n)),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -300n, max: 300n }),
);
const someText = fc.constantFrom('', 'a', 'b', 'ab', 'ä', 'Z', '10', '9');
const nullable = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value, { freq: 6 });

/** Columns d, l, s and t of as many rows; t has longs without nulls. */
const tables = fc
  .array(fc.tuple(nullable(someDouble), nullable(someLong), nullable(someText), someLong), { maxLength: 60 })
  .map((rows): ResultTable => {
    const nulls = (index: number): Uint8Array | null =>
      rows.some((row) => row[index] === null) ? Uint8Array.from(rows, (row) => Number(row[index] === null)) : null;
    const texts = rows.map(([, , text]) => text);
    const columns: ResultColumn[] = [
      { kind: 'double', name: 'd', type: 'DOUBLE', values: Float64Array.from(rows, ([double]) => double ?? 0), nulls: nulls(0) },
      { kind: 'long', name: 'l', values: BigInt64Array.from(rows, ([, long]) => long ?? 0n), nulls: nulls(1) },
      { kind: 'string', name: 's', ids: Uint32Array.from(rows, (_, row) => row * 3), text: (id) => texts[id / 3] ?? null },
      { kind: 'long', name: 't', values: BigInt64Array.from(rows, (row) => row[3]), nulls: null },
    ];
    return { rowCount: rows.length, columns, keys: [] };
  });

/** The order that a sort key asks for, spelled out. */
function compare(a: Cell, b: Cell, { descending, nulls }: SortKey): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (nulls === 'first') ? -1 : 1;
  const sign = descending ? -1 : 1;
  if (Number.isNaN(a) || Number.isNaN(b)) return sign * (Number(Number.isNaN(a)) - Number(Number.isNaN(b)));
  return a < b ? -sign : a > b ? sign : 0;
}

const columns = suite('columns of results');

columns('rows are sorted by any keys, ties by row', () =>
  fc.assert(
    fc.property(
      tables,
      fc.uniqueArray(
        fc.record({
          column: fc.constantFrom('d', 'l', 's', 't'),
          descending: fc.boolean(),
          nulls: fc.constantFrom('first' as const, 'last' as const),
          ordering: fc.constant('lexicographic' as const),
        }),
        { maxLength: 3, selector: ({ column }) => column },
      ),
      fc.nat(20),
      fc.option(fc.nat(60)),
      (table, by, offset, limit) => {
        const cell = (name: string, row: number): Cell => {
          const column = table.columns.find((each) => each.name === name);
          return column === undefined ? null : (valueAt(column, row) as Cell);
        };
        const expected = Array.from({ length: table.rowCount }, (_, row) => row).sort((a, b) => {
          for (const key of by) {
            const order = compare(cell(key.column, a), cell(key.column, b), key);
            if (order !== 0) return order;
          }
          return a - b;
        });
        const end = limit === null ? table.rowCount : offset + limit;
        assert.equal([...sortedRows(table, by, { offset, limit }, check)], expected.slice(offset, end));
      },
    ),
    { numRuns: caseCount(500) },
  ),
);

columns('many rows are sorted as few are', () => {
  const rowCount = 70_000;
  const values = Float64Array.from({ length: rowCount }, (_, row) => ((row * 7919) % 65_537) - 30_000 + (row % 3) / 3);
  const table: ResultTable = { rowCount, columns: [{ kind: 'double', name: 'd', type: 'DOUBLE', values, nulls: null }], keys: [] };
  const by: SortKey[] = [{ column: 'd', descending: true, nulls: 'last', ordering: 'lexicographic' }];
  const rows = sortedRows(table, by, { offset: 0, limit: null }, check);
  for (let at = 1; at < rowCount; at++) {
    const [before, row] = [rows[at - 1] ?? 0, rows[at] ?? 0];
    const [left, right] = [values[before] ?? 0, values[row] ?? 0];
    assert.ok(left > right || (left === right && before < row));
  }
});

const EXPRESSIONS = [
  'd / l',
  'd / t',
  'd * 1.5 - t',
  'l / 2.0',
  'sqrt(d) + l',
  'd + d * d',
  'pow(d, 2)',
  '(d - t) / (d - l)',
  'l + 1.0',
  'd % 7',
  'round(d, 2)',
  'round(d)',
  '-d * 2',
  'l / t',
  'd + s',
  'l',
];

columns('columns of doubles have the values that rows have one by one', () =>
  fc.assert(
    fc.property(tables, fc.constantFrom(...EXPRESSIONS), fc.constantFrom('DOUBLE' as const, 'FLOAT' as const), (table, text, type) => {
      const named = new Map(table.columns.map((column) => [column.name, column]));
      const typeOf = (name: string): ReturnType<typeof typeOfResult> | undefined => {
        const column = named.get(name);
        return column === undefined ? undefined : typeOfResult(column);
      };
      const expression = parseExpression(text);
      const found = computedDoubles('x', type, expression, { rowCount: table.rowCount, columns: named, typeOf, check });
      if (text === 'l' || text === 'l / t' || text === 'd + s') {
        assert.is(found, undefined);
        return;
      }
      if (found === undefined) throw new Error(`${text} was left to rows`);
      const evaluate = compileExpression(expression, typeOf);
      for (let row = 0; row < table.rowCount; row++) {
        const value = evaluate((name) => {
          const column = named.get(name);
          return column === undefined ? null : valueAt(column, row);
        });
        assert.ok(Object.is(valueAt(found, row), value === null ? null : convert(value, type)), `${text} in row ${row}`);
      }
    }),
    { numRuns: caseCount(1000) },
  ),
);
columns.run();
