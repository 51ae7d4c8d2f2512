import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type LookupRows, lookupRows } from '../../src/cluster/lookups/lookup-store.js';
import { KeptUploads } from '../../src/cluster/sources/kept-uploads.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { lookupTableOf } from '../../src/model/lookup/lookup-table.js';
import type { JoinSource, RowSource, RowsPlan } from '../../src/model/row-source.js';
import type { RunLimits } from '../../src/model/run-limits.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { BufferPool } from '../../src/storage/buffer-pool.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';
import { groupOf, inline, joinOf, RUN, scanOf } from './running-sources.js';

/* Joins with lookups and rows of them, whose entries stay in memory from query to query: what a Map gives, and all is given back. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const test = suite('kept lookups');

interface Server {
  readonly pool: BufferPool;
  readonly kept: KeptUploads;
  /** Entries of the only lookup. */
  rows: LookupRows;
}

function serverWith(budgetBytes: number): Server {
  const pool = new BufferPool(memory, budgetBytes);
  return { pool, kept: new KeptUploads(pool.keep.bind(pool)), rows: { rowCount: 0, frames: async function* () {} } };
}

async function load(server: Server, entries: readonly (readonly [string, string])[]): Promise<void> {
  server.rows = lookupRows(await lookupTableOf(entries));
}

async function answer({ kept, rows }: Server, plan: RowsPlan, source: RowSource, limits: RunLimits = {}): Promise<Plain[]> {
  const runner = new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (each) => rowSourceColumns(each, { table: () => undefined }),
    runTables: () => assert.unreachable('no tables here') as never,
    lookup: () => rows,
    kept,
    runOptions: { ...RUN, limits },
    signal: new AbortController().signal,
  });
  return await rowsOf(runner.run(plan, source));
}

const LOOKUP: RowSource = { kind: 'lookup', name: 'l' };
const COLUMNS = schemaOf({ k: 'STRING', v: 'STRING' });

const joined = (left: RowSource, right: RowSource, type: JoinSource['type'], column = 'k'): JoinSource =>
  joinOf(left, right, {
    type,
    keys: [{ left: parseExpression('name'), right: parseExpression(column), type: 'STRING' }],
    leftColumns: schemaOf({ name: 'STRING' }),
    rightColumns: COLUMNS,
  });

const isWanted = (value: string): boolean => value.includes('a');
const WANTED: RowSource = { kind: 'filtered', source: LOOKUP, filter: { kind: 'like', column: 'v', pattern: '%a%', escape: null } };

/** Forms of queries, each with what a Map gives. */
const FORMS: Readonly<
  Record<
    string,
    {
      readonly plan: RowsPlan;
      readonly source: (left: RowSource) => RowSource;
      readonly rows: (names: readonly (string | null)[], entries: ReadonlyMap<string, string>) => readonly Plain[];
    }
  >
> = {
  inner: {
    plan: scanOf(['name', 'r.v']),
    source: (left) => joined(left, LOOKUP, 'inner'),
    rows: (names, entries) =>
      names.flatMap((name) => (name !== null && entries.has(name) ? [{ name, 'r.v': entries.get(name) ?? null }] : [])),
  },
  left: {
    plan: scanOf(['name', 'r.k', 'r.v']),
    source: (left) => joined(left, LOOKUP, 'left'),
    rows: (names, entries) =>
      names.map((name) => {
        const found = name === null ? undefined : entries.get(name);
        return { name, 'r.k': found === undefined ? null : name, 'r.v': found ?? null };
      }),
  },
  semi: {
    plan: scanOf(['name']),
    source: (left) => joined(left, LOOKUP, 'semi'),
    rows: (names, entries) => names.flatMap((name) => (name !== null && entries.has(name) ? [{ name }] : [])),
  },
  full: {
    plan: scanOf(['name', 'r.v']),
    source: (left) => joined(left, LOOKUP, 'full'),
    rows: (names, entries) => [
      ...names.map((name) => ({ name, 'r.v': (name === null ? undefined : entries.get(name)) ?? null })),
      ...[...entries].flatMap(([key, v]) => (names.includes(key) ? [] : [{ name: null, 'r.v': v }])),
    ],
  },
  'of some entries': {
    plan: scanOf(['name', 'r.v']),
    source: (left) => joined(left, WANTED, 'left'),
    rows: (names, entries) =>
      names.map((name) => {
        const found = name === null ? undefined : entries.get(name);
        return { name, 'r.v': found !== undefined && isWanted(found) ? found : null };
      }),
  },
  'by values': {
    plan: scanOf(['name', 'r.k']),
    source: (left) => joined(left, LOOKUP, 'left', 'v'),
    rows: (names, entries) =>
      names.flatMap((name): Plain[] => {
        const keys = [...entries].flatMap(([k, v]) => (v === name ? [k] : []));
        return keys.length === 0 ? [{ name, 'r.k': null }] : keys.map((k) => ({ name, 'r.k': k }));
      }),
  },
  'entries alone': {
    plan: groupOf(['v']),
    source: () => WANTED,
    rows: (_, entries) => {
      const counts = new Map<string, bigint>();
      for (const v of entries.values()) if (isWanted(v)) counts.set(v, (counts.get(v) ?? 0n) + 1n);
      return [...counts].map(([v, rows]) => ({ v, rows }));
    },
  },
};

const key = fc.constantFrom('', 'a', 'b', 'ab', 'é', '10', '😀', 'not there');
const value = fc.constantFrom('', 'a', 'bar', 'é', '€😀');

test('give what a Map gives, in whatever state the lookup is', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.option(key, { nil: null }), { minLength: 1, maxLength: 30 }),
      fc.array(fc.array(fc.tuple(key, value), { maxLength: 8 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.tuple(fc.constantFrom(...Object.keys(FORMS)), fc.nat(2)), { minLength: 1, maxLength: 8 }),
      fc.constantFrom(0, 4000, 1 << 24),
      async (names, states, asked, budgetBytes) => {
        const server = serverWith(budgetBytes);
        const left = inline(
          frameOf(
            names.map((name) => ({ name })),
            { name: 'STRING' },
          ),
        );
        for (const [name, at] of asked) {
          const entries = states[at % states.length] ?? [];
          await load(server, entries);
          const form = FORMS[name];
          assert.ok(form !== undefined);
          const found = await answer(server, form.plan, form.source(left));
          assert.equal(sortedText(found), sortedText(form.rows(names, new Map(entries))), name);
          assert.ok(server.pool.bytes <= budgetBytes);
        }
        server.pool.makeRoom(Infinity);
        assert.is(server.kept.size, 0);
        assert.is(server.pool.bytes, 0);
        assert.is(memory.allocatedBytes, 0, 'memory is given back');
      },
    ),
    { numRuns: caseCount(150) },
  );
});

const LEFT = inline(frameOf([{ name: 'a' }, { name: 'c' }], { name: 'STRING' }));

test('are placed once for all queries, and given up when the lookup is another', async () => {
  const server = serverWith(1 << 24);
  let read = 0;
  const loadCounted = async (entries: readonly (readonly [string, string])[]): Promise<void> => {
    await load(server, entries);
    const { frames, ...rest } = server.rows;
    server.rows = {
      ...rest,
      frames: () => {
        read++;
        return frames();
      },
    };
  };
  const ask = () => answer(server, scanOf(['name', 'r.k']), joined(LEFT, LOOKUP, 'inner', 'v'));
  await loadCounted([['one', 'a']]);
  assert.equal(
    await Promise.all([ask(), ask(), ask()]),
    [1, 2, 3].map(() => [{ name: 'a', 'r.k': 'one' }]),
  );
  assert.equal(await ask(), [{ name: 'a', 'r.k': 'one' }]);
  assert.is(read, 1);
  const bytes = server.pool.bytes;
  await loadCounted([['two', 'c']]);
  assert.equal(await ask(), [{ name: 'c', 'r.k': 'two' }]);
  assert.is(read, 2);
  assert.is(server.kept.size, 1);
  assert.is(server.pool.bytes, bytes);
  server.pool.makeRoom(1);
  assert.is(server.kept.size, 0);
  assert.is(memory.allocatedBytes, 0);
  assert.equal(await ask(), [{ name: 'c', 'r.k': 'two' }]);
  assert.is(read, 3);
  server.pool.makeRoom(Infinity);
});

test('keep to the limits of each query', async () => {
  const server = serverWith(1 << 24);
  const entries = Array.from({ length: 100 }, (_, at): [string, string] => [`${at}`, 'v']);
  await load(server, entries);
  const ask = (limits: RunLimits) => answer(server, scanOf(['name', 'r.k']), joined(LEFT, LOOKUP, 'inner', 'v'), limits);
  const refused = async (limits: RunLimits, words: RegExp): Promise<void> => {
    try {
      await ask(limits);
    } catch (error) {
      assert.match((error as Error).message, words);
      return;
    }
    assert.unreachable('it was answered');
  };
  await refused({ maxSubqueryRows: 99 }, /maxSubqueryRows/);
  assert.equal(await ask({}), []);
  await refused({ maxSubqueryRows: 99 }, /maxSubqueryRows/);
  await refused({ maxSubqueryBytes: 10 }, /maxSubqueryBytes/);
  assert.equal(await ask({ maxSubqueryRows: 100 }), []);
  server.pool.makeRoom(Infinity);
  assert.is(memory.allocatedBytes, 0);
});

test('are made by others when who made them is cancelled', async () => {
  const pool = new BufferPool(memory, 1 << 20);
  const kept = new KeptUploads(pool.keep.bind(pool));
  const state = { name: 'l', digest: 'one' };
  const rows = { id: 'x', rowCount: 1, bytes: 100, release: () => undefined };
  let fail = (_: Error): void => undefined;
  const first = kept.take(state, 'form', () => new Promise((_, reject) => (fail = reject)), new AbortController().signal);
  const second = kept.take(state, 'form', async () => rows, new AbortController().signal);
  fail(new Error('cancelled'));
  await first.then(
    () => assert.unreachable('it failed'),
    ({ message }: Error) => assert.is(message, 'cancelled'),
  );
  const taken = await second;
  assert.is(taken.id, 'x');
  assert.is(pool.makeRoom(Infinity), 0, 'somebody reads it');
  taken.release();
  assert.is(pool.makeRoom(Infinity), 100);
  assert.is(kept.size, 0);
});

test.run();
