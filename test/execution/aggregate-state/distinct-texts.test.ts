import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseExpression } from '../../../src/expression/parse.js';
import type { AggregateState } from '../../../src/model/aggregate-state.js';
import { type ArrayElement, arrayText } from '../../../src/model/array-text.js';
import { type ColumnType, isArrayType } from '../../../src/model/schema.js';
import { collect, everyWay, groupsOf, planOf, rowsOf } from '../every-way.js';
import type { Row } from '../oracle.js';

/* Aggregates gathered for each group of a segment: distinct strings and numbers, extremes of few computed strings, bits. */

const rows = rowsOf(1500);
const virtualColumns = [
  { name: 'half', expression: parseExpression('substring(plain, 0, 6)'), outputType: null },
  { name: 'holed', expression: parseExpression('if(small > 9, substring(plain, 0, 7), null)'), outputType: null },
  { name: 'named', expression: parseExpression("if(text == 'b', null, concat('x', nvl(text, '')))"), outputType: null },
  { name: 'odd', expression: parseExpression('holes * 3 - 100000'), outputType: null },
] as const;

function fold(
  name: string,
  field: string,
  valueType: ColumnType,
  initial: string,
  changes: Partial<Extract<AggregateState, { type: 'expression' }>> = {},
) {
  const aggregateState: AggregateState = {
    type: 'expression',
    name: 'x',
    fields: [field],
    accumulator: '__acc',
    fold: parseExpression(`${name}(__acc, ${field})`),
    combine: parseExpression(name === 'array_set_add' ? 'array_set_add_all(__acc, x)' : `${name}(__acc, x)`),
    finalize: null,
    compare: null,
    initial: parseExpression(initial),
    initialCombine: parseExpression(initial),
    valueType,
    resultType: valueType,
    isNullUnlessAggregated: true,
    foldsNulls: false,
    combinesNulls: false,
    maxBytes: 1 << 20,
    ...changes,
  };
  return collect(aggregateState, [field], { type: valueType });
}

const list: AggregateState = {
  type: 'list',
  order: [{ descending: true, nulls: 'first' }],
  distinct: true,
  flattens: false,
  listType: 'ARRAY<STRING>',
  finalize: null,
  resultType: 'ARRAY<STRING>',
  maxBytes: 1 << 20,
};
const extreme = (type: 'min' | 'max'): AggregateState => ({ type, valueType: 'STRING' });

const half = (row: Row): string => String(row['plain']).slice(0, 6);
const holed = (row: Row): string | null => (BigInt((row['small'] as bigint | null) ?? 0n) > 9n ? String(row['plain']).slice(0, 7) : null);
const named = (row: Row): string | null => (row['text'] === 'b' ? null : `x${(row['text'] as string | null) ?? ''}`);
const holes = (all: readonly Row[]): bigint[] => all.flatMap((row) => (row['holes'] === null ? [] : [BigInt(row['holes'] as bigint)]));
const sorted = (texts: readonly (string | null)[]): (string | null)[] =>
  [...new Set(texts)].sort((a, b) => (a === null ? -1 : b === null ? 1 : a < b ? -1 : 1));
const column = (all: readonly Row[], name: string): unknown[] => all.map((row) => row[name] ?? null);
/** Distinct numbers in their order, null first. */
const ascending = (values: readonly unknown[]): unknown[] =>
  [...new Set(values)].sort((a, b) => (a === null ? -1 : b === null ? 1 : Number(a) - Number(b)));
const known = (texts: readonly (string | null)[]): string[] => sorted(texts).filter((text) => text !== null);

const aggregators = [
  {
    make: fold('array_set_add', 'plain', 'ARRAY<STRING>', '<STRING>[]'),
    of: (all: readonly Row[]) => sorted(all.map((row) => String(row['plain']))),
  },
  { make: fold('array_set_add', 'half', 'ARRAY<STRING>', '<STRING>[]'), of: (all: readonly Row[]) => sorted(all.map(half)) },
  {
    make: fold('array_set_add', 'holed', 'ARRAY<STRING>', '<STRING>[]', { foldsNulls: true, combinesNulls: true }),
    of: (all: readonly Row[]) => sorted(all.map(holed)),
  },
  {
    make: fold('array_set_add', 'small', 'ARRAY<LONG>', '<LONG>[]'),
    of: (all: readonly Row[]) => ascending(column(all, 'small')),
  },
  {
    make: fold('array_set_add', 'holes', 'ARRAY<LONG>', '<LONG>[]', { foldsNulls: true, combinesNulls: true }),
    of: (all: readonly Row[]) => ascending(column(all, 'holes')),
  },
  {
    make: fold('array_set_add', 'double', 'ARRAY<DOUBLE>', '<DOUBLE>[]', { foldsNulls: true, combinesNulls: true }),
    of: (all: readonly Row[]) => ascending(column(all, 'double')),
  },
  {
    make: collect(list, ['plain', 'plain'], { type: 'ARRAY<STRING>' }),
    of: (all: readonly Row[]) => sorted(all.map((row) => String(row['plain']))).reverse(),
  },
  { make: collect(list, ['half', 'half'], { type: 'ARRAY<STRING>' }), of: (all: readonly Row[]) => sorted(all.map(half)).reverse() },
  { make: collect(extreme('max'), ['half'], { type: 'STRING' }), of: (all: readonly Row[]) => known(all.map(half)).at(-1) },
  { make: collect(extreme('min'), ['holed'], { type: 'STRING' }), of: (all: readonly Row[]) => known(all.map(holed))[0] },
  { make: collect(extreme('max'), ['named'], { type: 'STRING' }), of: (all: readonly Row[]) => known(all.map(named)).at(-1) ?? null },
  { make: collect(extreme('min'), ['named'], { type: 'STRING' }), of: (all: readonly Row[]) => known(all.map(named))[0] ?? null },
  {
    make: fold('bitwiseAnd', 'large', 'LONG', '-1'),
    of: (all: readonly Row[]) => all.reduce((bits, row) => bits & BigInt(row['large'] as bigint), -1n),
  },
  { make: fold('bitwiseXor', 'holes', 'LONG', '0'), of: (all: readonly Row[]) => holes(all).reduce((bits, each) => bits ^ each, 0n) },
  {
    make: fold('bitwiseOr', 'odd', 'LONG', '0'),
    of: (all: readonly Row[]) => holes(all).reduce((bits, each) => bits | (each * 3n - 100000n), 0n),
  },
];

const gathered = suite('aggregates that kernels gather');

for (const byText of [true, false])
  gathered(byText ? 'in every group' : 'over all rows', async () => {
    const plan = {
      ...planOf(
        aggregators.map(({ make }, index) => ({ ...make, name: `x${index}` })),
        byText,
      ),
      virtualColumns,
    };
    const expected = byText ? groupsOf(rows, 'text') : new Map([['', rows]]);
    const written = (value: unknown, type: ColumnType): unknown =>
      Array.isArray(value) && isArrayType(type) ? arrayText(value as ArrayElement[], type) : value;
    for (const { way, groups } of await everyWay(plan, rows)) {
      if (byText) assert.equal([...groups.keys()].sort(), [...expected.keys()].sort(), way);
      for (const [key, all] of expected) {
        const found = byText ? groups.get(key) : [...groups].flatMap(([first, cells]) => [first, ...cells]);
        aggregators.forEach(({ make, of }, index) => {
          const cell = found?.[index];
          assert.is(cell, written(of(all), make.kind === 'state' ? make.type : 'STRING'), `${way}: ${key}, ${index}`);
        });
      }
    }
  });

gathered.run();
