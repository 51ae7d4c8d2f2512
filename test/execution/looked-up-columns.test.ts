import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { call, type Expression, text } from '../../src/model/expression.js';
import { cellAt, type FrameCell } from '../../src/model/frame.js';
import { type LookupTable, lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { newProfile } from '../../src/model/profile.js';
import type { PinRequest } from '../../src/storage/contract.js';
import { caseCount } from '../case-count.js';
import type { Row } from './oracle.js';
import { arbitraryPieces, frameOf } from './random-data.js';
import { openFrames } from './segments.js';

/*
 * Groups by a column that is looked up, and its different values, are those that a Map of the entries gives: whatever entries have one
 * value, whatever is missing, whether or not the values find room in memory.
 */
const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels: null, batchRows: null };
const never = new AbortController().signal;

const column = (name: string): Expression => ({ kind: 'column', name });
const entriesOf = (table: LookupTable): Expression => ({ kind: 'literal', type: null, value: table });

interface Way {
  readonly name: string;
  readonly missing: string | null;
  expression(stored: Expression, table: Expression): Expression;
}

const WAYS: readonly Way[] = [
  { name: 'v', missing: null, expression: (stored, table) => call('resolved_lookup', stored, table) },
  // A virtual column that names itself means the stored column.
  { name: 'text', missing: null, expression: (stored, table) => call('resolved_lookup', stored, table) },
  { name: 'v', missing: 'a', expression: (stored, table) => call('resolved_lookup', stored, table, text('a')) },
  { name: 'v', missing: '', expression: (stored, table) => call('nvl', call('resolved_lookup', stored, table), text('')) },
  { name: 'v', missing: 'none 😀', expression: (stored, table) => call('nvl', call('resolved_lookup', stored, table), text('none 😀')) },
];

function planOf({ name, expression }: Way, stored: string, table: LookupTable): GroupPlan {
  return {
    operator: 'group',
    dataSource: 'random',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [{ name, expression: expression(column(stored), entriesOf(table)), outputType: null }],
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
const key = fc.constantFrom('', 'a', 'b', 'ab', 'Zebra', 'é', '10', 'x', 'y', 'not there');

const test = suite('looked up columns');

/** Groups by key, with their counts, and the values that JavaScript computed for them. */
async function groupsOf(
  pieces: readonly Row[][],
  plan: GroupPlan,
  cacheBytes: number,
): Promise<{ groups: Map<FrameCell, readonly FrameCell[]>; computed: number }> {
  const { store, ids, close } = await openFrames(pieces.map(frameOf), memory, engine, undefined, cacheBytes);
  const profile = newProfile();
  try {
    const groups = new Map<FrameCell, readonly FrameCell[]>();
    // The second round finds again all that the first has pinned.
    for (let round = 0; round < 2; round++) {
      groups.clear();
      for await (const frame of engine.run(plan, store, ids, { ...options, profile }, never))
        for (let row = 0; row < frame.rowCount; row++) {
          const [name = null, ...counts] = frame.columns.map((each) => cellAt(each, row));
          assert.not.ok(groups.has(name), `two groups of ${String(name)}`);
          groups.set(name, counts);
        }
    }
    return { groups, computed: profile.valuesByEntry + profile.valuesByRow };
  } finally {
    await close();
    store.makeRoom(Infinity);
    assert.is(store.residentBytes, 0);
  }
}

function expectedGroups(pieces: readonly Row[][], stored: string, entries: ReadonlyMap<string, string>, missing: string | null) {
  const counts = new Map<FrameCell, bigint>();
  for (const row of pieces.flat()) {
    const given = row[stored] as string | null;
    const found = (given === null ? undefined : entries.get(given)) ?? missing;
    counts.set(found, (counts.get(found) ?? 0n) + 1n);
  }
  return new Map([...counts].map(([found, n]) => [found, [n, found === null ? 0n : 1n]]));
}

const sorted = (groups: ReadonlyMap<FrameCell, unknown>) => new Map([...groups].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));

test('have the values that a Map has', async () => {
  await fc.assert(
    fc.asyncProperty(
      arbitraryPieces,
      fc.array(fc.tuple(key, value), { maxLength: 12 }),
      fc.constantFrom(...WAYS),
      fc.constantFrom('text', 'plain'),
      async (pieces, entries, way, stored) => {
        const from = way.name === 'text' ? 'text' : stored;
        const { groups, computed } = await groupsOf(pieces, planOf(way, from, await lookupTableOf(entries)), 1 << 28);
        assert.is(computed, 0);
        assert.equal(sorted(groups), sorted(expectedGroups(pieces, from, new Map(entries), way.missing)));
      },
    ),
    { numRuns: caseCount(200) },
  );
});

const [first] = WAYS;
const PIECES: readonly Row[][] = [1, 2].map((piece) =>
  Array.from(
    { length: 400 },
    (_, row): Row => ({ __time: BigInt(Date.UTC(2024, 2, 30) + row), text: `key ${(row * piece) % 37}`, plain: 'x' }),
  ),
);

test('are looked up without room for all the values', async () => {
  assert.ok(first !== undefined);
  const entries = Array.from({ length: 30 }, (_, at): [string, string] => [`key ${at}`, `${at % 7} ${'long '.repeat(20_000)}`]);
  const table = await lookupTableOf(entries);
  const { groups, computed } = await groupsOf(PIECES, planOf(first, 'text', table), 1 << 18);
  assert.ok(computed > 0);
  assert.equal(sorted(groups), sorted(expectedGroups(PIECES, 'text', new Map(entries), null)));
});

test('are pinned by the store, and come from memory of one process that another has', async () => {
  const entries = Array.from({ length: 30 }, (_, at): [string, string] => [`key ${at}`, `value ${at % 7}`]);
  const table = await lookupTableOf(entries);
  const { store, ids, close } = await openFrames(PIECES.map(frameOf), memory, engine);
  try {
    for (const packed of [table.packed, Uint8Array.from(table.packed)]) {
      const lookedUp = [{ name: 'looked up', column: 'text', table: { ...table, packed, digest: `${packed.buffer}` }, missing: 'none' }];
      const request: PinRequest = { segmentIds: ids, columns: ['text'], globalDictionaries: [], lookedUp };
      const pin = await store.pin(request);
      // Null, seven values, and the one of what is not there.
      assert.is(pin.dictionaries['looked up']?.count, 9);
      assert.equal(
        Object.keys(pin.dictionaries['looked up']?.remaps ?? {}),
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
