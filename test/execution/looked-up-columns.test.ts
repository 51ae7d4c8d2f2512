import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { evaluate } from '../../src/expression/evaluate.js';
import { textOfValue, type Value } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, type Expression, text } from '../../src/model/expression.js';
import type { Filter } from '../../src/model/filter.js';
import { cellAt, type FrameCell } from '../../src/model/frame.js';
import { type LookupTable, lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import { rewriteData } from '../../src/model/rewrite/rewrite-data.js';
import type { PinRequest } from '../../src/storage/contract.js';
import { caseCount } from '../case-count.js';
import type { Row } from './oracle.js';
import { arbitraryPieces, frameOf } from './random-data.js';
import { openFrames } from './segments.js';

/*
 * Values that are looked up are what a Map of the entries gives, in groups, counts of different values and filters: whatever entries
 * have one value, whatever is missing, of single strings, several, or numbers, whether or not the columns find room in memory, and when
 * the lookup is another from query to query.
 */
const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

const column = (name: string): Expression => ({ kind: 'column', name });
const entriesOf = (table: LookupTable): Expression => ({ kind: 'literal', type: null, value: table });

type Find = (key: string | null) => string | null;

interface Way {
  readonly expression: (stored: Expression, table: Expression) => Expression;
  readonly value: (given: string | null, find: Find) => string | null;
  /** Whether kernels and columns do all of it. */
  readonly isKept: boolean;
}

const lookup = (key: Expression, table: Expression, ...missing: Expression[]): Expression =>
  call('resolved_lookup', key, table, ...missing);
const upper = (given: string | null): string | null => given?.toUpperCase() ?? null;

const WAYS: Readonly<Record<string, Way>> = {
  plain: { expression: lookup, value: (given, find) => find(given), isKept: true },
  missing: { expression: (stored, table) => lookup(stored, table, text('a')), value: (given, find) => find(given) ?? 'a', isKept: true },
  empty: {
    expression: (stored, table) => call('nvl', lookup(stored, table), text('')),
    value: (given, find) => find(given) ?? '',
    isKept: true,
  },
  pair: {
    expression: (stored, table) => call('coalesce', lookup(stored, table), text('none 😀')),
    value: (given, find) => find(given) ?? 'none 😀',
    isKept: true,
  },
  retained: {
    expression: (stored, table) => call('nvl', lookup(stored, table), stored),
    value: (given, find) => find(given) ?? given,
    isKept: true,
  },
  'of another': {
    expression: (stored, table) => lookup(call('upper', stored), table),
    value: (given, find) => find(upper(given)),
    isKept: true,
  },
  twice: {
    expression: (stored, table) => lookup(lookup(stored, table), table, text('x')),
    value: (given, find) => find(find(given)) ?? 'x',
    isKept: true,
  },
  within: {
    expression: (stored, table) => call('upper', lookup(stored, table)),
    value: (given, find) => upper(find(given)),
    isKept: false,
  },
};

function planOf(name: string, expression: Expression, filter: Filter | null = null): GroupPlan {
  return {
    operator: 'group',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter,
    virtualColumns: [
      { name, expression, outputType: null },
      // A virtual column that stands between a lookup and its column.
      { name: 'between', expression: column('text'), outputType: 'STRING' },
    ],
    keys: [{ kind: 'column', name: 'k', column: name, type: null }],
    aggregators: [
      { kind: 'count', name: 'n', filter: null },
      { kind: 'distinct', name: 'd', column: name, filter: null },
    ] as GroupPlan['aggregators'],
    emptyGroup: false,
    post: [],
  };
}

const value = fc.constantFrom('', 'a', 'x', 'é', 'value 1', 'value 2', '€😀');
const key = fc.constantFrom('', 'a', 'b', 'ab', 'Zebra', 'ZEBRA', 'é', '10', 'x', 'X', 'y', '3', '200', '-1', 'not there');
const arbitraryEntries = fc.array(fc.tuple(key, value), { maxLength: 12 });

const test = suite('looked up columns');

interface Answer {
  readonly groups: ReadonlyMap<FrameCell, readonly FrameCell[]>;
  /** Values that JavaScript computed. */
  readonly computed: number;
}

/** Groups by key, with their counts, of each plan after the others; all of them twice. */
async function groupsOf(pieces: readonly Row[][], plans: readonly GroupPlan[], cacheBytes = 1 << 28): Promise<readonly Answer[]> {
  const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, engine, undefined, cacheBytes);
  const answers: Answer[] = [];
  try {
    // The second round finds again all that the first has pinned.
    for (let round = 0; round < 2; round++)
      for (const plan of plans) {
        const profile = newProfile();
        const groups = new Map<FrameCell, readonly FrameCell[]>();
        for await (const frame of engine.run(plan, store, ids, { ...options, profile }, never))
          for (let row = 0; row < frame.rowCount; row++) {
            const [name = null, ...counts] = frame.columns.map((each) => cellAt(each, row));
            assert.not.ok(groups.has(name), `two groups of ${String(name)}`);
            groups.set(name, counts);
          }
        answers.push({ groups, computed: profile.valuesByEntry + profile.valuesByRow });
      }
    return answers;
  } finally {
    await close();
    store.makeRoom(Infinity);
    assert.is(store.residentBytes, 0);
  }
}

/** Values of a row as texts: null where there is none. */
function textsOf(row: Row, stored: string): readonly (string | null)[] {
  const cell = row[stored] ?? null;
  if (Array.isArray(cell)) return cell.length === 0 ? [null] : (cell as readonly string[]);
  return [cell === null ? null : String(cell as string | bigint)];
}

const valuesOf = (row: Row, stored: string, { value: of }: Way, entries: ReadonlyMap<string, string>): readonly (string | null)[] =>
  textsOf(row, stored).map((given) => of(given, (each) => (each === null ? null : (entries.get(each) ?? null))));

function expectedGroups(rows: readonly (readonly (string | null)[])[]): Map<FrameCell, readonly FrameCell[]> {
  const groups = new Map<FrameCell, { n: bigint; readonly different: Set<string> }>();
  for (const values of rows)
    for (const each of values) {
      const group = groups.get(each) ?? { n: 0n, different: new Set() };
      groups.set(each, group);
      group.n++;
      // All values of a row are in each of its groups.
      for (const other of values) if (other !== null) group.different.add(other);
    }
  return new Map([...groups].map(([found, { n, different }]) => [found, [n, BigInt(different.size)]]));
}

const sorted = (groups: ReadonlyMap<FrameCell, unknown>) => new Map([...groups].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));

/** The column as an expression of texts. */
const textOfColumn = (stored: string): Expression =>
  stored === 'small' || stored === 'holes' ? call('cast', column(stored), text('STRING')) : column(stored === 'text' ? 'between' : stored);

const arbitraryWay = fc.constantFrom(...Object.keys(WAYS)).map((name) => WAYS[name] as Way);
const stored = fc.constantFrom('text', 'plain', 'many', 'small', 'holes');

test('have the values that a Map has', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      fc.tuple(arbitraryEntries, arbitraryEntries),
      arbitraryWay,
      stored,
      fc.boolean(),
      async (pieces, states, way, from, hidesItself) => {
        // A virtual column that names itself means the stored column.
        const [name, input] = hidesItself && from === 'text' ? ['text', column('text')] : ['v', textOfColumn(from)];
        const tables = await Promise.all(states.map((entries) => lookupTableOf(entries)));
        const plans = tables.map((table) => planOf(name, way.expression(input, entriesOf(table))));
        const answers = await groupsOf(pieces, plans);
        for (const [at, { groups, computed }] of answers.entries()) {
          const entries = new Map(states[at % 2]);
          if (way.isKept) assert.is(computed, 0);
          assert.equal(sorted(groups), sorted(expectedGroups(pieces.flat().map((row) => valuesOf(row, from, way, entries)))));
        }
      },
    ),
    { numRuns: caseCount(200) },
  );
});

/** Columns that a row of a join with a lookup has of its partner. */
const PARTNERS: Readonly<Record<string, Way>> = {
  value: { expression: (key, table) => call(':partner_value', key, table), value: (given, find) => find(given), isKept: true },
  key: {
    expression: (key, table) => call(':partner_key', key, table),
    value: (given, find) => (find(given) === null ? null : given),
    isKept: true,
  },
  'value, retained': {
    expression: (key, table) => call('nvl', call(':partner_value', key, table), key),
    value: (given, find) => find(given) ?? given,
    isKept: true,
  },
  'value of a value': {
    expression: (key, table) => lookup(call(':partner_value', key, table), table, text('x')),
    value: (given, find) => find(find(given)) ?? 'x',
    isKept: true,
  },
};

test('are those of partners in joins, of one value in a row', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      arbitraryEntries,
      fc.constantFrom(...Object.keys(PARTNERS)),
      stored,
      async (pieces, given, name, from) => {
        const [way, entries] = [PARTNERS[name] as Way, new Map(given)];
        const plan = planOf('v', way.expression(textOfColumn(from), entriesOf(await lookupTableOf(given))));
        const hasSeveral = pieces.flat().some((row) => textsOf(row, from).length > 1);
        try {
          const [answer] = await groupsOf(pieces, [plan]);
          assert.not.ok(hasSeveral, 'several values are refused');
          assert.is(answer?.computed, 0);
          const wanted = expectedGroups(pieces.flat().map((row) => valuesOf(row, from, way, entries)));
          assert.equal(sorted(answer?.groups ?? new Map()), sorted(wanted));
        } catch (error) {
          if (!hasSeveral) throw error;
          assert.match((error as Error).message, /cannot be the key of a join/);
        }
      },
    ),
    { numRuns: caseCount(200) },
  );
});

const FILTERS: Readonly<Record<string, { readonly filter: Filter; readonly matches: (value: string) => boolean }>> = {
  equals: { filter: { kind: 'equals', column: 'v', type: 'STRING', value: 'a' }, matches: (v) => v === 'a' },
  'equals what is empty': {
    filter: { kind: 'equals', column: 'v', type: 'STRING', value: '' },
    matches: (v) => v === '',
  },
  in: {
    filter: { kind: 'in', column: 'v', type: 'STRING', values: ['é', 'value 1', 'x'] },
    matches: (v) => ['é', 'value 1', 'x'].includes(v),
  },
  like: { filter: { kind: 'like', column: 'v', pattern: '%al%1', escape: null }, matches: (v) => /al.*1$/.test(v) },
  null: { filter: { kind: 'null', column: 'v' }, matches: () => false },
  range: {
    filter: {
      kind: 'range',
      column: 'v',
      type: 'STRING',
      ordering: 'lexicographic',
      lower: 'b',
      upper: 'x',
      lowerStrict: false,
      upperStrict: true,
    },
    matches: (v) => v >= 'b' && v < 'x',
  },
};

test('are filtered as the values of a Map are', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      arbitraryEntries,
      arbitraryWay,
      fc.constantFrom('text', 'plain', 'small', 'holes'),
      fc.constantFrom(...Object.keys(FILTERS)),
      fc.constantFrom('as it is', 'not', 'in an expression'),
      async (pieces, given, way, from, name, form) => {
        const entries = new Map(given);
        const { filter, matches } = FILTERS[name] as (typeof FILTERS)[string];
        const expression = way.expression(textOfColumn(from), entriesOf(await lookupTableOf(given)));
        const [whole, passes]: [Filter, (v: string | null) => boolean] =
          form === 'as it is'
            ? [filter, (v) => (v === null ? name === 'null' : matches(v))]
            : form === 'not'
              ? [{ kind: 'not', filter }, (v) => v !== null && !matches(v)]
              : [{ kind: 'expression', expression: call('==', expression, text('x')) }, (v) => v === 'x'];
        const [answer] = await groupsOf(pieces, [planOf('v', expression, whole)]);
        const rows = pieces.flat().map((row) => valuesOf(row, from, way, entries));
        assert.equal(sorted(answer?.groups ?? new Map()), sorted(expectedGroups(rows.filter(([v = null]) => passes(v)))));
      },
    ),
    { numRuns: caseCount(200) },
  );
});

const of = (name: string, ...inputs: Expression[]): Expression => call(name, ...inputs);
const list = (...elements: (string | null)[]): Expression => ({
  kind: 'literal',
  type: 'ARRAY<STRING>',
  value: textOfValue(elements, 'ARRAY<STRING>'),
});
const arbitraryText = value.map(text);
/** Stands for what is looked up. */
const LOOKED = column('looked');
const put = (expression: Expression): ((condition: Expression) => Expression) => {
  return (condition) => rewriteData(condition, (object) => ('name' in object && object.name === 'looked' ? expression : object));
};
const { condition: arbitraryCondition } = fc.letrec<{ condition: Expression; leaf: Expression }>((tie) => ({
  leaf: fc.oneof(
    fc
      .tuple(fc.constantFrom('==', '!=', '<', '<=', '>', '>='), arbitraryText, fc.boolean())
      .map(([name, to, isTurned]) => (isTurned ? of(name, to, LOOKED) : of(name, LOOKED, to))),
    fc.constantFrom('isnull', 'notnull').map((name) => of(name, LOOKED)),
    fc.constantFrom('%a%', 'value _', '%', '').map((pattern) => of('like', LOOKED, text(pattern))),
    fc.array(fc.option(value, { nil: null }), { maxLength: 3 }).map((elements) => of('scalar_in_array', LOOKED, list(...elements))),
    fc.constant(of('>', column('small'), { kind: 'literal', type: 'LONG', value: 50n } as const)),
    fc.constant(of('==', of('upper', LOOKED), text('A'))),
  ),
  condition: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc.tuple(fc.constantFrom('&&', '||'), tie('condition'), tie('condition')).map(([name, a, b]) => of(name, a, b)),
    fc.tuple(fc.constantFrom('!', 'istrue', 'isnottrue'), tie('condition')).map(([name, a]) => of(name, a)),
  ),
}));

test('are conditions of expressions as they are row by row', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      arbitraryEntries,
      arbitraryWay,
      fc.constantFrom('text', 'plain', 'holes'),
      arbitraryCondition,
      async (pieces, given, way, from, condition) => {
        const entries = new Map(given);
        const expression = way.expression(textOfColumn(from), entriesOf(await lookupTableOf(given)));
        const filter: Filter = { kind: 'expression', expression: put(expression)(condition) };
        const [answer] = await groupsOf(pieces, [planOf('v', expression, filter)]);
        const rows = pieces.flat().filter((row) => {
          const found = evaluate(condition, (name) =>
            name === 'looked' ? (valuesOf(row, from, way, entries)[0] ?? null) : ((row[name] ?? null) as Value),
          );
          return Number(found ?? 0) > 0;
        });
        assert.equal(sorted(answer?.groups ?? new Map()), sorted(expectedGroups(rows.map((row) => valuesOf(row, from, way, entries)))));
      },
    ),
    { numRuns: caseCount(200) },
  );
});

const PIECES: readonly Row[][] = [1, 2].map((piece) =>
  Array.from(
    { length: 400 },
    (_, row): Row => ({ __time: BigInt(Date.UTC(2024, 2, 30) + row), text: `key ${(row * piece) % 37}`, plain: 'x' }),
  ),
);

test('of a few rows that a scan gives are looked up for these alone', async () => {
  const entries = Array.from({ length: 30 }, (_, at): [string, string] => [`key ${at}`, `value ${at % 7}`]);
  const table = await lookupTableOf(entries);
  const { store, ids, close } = await openFrames(PIECES.map(frameOf), memory, engine);
  const rowsOf = async (limit: number | null, filter: Filter | null) => {
    const scan: ScanPlan = {
      operator: 'scan',
      dataSource: 'random',
      intervals: [ETERNITY],
      filter,
      virtualColumns: [{ name: 'v', expression: lookup(column('text'), entriesOf(table)), outputType: null }],
      columns: ['text', 'v'],
      timeOrder: null,
      offset: 0,
      limit,
      post: [],
    };
    const profile = newProfile();
    const rows: (readonly FrameCell[])[] = [];
    for await (const frame of engine.run(scan, store, ids, { ...options, profile }, never))
      for (let row = 0; row < frame.rowCount; row++) rows.push(frame.columns.map((each) => cellAt(each, row)));
    const found = new Map(entries);
    for (const [name = null, given = null] of rows) assert.is(given, found.get(String(name)) ?? null);
    return { count: rows.length, computed: profile.valuesByEntry + profile.valuesByRow };
  };
  try {
    const few = await rowsOf(3, null);
    assert.is(few.count, 3);
    assert.ok(few.computed > 0);
    assert.equal(await rowsOf(null, null), { count: 800, computed: 0 });
    assert.equal(await rowsOf(3, { kind: 'equals', column: 'v', type: 'STRING', value: 'value 3' }), { count: 3, computed: 0 });
  } finally {
    await close();
  }
});

test('are looked up whatever room there is for the columns', async () => {
  const way = WAYS['plain'] as Way;
  const entries = Array.from({ length: 30 }, (_, at): [string, string] => [`key ${at}`, `${at % 7} ${'long '.repeat(20_000)}`]);
  const expression = way.expression(column('text'), entriesOf(await lookupTableOf(entries)));
  const expected = expectedGroups(PIECES.flat().map((row) => valuesOf(row, 'text', way, new Map(entries))));
  const computed: boolean[] = [];
  // The columns take 0.7 MB each, and the values that they share as much.
  for (const cacheBytes of [1 << 18, 1 << 20, 1.5 * 2 ** 20, 1 << 21, 1 << 22, 1 << 24]) {
    const answers = await groupsOf(PIECES, [planOf('v', expression)], cacheBytes);
    for (const { groups } of answers) assert.equal(sorted(groups), sorted(expected), `${cacheBytes} bytes`);
    computed.push(answers.some((each) => each.computed > 0));
  }
  assert.is(computed[0], true);
  assert.is(computed.at(-1), false);
});

test('are pinned by the store, and come from memory of one process that another has', async () => {
  const entries = Array.from({ length: 30 }, (_, at): [string, string] => [`key ${at}`, `value ${at % 7}`]);
  const table = await lookupTableOf(entries);
  const { store, ids, close } = await openFrames(PIECES.map(frameOf), memory, engine);
  try {
    for (const packed of [table.packed, Uint8Array.from(table.packed)]) {
      const expression = lookup(column('text'), entriesOf({ ...table, packed, digest: `${packed.buffer}` }), text('none'));
      const lookedUp = [{ name: `looked up ${packed.buffer}`, column: 'text', expression }];
      const [{ name } = { name: '' }] = lookedUp;
      const request: PinRequest = { segmentIds: ids, columns: ['text'], globalDictionaries: [name], lookedUp };
      const pin = await store.pin(request);
      assert.equal([...pin.lookedUp], [[name, { isMultiValue: false }]]);
      // Null, seven values, and the one of what is not there.
      assert.is(pin.dictionaries[name]?.count, 9);
      assert.equal(
        Object.keys(pin.dictionaries[name]?.remaps ?? {}),
        pin.segments.map(({ id }) => id),
      );
      pin.release();
      const again = await store.pin(request);
      assert.is(again.dictionaries, pin.dictionaries);
      again.release();
    }
  } finally {
    await close();
  }
});

test.run();
