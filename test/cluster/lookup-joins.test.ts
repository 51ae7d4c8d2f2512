import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupRows } from '../../src/cluster/lookups/lookup-store.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Filter } from '../../src/model/filter.js';
import type { Frame } from '../../src/model/frame.js';
import { lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { JoinSource, RowSource, RowsPlan } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import type { UploadedFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';
import { groupOf, inline, joinOf, RUN, runTablesOf, scanOf } from './running-sources.js';

/*
 * Joins with lookups by their keys give what joins with the same entries as inline rows give, which are joins of any rows, and place no
 * right side: whatever keys are missing or null, whatever is asked of `k` and `v`, over tables and rows from elsewhere.
 */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const test = suite('joins with lookups');

type Entries = readonly (readonly [string, string])[];

interface World {
  readonly frames: readonly Frame[];
  /** Entries of the lookups by name. */
  readonly lookups: Readonly<Record<string, Entries>>;
}

const TYPES = { name: 'STRING', number: 'LONG' } as const;

async function answer({ frames, lookups }: World, plan: RowsPlan, source: RowSource): Promise<{ rows: Plain[]; placed: number }> {
  const held: UploadedFrame[] = [];
  const tables = new Map(
    await Promise.all(Object.entries(lookups).map(async ([name, each]) => [name, await lookupTableOf(each)] as const)),
  );
  let placed = 0;
  const runTables = runTablesOf({ engine, memory, framesOf: () => frames, held });
  const runner = new SourceRunner({
    engine: {
      ...engine,
      runRows: (...all) => engine.runRows(...all),
      runUploaded: (...all) => engine.runUploaded(...all),
      reserveUpload: () => engine.reserveUpload(),
      releaseUpload: (id) => engine.releaseUpload(id),
      build: (...all) => {
        placed++;
        return engine.build(...all);
      },
    },
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (each) => rowSourceColumns(each, { table: () => ({ columns: schemaOf(TYPES) }) as never }),
    runTables,
    lookup: (name) => {
      const table = tables.get(name);
      assert.ok(table !== undefined);
      return lookupRows(table);
    },
    runOptions: RUN,
    signal: new AbortController().signal,
  });
  const rows = await rowsOf(runner.run(plan, source));
  return { rows, placed };
}

/** The same entries as rows that are no lookup's. */
function asRows(source: RowSource, lookups: World['lookups']): RowSource {
  switch (source.kind) {
    case 'lookup':
      return inline(
        frameOf(
          [...new Map(lookups[source.name])].map(([k, v]) => ({ k, v })),
          { k: 'STRING', v: 'STRING' },
        ),
      );
    case 'filtered':
    case 'unnest':
      return { ...source, source: asRows(source.source, lookups) };
    case 'join':
      return { ...source, left: asRows(source.left, lookups), right: asRows(source.right, lookups) };
    default:
      return source;
  }
}

const ENTRY_COLUMNS = schemaOf({ k: 'STRING', v: 'STRING' });
const joined = (left: RowSource, prefix: string, key: string, changes: Partial<JoinSource> = {}): JoinSource =>
  joinOf(
    left,
    { kind: 'lookup', name: prefix.slice(0, -1) },
    {
      prefix,
      keys: [{ left: parseExpression(key), right: parseExpression('k'), type: 'STRING' }],
      leftColumns: schemaOf(TYPES),
      rightColumns: ENTRY_COLUMNS,
      ...changes,
    },
  );

const column = fc.constantFrom('r.v', 'r.k', 'name');
const word = fc.constantFrom('', 'a', 'b', 'é');
/** Conditions on columns behind a join. */
const arbitraryFilter = fc.letrec<{ filter: Filter; leaf: Filter }>((tie) => ({
  leaf: fc.oneof(
    column.map((name): Filter => ({ kind: 'null', column: name })),
    fc.tuple(column, word).map(([name, value]): Filter => ({ kind: 'equals', column: name, type: 'STRING', value })),
    fc
      .tuple(column, fc.array(word, { minLength: 1 }))
      .map(([name, values]): Filter => ({ kind: 'in', column: name, type: 'STRING', values })),
    fc
      .tuple(column, fc.constantFrom('%a%', '_', '%'))
      .map(([name, pattern]): Filter => ({ kind: 'like', column: name, pattern, escape: null })),
    fc.tuple(column, word, word, fc.boolean()).map(
      ([name, lower, upper, isOpen]): Filter => ({
        kind: 'range',
        column: name,
        type: 'STRING',
        ordering: 'lexicographic',
        lower,
        upper: isOpen ? null : upper,
        lowerStrict: isOpen,
        upperStrict: !isOpen,
      }),
    ),
    fc
      .constantFrom(`"r.v" == "r.k"`, `"r.v" > name`, `upper("r.v") == 'A'`, `number > 1`)
      .map((each): Filter => ({ kind: 'expression', expression: parseExpression(each) })),
  ),
  filter: fc.oneof(
    { maxDepth: 3 },
    tie('leaf'),
    fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), tie('filter'), tie('filter'))
      .map(([kind, a, b]): Filter => ({ kind, filters: [a, b] })),
    fc.tuple(fc.constantFrom('not' as const, 'isTrue' as const), tie('filter')).map(([kind, filter]): Filter => ({ kind, filter })),
  ),
})).filter;

const onlySide = (filter: Filter): Filter => ({ kind: 'and', filters: [filter] });
const sideFilter = fc.constantFrom<Filter>(
  { kind: 'like', column: 'v', pattern: '%a%', escape: null },
  { kind: 'not', filter: { kind: 'equals', column: 'k', type: 'STRING', value: 'a' } },
);

const arbitraryJoin = fc
  .record({
    type: fc.constantFrom<JoinSource['type']>('inner', 'left', 'semi', 'anti', 'mark'),
    key: fc.constantFrom('name', 'upper(name)', 'number', `nvl(name, 'a')`),
    condition: fc.option(fc.constantFrom(`"r.v" == name`, `"r.v" != "r.k"`, 'number > 1', `"r.k" > "r.v"`)),
    side: fc.option(sideFilter, { freq: 3 }),
    filter: fc.option(arbitraryFilter, { freq: 1 }),
    /** A further lookup, of what the first gives. */
    chains: fc.boolean(),
  })
  .map(({ type, key, condition, side, filter, chains }) => ({
    hasColumns: type === 'inner' || type === 'left',
    chains: chains && (type === 'inner' || type === 'left'),
    source: (left: RowSource): RowSource => {
      const hasColumns = type === 'inner' || type === 'left';
      const right: RowSource = { kind: 'lookup', name: 'r' };
      const first = joined(left, 'r.', key, {
        type,
        condition: condition === null ? null : parseExpression(condition),
        right: side === null ? right : { kind: 'filtered', source: right, filter: onlySide(side) },
        ...(type === 'mark' ? { mark: 'has' } : {}),
      });
      const kept: RowSource = hasColumns && filter !== null ? { kind: 'filtered', source: first, filter } : first;
      return chains && hasColumns ? joined(kept, 's.', '"r.v"', { type: 'left' }) : kept;
    },
    mark: type === 'mark',
  }));

const name = fc.option(fc.constantFrom('', 'a', 'A', 'b', 'é', '2', 'not there'), { nil: null, freq: 5 });
const arbitraryRows = fc.array(fc.record({ name, number: fc.option(fc.bigInt({ min: 0n, max: 3n }), { nil: null }) }), {
  minLength: 1,
  maxLength: 20,
});
const arbitraryEntries = fc.array(
  fc.tuple(fc.constantFrom('', 'a', 'A', 'B', 'é', '1', '2', '10'), fc.constantFrom('', 'a', 'ab', 'é', '2')),
  {
    maxLength: 8,
  },
);

test('give what joins with the same rows give', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryRows, { minLength: 1, maxLength: 3 }),
      arbitraryEntries,
      arbitraryEntries,
      arbitraryJoin,
      fc.constantFrom('table', 'inline'),
      fc.boolean(),
      async (pieces, r, s, { hasColumns, chains, source, mark }, from, groups) => {
        const world: World = { frames: pieces.map((rows) => frameOf(rows as never, TYPES)), lookups: { r, s } };
        const left: RowSource = from === 'table' ? { kind: 'table', name: 't' } : inline(frameOf(pieces.flat() as never, TYPES));
        const columns = ['name', 'number', ...(hasColumns ? ['r.k', 'r.v'] : []), ...(chains ? ['s.v'] : []), ...(mark ? ['has'] : [])];
        const plan = groups ? groupOf(columns) : scanOf(columns);
        const found = await answer(world, plan, source(left));
        const wanted = await answer(world, plan, asRows(source(left), world.lookups));
        assert.equal(sortedText(found.rows), sortedText(wanted.rows));
        assert.is(found.placed, 0, 'no right side is placed');
      },
    ),
    { numRuns: caseCount(300) },
  );
  assert.is(memory.allocatedBytes, 0);
});

test('stay joins where their columns could be taken for others', async () => {
  const world: World = { frames: [frameOf([{ name: 'a', number: 2n }], TYPES)], lookups: { r: [['a', 'found']], s: [] } };
  const table: RowSource = { kind: 'table', name: 't' };
  const shadow = { name: 'name', expression: parseExpression(`'b'`), outputType: 'STRING' } as const;
  const number = { name: 'number', expression: parseExpression('0'), outputType: 'LONG' } as const;
  const cases: readonly (readonly [RowSource, RowsPlan, Plain[]])[] = [
    // A virtual column of the plan has the name of the key.
    [joined(table, 'r.', 'name'), scanOf(['name', 'r.v'], { virtualColumns: [shadow] }), [{ name: 'b', 'r.v': 'found' }]],
    // One has that of a column that a condition reads.
    [
      joined(table, 'r.', 'name', { type: 'left', condition: parseExpression('number > 1') }),
      scanOf(['number', 'r.v'], { virtualColumns: [number] }),
      [{ number: 0n, 'r.v': 'found' }],
    ],
    // One has that of a column of the lookup.
    [
      joined(table, 'r.', 'name'),
      scanOf(['r.v'], { virtualColumns: [{ name: 'r.v', expression: parseExpression(`concat("r.v", '!')`), outputType: 'STRING' }] }),
      [{ 'r.v': 'found!' }],
    ],
    // A later step makes a column of the key's name.
    [{ kind: 'unnest', source: joined(table, 'r.', 'name'), column: shadow }, scanOf(['name', 'r.v']), [{ name: 'b', 'r.v': 'found' }]],
    [joined(table, 'r.', 'name', { type: 'semi' }), scanOf(['name'], { virtualColumns: [shadow] }), [{ name: 'b' }]],
  ];
  for (const [source, plan, rows] of cases) assert.equal((await answer(world, plan, source)).rows, rows);
});

test('refuse several values in a row as a key', async () => {
  const world: World = { frames: [frameOf([{ name: ['a', 'b'] as never, number: 2n }], TYPES)], lookups: { r: [['a', 'found']], s: [] } };
  for (const type of ['inner', 'left', 'semi', 'anti'] as const)
    try {
      await answer(
        world,
        scanOf(['name']),
        joined({ kind: 'table', name: 't' }, 'r.', 'name', { type, condition: parseExpression('number > 1') }),
      );
      if (type !== 'left') assert.unreachable(`${type}: it was answered`);
    } catch (error) {
      assert.match((error as Error).message, /cannot be the key of a join/);
    }
});

test.run();
