import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { ScanPlan } from '../../src/model/plan.js';
import type { JoinSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';

/* Multi-value columns as keys of joins against pairs counted value by value. */

const memory = KernelMemory.create({ maximumBytes: 1 << 28 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const TYPES = { id: 'LONG', tags: 'STRING' } as const;

function runner(): SourceRunner {
  const { signal } = new AbortController();
  const runOptions = { deadlineMs: Number.MAX_SAFE_INTEGER, priority: 0, kernels: null, batchRows: null };
  return new SourceRunner({
    engine,
    isServedHere: () => true,
    rowsOfTable: () => null,
    columnsOf: (source) => rowSourceColumns(source, { table: () => undefined }),
    runTables: () => {
      throw new Error('no tables here');
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions,
    signal,
    chunkRows: 5,
  });
}

type Type = JoinSource['type'];
const OTHERS: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = { 'id < "r.id"': (a, b) => a < b };

function joinOf(left: readonly Plain[], right: readonly Plain[], type: Type, condition: string | null): JoinSource {
  return {
    kind: 'join',
    left: { kind: 'inline', frame: frameOf(left, TYPES) },
    right: { kind: 'inline', frame: frameOf(right, TYPES) },
    prefix: 'r.',
    type,
    keys: [{ left: parseExpression('tags'), right: parseExpression('tags'), type: 'STRING' }],
    condition: condition === null ? null : parseExpression(condition),
    leftColumns: schemaOf(TYPES),
    rightColumns: schemaOf(TYPES),
    ...(type === 'mark' ? { mark: 'met' } : {}),
  };
}

function scanOf(columns: readonly string[]): ScanPlan {
  const rest = {
    dataSource: '',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [],
    timeOrder: null,
    offset: 0,
    limit: null,
    post: [],
  };
  return { operator: 'scan', columns, ...rest };
}

const valuesOf = ({ tags }: Plain): readonly unknown[] => (Array.isArray(tags) ? tags : tags === null ? [] : [tags]);

function expected(left: readonly Plain[], right: readonly Plain[], type: Type, condition: string | null): Plain[] {
  const rows: Plain[] = [];
  const matched = new Set<Plain>();
  for (const one of left) {
    const partners = right.flatMap((other) => {
      const passes = condition === null || OTHERS[condition]?.(one['id'] as bigint, other['id'] as bigint);
      if (!passes) return [];
      return valuesOf(one).flatMap((a) => valuesOf(other).flatMap((b) => (a !== null && a === b ? [other] : [])));
    });
    for (const other of partners) matched.add(other);
    const id = one['id'] ?? null;
    if (type === 'mark') rows.push({ id, met: partners.length > 0 ? 1n : 0n });
    else if (type === 'semi' || type === 'anti') rows.push(...(partners.length > 0 === (type === 'semi') ? [{ id }] : []));
    else {
      rows.push(...partners.map((other) => ({ id, 'r.id': other['id'] ?? null })));
      if (partners.length === 0 && (type === 'left' || type === 'full')) rows.push({ id, 'r.id': null });
    }
  }
  if (type === 'right' || type === 'full')
    for (const other of right) if (!matched.has(other)) rows.push({ id: null, 'r.id': other['id'] ?? null });
  return rows;
}

const tag = fc.constantFrom('a', 'b', 'c', 'd', null);
const list = fc.uniqueArray(tag, { maxLength: 3 });
const rowsWith = (tags: fc.Arbitrary<Plain['tags']>): fc.Arbitrary<Plain[]> =>
  fc.array(tags, { maxLength: 12 }).map((cells) => cells.map((cell, index) => ({ id: BigInt(index), tags: cell ?? null })));
const several = rowsWith(list as fc.Arbitrary<Plain['tags']>);
const single = rowsWith(tag);

const keys = suite('multi-value columns as keys of joins');

for (const type of ['inner', 'left', 'right', 'full', 'semi', 'anti', 'mark'] as const)
  keys(`${type}: a row meets what any of its values equals`, async () => {
    const columns = type === 'semi' || type === 'anti' ? ['id'] : type === 'mark' ? ['id', 'met'] : ['id', 'r.id'];
    // Right and full joins track which rows of the right side met a partner, which needs keys of one value there.
    const isMarked = type === 'right' || type === 'full';
    await fc.assert(
      fc.asyncProperty(
        several,
        isMarked ? single : fc.oneof(single, several),
        fc.constantFrom(null, ...Object.keys(OTHERS)),
        async (left, right, condition) => {
          const found = await rowsOf(runner().run(scanOf(columns), joinOf(left, right, type, condition)));
          assert.equal(sortedText(found), sortedText(expected(left, right, type, condition)));
        },
      ),
      { numRuns: 60 },
    );
    assert.is(memory.allocatedBytes, 0);
  });

keys('where nulls are equal a row of the right side without values equals a null', async () => {
  const orNull = ({ tags }: Plain): readonly unknown[] =>
    Array.isArray(tags) && tags.length > 0 ? tags : [Array.isArray(tags) ? null : tags];
  const left = fc.array(tag, { maxLength: 12 }).map((cells) => cells.map((tags, index): Plain => ({ id: BigInt(index), tags })));
  await fc.assert(
    fc.asyncProperty(left, several, async (ones, others) => {
      const join = joinOf(ones, others, 'inner', null);
      const nullsMeet: JoinSource = { ...join, keys: join.keys.map((key) => ({ ...key, nullsMeet: true })) };
      const found = await rowsOf(runner().run(scanOf(['id', 'r.id']), nullsMeet));
      const pairs = ones.flatMap((one) =>
        others.flatMap((other) =>
          orNull(other).flatMap((value) => (value === one['tags'] ? [{ id: one['id'], 'r.id': other['id'] }] : [])),
        ),
      );
      assert.equal(sortedText(found), sortedText(pairs as Plain[]));
    }),
    { numRuns: 100 },
  );
});

keys('on the right side of RIGHT and FULL joins they are refused by name', async () => {
  const right = [{ id: 1n, tags: ['a', 'b'] }];
  try {
    await rowsOf(runner().run(scanOf(['id']), joinOf([{ id: 1n, tags: 'a' }], right, 'full', null)));
    assert.unreachable();
  } catch (error) {
    assert.match(String(error), /multi-value column cannot be the key of the right side of a RIGHT or FULL join/);
  }
});

keys.after(() => engine.close());
keys.run();
