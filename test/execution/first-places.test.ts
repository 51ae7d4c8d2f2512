import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { columnNamed, type ResultTable, valueAt } from '../../src/execution/block/result-table.js';
import { NO_EMPTY_VALUES } from '../../src/execution/post/leaf-result.js';
import { runSteps } from '../../src/execution/post/steps.js';
import { rowsOfFirstPlaces } from '../../src/execution/post/window/first-places.js';
import { wantedPlaces } from '../../src/execution/post/window/wanted-places.js';
import type { PostStep } from '../../src/model/plan.js';
import { caseCount } from '../case-count.js';

/* The first rows of each partition of a result: those that a sort of each partition gives, whatever is left out before it is sorted. */

const test = suite('first places of partitions');
const check = (): void => undefined;
const leaf = { intervals: [ETERNITY], emptyValues: NO_EMPTY_VALUES, check };

interface Row {
  readonly text: string | null;
  readonly long: bigint | null;
  readonly value: number | bigint | null;
  readonly id: bigint;
}

const longs = fc.constantFrom(null, 0n, 1n, -3n, 7n, 2n ** 62n, 2n ** 62n + 1n);
const doubles = fc.constantFrom(null, 0, -0, 1.5, -2, Number.NaN, Infinity, -Infinity, 1e300);
/** Few values, of which some are drawn for each table, in many rows. */
const arbitraryRows = fc
  .record({
    seed: fc.integer({ min: 1, max: 1 << 30 }),
    texts: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', '', null), { minLength: 1 }),
    longs: fc.uniqueArray(fc.oneof(longs, fc.integer({ min: 0, max: 500 }).map(BigInt)), { minLength: 1, maxLength: 30 }),
    values: fc.oneof(fc.uniqueArray(longs, { minLength: 1 }), fc.uniqueArray(doubles, { minLength: 1 })),
    spread: fc.boolean(),
  })
  .map(({ seed, texts, longs: keys, values, spread }) => {
    let state = seed;
    const next = (count: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % count;
    };
    const drawn: readonly Row['value'][] = values;
    const isLong = drawn.every((value) => value === null || typeof value === 'bigint');
    const valueOf = (): Row['value'] => {
      const value = drawn[next(drawn.length)] ?? null;
      return spread && value !== null ? (isLong ? BigInt(next(1000)) : next(1000) / 8) : value;
    };
    const rows = Array.from({ length: 5000 }, (_, row): Row => {
      return { text: texts[next(texts.length)] ?? null, long: keys[next(keys.length)] ?? null, value: valueOf(), id: BigInt(row) };
    });
    return { rows, isLong };
  });

function tableOf(rows: readonly Row[], isLong: boolean): ResultTable {
  // Each text has two ids.
  const texts = [...new Set(rows.map(({ text }) => text))];
  const ids = Uint32Array.from(rows, ({ text }, row) => texts.indexOf(text) * 2 + (row % 2));
  const nullsOf = (of: (row: Row) => unknown): Uint8Array => Uint8Array.from(rows, (row) => Number(of(row) === null));
  const long = (name: string, of: (row: Row) => bigint | number | null) =>
    ({ kind: 'long', name, values: BigInt64Array.from(rows, (row) => BigInt(of(row) ?? 0)), nulls: nullsOf(of) }) as const;
  const double = { kind: 'double', name: 'value', type: 'DOUBLE', nulls: nullsOf(({ value }) => value) } as const;
  return {
    rowCount: rows.length,
    keys: ['id'],
    columns: [
      { kind: 'string', name: 'text', ids, text: (id) => texts[id >>> 1] ?? null },
      long('long', (row) => row.long),
      isLong ? long('value', ({ value }) => value) : { ...double, values: Float64Array.from(rows, ({ value }) => Number(value ?? 0)) },
      long('id', ({ id }) => id),
    ],
  };
}

/** Order of two values: NaN is the greatest number, and the zeros are one. */
function compare(a: Row['value'], b: Row['value'], descending: boolean, nulls: 'first' | 'last'): number {
  if (a === null || b === null) return a === b ? 0 : (a === null) === (nulls === 'first') ? -1 : 1;
  const [isA, isB] = [Number.isNaN(a), Number.isNaN(b)];
  const order = isA || isB ? Number(isA) - Number(isB) : a < b ? -1 : a > b ? 1 : 0;
  return descending ? -order : order;
}

const arbitraryWindow = fc.record({
  partition: fc.subarray(['text', 'long'] as const),
  descending: fc.boolean(),
  nulls: fc.constantFrom('first' as const, 'last' as const),
  isTotal: fc.boolean(),
  kind: fc.constantFrom('rowNumber' as const, 'rank' as const, 'denseRank' as const),
  wanted: fc.integer({ min: 1, max: 5 }),
});

test('are those of partitions that are sorted whole', () => {
  let reduced = 0;
  fc.assert(
    fc.property(arbitraryRows, arbitraryWindow, ({ rows, isLong }, { partition, descending, nulls, isTotal, kind, wanted }) => {
      // The place of a row among equal ones is anyone's: such rows are told apart.
      const byId = isTotal || kind === 'rowNumber';
      const by = { column: 'value', descending, nulls, ordering: 'numeric' } as const;
      const id = { column: 'id', descending: false, nulls: 'first', ordering: 'numeric' } as const;
      const rest = { frame: { unit: 'range', start: 'unbounded', end: 0, exclude: null }, filter: null, columns: [] } as const;
      const steps: PostStep[] = [
        { step: 'window', partition, order: byId ? [by, id] : [by], functions: [{ name: 'place', type: 'LONG', call: { kind }, ...rest }] },
        {
          step: 'filter',
          filter: {
            ...{ kind: 'range', column: 'place', type: 'LONG', lower: null, upper: BigInt(wanted) },
            ...{ lowerStrict: false, upperStrict: false, ordering: 'numeric' },
          } as const,
        },
      ];
      const table = tableOf(rows, isLong);
      const first = wantedPlaces(steps);
      if (first !== undefined && rowsOfFirstPlaces(table, first, check) !== undefined) reduced++;

      const expected: string[] = [];
      const groups = new Map<string, Row[]>();
      for (const row of rows) {
        const name = JSON.stringify(partition.map((column) => String(row[column])));
        const group = groups.get(name) ?? [];
        group.push(row);
        groups.set(name, group);
      }
      for (const group of groups.values()) {
        const order = (a: Row, b: Row): number => compare(a.value, b.value, descending, nulls);
        const sorted = group.sort((a, b) => order(a, b) || Number(a.id - b.id));
        let [rank, dense] = [0, 0];
        sorted.forEach((row, at) => {
          const before = sorted[at - 1];
          if (before === undefined || byId || order(before, row) !== 0) [rank, dense] = [at + 1, dense + 1];
          const place = kind === 'rowNumber' ? at + 1 : kind === 'rank' ? rank : dense;
          if (place <= wanted) expected.push(`${row.id} ${place}`);
        });
      }
      const result = runSteps(table, steps, leaf);
      const [ids, places] = [columnNamed(result, 'id'), columnNamed(result, 'place')];
      const found = Array.from({ length: result.rowCount }, (_, row) => `${valueAt(ids, row)} ${valueAt(places, row)}`);
      assert.equal(found.sort(), expected.sort());
    }),
    { numRuns: caseCount(150), includeErrorInReport: true },
  );
  assert.ok(reduced > 30, `only ${reduced} tables were reduced`);
});

test.run();
