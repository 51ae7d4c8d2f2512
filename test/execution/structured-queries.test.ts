import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { stringifyJson } from '../../src/base/json.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import type { VirtualColumn } from '../../src/model/aggregator.js';
import { arrayText } from '../../src/model/array-text.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type Frame, type FrameCell, type FrameColumn } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { JSON_TYPE, type TextType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { memory, never, options } from './every-way.js';
import { openFrames } from './segments.js';

const START = Date.UTC(2024, 0, 1);

/** Random arrays and documents, grouped and filtered: the definition, written down row by row, against the engine in every indexLayout. */
const queries = suite('arrays and JSON in every way of reading rows');

interface Row {
  readonly longs: readonly (bigint | null)[] | null;
  readonly words: readonly (string | null)[] | null;
  readonly document: { readonly a?: number; readonly b?: string } | null;
}

const nullable = <T>(values: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(values, { nil: null, freq: 4 });
const row: fc.Arbitrary<Row> = fc.record({
  longs: nullable(fc.array(nullable(fc.bigInt({ min: -2n, max: 2n })), { maxLength: 2 })),
  words: nullable(fc.array(nullable(fc.constantFrom('', 'a', 'b', '\u0000')), { maxLength: 2 })),
  document: nullable(fc.record({ a: fc.integer({ min: 0, max: 3 }), b: fc.constantFrom('x', 'y') }, { requiredKeys: [] })),
});
const pieces = fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { minLength: 1, maxLength: 3 });

const textsOf: Readonly<Record<string, { readonly type: TextType; readonly of: (row: Row) => string | null }>> = {
  longs: { type: 'ARRAY<LONG>', of: ({ longs }) => (longs === null ? null : arrayText(longs, 'ARRAY<LONG>')) },
  words: { type: 'ARRAY<STRING>', of: ({ words }) => (words === null ? null : arrayText(words, 'ARRAY<STRING>')) },
  document: { type: JSON_TYPE, of: ({ document }) => (document === null ? null : stringifyJson(document)) },
};

function frameOf(rows: readonly Row[]): Frame {
  const columns = Object.entries(textsOf).map(([name, { type, of }]): FrameColumn => {
    const dictionary = rows.map(of);
    return { kind: 'string', name, type, ids: Uint32Array.from(rows, (_, at) => at), dictionary };
  });
  const time: FrameColumn = { kind: 'long', name: '__time', values: BigInt64Array.from(rows, (_, at) => BigInt(START + at)), nulls: null };
  return { rowCount: rows.length, columns: [time, ...columns] };
}

const member = (name: string, path: string, type: 'LONG' | 'STRING'): VirtualColumn => ({
  name,
  expression: {
    kind: 'call',
    function: 'json_value',
    arguments: [
      { kind: 'column', name: 'document' },
      { kind: 'literal', type: 'STRING', value: path },
      { kind: 'literal', type: 'STRING', value: type },
    ],
  },
  outputType: type,
});
const size: VirtualColumn = {
  name: 'size',
  expression: { kind: 'call', function: 'array_length', arguments: [{ kind: 'column', name: 'words' }] },
  outputType: 'LONG',
};

/** Expected value of each group key for a row, as a cell of the result. */
const KEYS: Readonly<Record<string, (row: Row) => FrameCell>> = {
  longs: (each) => textsOf['longs']?.of(each) ?? null,
  words: (each) => textsOf['words']?.of(each) ?? null,
  a: ({ document }) => (document?.a === undefined ? null : BigInt(document.a)),
  b: ({ document }) => document?.b ?? null,
  size: ({ words }) => (words === null ? null : BigInt(words.length)),
};

/** Conditions with the rows they are true, false or (null) unknown for. */
const CONDITIONS: readonly { readonly filter: Filter; readonly of: (row: Row) => boolean | null }[] = [
  {
    filter: { kind: 'equals', column: 'longs', type: 'ARRAY<LONG>', value: arrayText([1n], 'ARRAY<LONG>') },
    of: ({ longs }) => longs && longs.length === 1 && longs[0] === 1n,
  },
  {
    filter: { kind: 'equals', column: 'longs', type: 'ARRAY<DOUBLE>', value: arrayText([1, null], 'ARRAY<DOUBLE>') },
    of: ({ longs }) => longs && longs.length === 2 && longs[0] === 1n && longs[1] === null,
  },
  { filter: { kind: 'null', column: 'words' }, of: ({ words }) => words === null },
  {
    filter: {
      kind: 'range',
      column: 'words',
      type: 'ARRAY<STRING>',
      ordering: 'lexicographic',
      lower: arrayText(['a'], 'ARRAY<STRING>'),
      upper: null,
      lowerStrict: false,
      upperStrict: false,
    },
    // Null and what sorts below 'a' come first.
    of: ({ words }) => words && words.length > 0 && words[0] !== null && (words[0] ?? '') >= 'a',
  },
  {
    filter: { kind: 'equals', column: 'b', type: 'STRING', value: 'x' },
    of: ({ document }) => (document?.b === undefined ? null : document.b === 'x'),
  },
  {
    filter: { kind: 'range', column: 'a', type: 'LONG', ordering: 'numeric', lower: 1n, upper: 2n, lowerStrict: false, upperStrict: false },
    of: ({ document }) => (document?.a === undefined ? null : document.a >= 1 && document.a <= 2),
  },
];

type Groups = ReadonlyMap<string, bigint>;

async function groupsOf(frames: AsyncIterable<Frame>): Promise<Groups> {
  const groups = new Map<string, bigint>();
  for await (const frame of frames)
    for (let at = 0; at < frame.rowCount; at++) {
      const [count, ...keys] = frame.columns.map((column) => cellAt(column, at)).reverse();
      groups.set(stringifyJson(keys.reverse()), count as bigint);
    }
  return new Map([...groups].sort());
}

function expected(rows: readonly Row[], keys: readonly string[], keep: (row: Row) => boolean): Groups {
  const groups = new Map<string, bigint>();
  for (const each of rows.filter(keep)) {
    const key = stringifyJson(keys.map((name) => KEYS[name]?.(each) ?? null));
    groups.set(key, (groups.get(key) ?? 0n) + 1n);
  }
  return new Map([...groups].sort());
}

queries('groups of filtered rows', async () => {
  const here = createEngine({ memory, kernels: 'reference', threads: 0 });
  const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 16 });
  await fc.assert(
    fc.asyncProperty(
      pieces,
      fc.uniqueArray(fc.constantFrom(...Object.keys(KEYS)), { minLength: 1, maxLength: 2 }),
      fc.constantFrom(...CONDITIONS),
      fc.boolean(),
      async (parts, keys, { filter, of }, isNegated) => {
        const plan: GroupPlan = {
          operator: 'group',
          dataSource: 'random',
          intervals: [ETERNITY],
          filter: isNegated ? { kind: 'not', filter } : filter,
          virtualColumns: [member('a', '$.a', 'LONG'), member('b', "$['b']", 'STRING'), size],
          keys: keys.map((name) => ({ kind: 'column', name, column: name, type: null })),
          aggregators: [{ kind: 'count', name: 'n', filter: null }],
          emptyGroup: false,
          post: [],
        };
        const wanted = expected(parts.flat(), keys, (each) => of(each) === !isNegated);
        const placed = parts.map((rows) => uploadFrame(frameOf(rows), memory));
        const views = placed.map(({ view }) => view);
        const { store, ids, close } = await openFrames(parts.map(frameOf), memory, threaded);
        try {
          for (const kernels of ['reference', 'scalar', 'simd'])
            for (const batchRows of [1, 7, 4096])
              assert.equal(
                await groupsOf(here.runViews(plan, views, options({ kernels, batchRows }), never)),
                wanted,
                `${kernels} by ${batchRows}`,
              );
          const partials = views.map((view) => here.runViews(plan, [view], options({ ending: 'partial' }), never));
          assert.equal(await groupsOf(here.merge(plan, partials, options(), never)), wanted, 'merged');
          assert.equal(await groupsOf(threaded.run(plan, store, ids, options(), never)), wanted, 'segments');
        } finally {
          await close();
          for (const { release } of placed) release();
        }
      },
    ),
    { numRuns: 60 },
  );
  await here.close();
  await threaded.close();
  assert.is(memory.allocatedBytes, 0);
});

queries.run();
