import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { SegmentTable } from '../../src/cluster/broker/segment-rows.js';
import { ClusterView } from '../../src/cluster/broker/view.js';
import type { Copies, SnapshotUpdate } from '../../src/cluster/rpc/services.js';
import { cellAt, type Frame } from '../../src/model/frame.js';
import type { SegmentDescriptor } from '../../src/model/segment.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { withExactSums } from '../../src/planner/rules/exact-sums.js';
import { inlineFrame } from '../../src/planner/sql/catalog/inline-frame.js';
import { rowsWhere } from '../../src/planner/sql/catalog/picked-rows.js';
import { brokerOver, EVERYWHERE, OLD } from './broker-over.js';
import { inventoryOf, segmentOf } from './fakes.js';

const SEGMENTS = ['a', 'b'].flatMap((name) => [0, 1, 2].map((day) => ({ ...segmentOf(name, day, 'v1', day, 3), sizeBytes: 100 + day })));
const SERVERS = [
  ['h', 'hot'],
  ['i', 'hot'],
  ['j', 'cold'],
] as const;
const COPIES: readonly Copies[] = [{ hot: 1 }, { hot: 2, cold: 1 }, { hot: Number.MAX_SAFE_INTEGER }];
/** Sum over the tiers, of which one has two servers. */
const FACTORS = [1n, 3n, 2n];

/** State of a segment: not used, a place in `COPIES`, or used and read by no query. */
type State = 'unused' | 0 | 1 | 2 | 'overshadowed' | 'nowhere';

const state = fc.constantFrom<State>('unused', 0, 1, 2, 'overshadowed', 'nowhere');
const step = fc.record({
  states: fc.array(state, { minLength: SEGMENTS.length, maxLength: SEGMENTS.length }),
  served: fc.array(fc.array(fc.boolean(), { minLength: SERVERS.length, maxLength: SERVERS.length }), {
    minLength: SEGMENTS.length,
    maxLength: SEGMENTS.length,
  }),
  live: fc.oneof(
    fc.constant(SEGMENTS.map(() => 0)),
    fc.array(fc.nat({ max: 2 }), { minLength: SEGMENTS.length, maxLength: SEGMENTS.length }),
  ),
  isWhole: fc.boolean(),
});

const COLUMNS = ['segment_id', 'datasource', 'size', 'partition_num', 'num_replicas', 'num_rows', 'is_active', 'is_published'];
const MORE = ['is_available', 'is_realtime', 'is_overshadowed', 'shard_spec', 'dimensions', 'replication_factor', 'projections'];

/** The row that a segment has by the meaning of the columns; undefined: none. */
function expected(segment: SegmentDescriptor, of: State, loaded: number, live: number): readonly unknown[] | undefined {
  const { dataSource, partitionNumber } = segment.id;
  const isUsed = of !== 'unused';
  if (!isUsed && loaded === 0 && live === 0) return undefined;
  // Servers tell no more than names of segments that are no longer used.
  const isNamed = !isUsed && loaded > 0;
  const count = isNamed ? loaded : loaded + live;
  const long = (truth: boolean): bigint => (truth ? 1n : 0n);
  return [
    segmentIdText(segment.id),
    dataSource,
    isUsed ? BigInt(segment.sizeBytes) : 0n,
    BigInt(partitionNumber),
    BigInt(count),
    isNamed ? 0n : 10n,
    long(isNamed ? false : of !== 'overshadowed'),
    long(isUsed),
    long(count > 0),
    long(!isNamed && live > 0 && loaded === 0),
    long(of === 'overshadowed'),
    isNamed ? null : JSON.stringify({ type: 'numbered', partitionNum: partitionNumber, partitions: 3 }),
    isNamed ? null : '["page"]',
    isUsed ? (typeof of === 'number' ? (FACTORS[of] ?? 0n) : 0n) : -1n,
    null,
  ];
}

function cells(frame: Frame, names: readonly string[]): unknown[][] {
  const columns = names.map((name) => frame.columns.find((each) => each.name === name));
  return Array.from({ length: frame.rowCount }, (_, row) => columns.map((column) => (column === undefined ? 'none' : cellAt(column, row))));
}

/** Words of the Coordinator: all, or what is otherwise than before. */
function told(revision: number, before: readonly State[] | undefined, now: readonly State[]): SnapshotUpdate {
  const changed = SEGMENTS.map((segment, at) => ({ segment, at, of: now[at] ?? 'unused' })).filter(({ at, of }) => before?.[at] !== of);
  const targets = changed.filter(({ of }) => typeof of === 'number');
  const others = changed.filter(({ of }) => of === 'overshadowed' || of === 'nowhere');
  const gone = changed.filter(({ of }) => typeof of !== 'number').map(({ segment }) => segmentIdText(segment.id));
  return {
    ...{ revision, segments: targets.map(({ segment }) => segment), copies: targets.map(({ of }) => COPIES[Number(of)] ?? {}) },
    ...{ others: others.map(({ segment }) => segment), overshadowed: others.map(({ of }) => of === 'overshadowed') },
    ...(before === undefined ? {} : { since: { revision: revision - 1, gone } }),
  };
}

const rows = suite('rows of sys.segments');

rows('are those that the columns mean, whatever was told as a change and what as a whole', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const view = new ClusterView();
      const table = new SegmentTable(view);
      let before: readonly State[] | undefined;
      for (const [at, { states, served, live, isWhole }] of steps.entries()) {
        await view.updateServers(
          SERVERS.map(([host, tier], server) =>
            inventoryOf(
              host,
              SEGMENTS.filter((_, segment) => served[segment]?.[server] === true).map(({ id }) => segmentIdText(id)),
              { tier },
            ),
          ),
        );
        await view.adopt(told(at, isWhole ? undefined : before, states));
        before = states;
        const counts = new Map(
          SEGMENTS.flatMap((segment, segmentAt) => {
            const count = live[segmentAt] ?? 0;
            return count === 0 ? [] : [[segmentIdText(segment.id), { segment, count }] as const];
          }),
        );
        const frame = await table.frame(counts);
        assert.is((await table.frame(counts)) === frame, counts.size === 0);
        const found = cells(frame, [...COLUMNS, ...MORE]).sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
        const wanted = SEGMENTS.flatMap((segment, segmentAt) => {
          const loaded = (served[segmentAt] ?? []).filter((each) => each).length;
          const row = expected(segment, states[segmentAt] ?? 'unused', loaded, live[segmentAt] ?? 0);
          return row === undefined ? [] : [row];
        });
        assert.equal(found, wanted);
      }
    }),
  );
});

rows('a name that no segment has is a row without its parts', async () => {
  const view = new ClusterView();
  await view.updateServers([inventoryOf('h', ['strange'])]);
  await view.adopt({ revision: 1, segments: [] });
  const frame = await new SegmentTable(view).frame(new Map());
  assert.equal(cells(frame, ['segment_id', 'datasource', 'start', 'end', 'size', 'version', 'partition_num', 'num_replicas']), [
    ['strange', null, null, null, 0n, null, null, 1n],
  ]);
});

rows('a Historical that does not answer fails the list, and the next one is whole again', async () => {
  let isDown = false;
  const inventoryAfter = async () => {
    if (isDown) throw new ServiceError('unavailable', 'cannot reach b');
    return inventoryOf('b', []);
  };
  const { broker } = await brokerOver({ revision: 1, segments: OLD }, { a: EVERYWHERE, b: { ids: [], inventoryAfter } });
  const count = () =>
    broker.segmentsTable(new Map()).then(
      ({ rowCount }) => rowCount,
      (error: ServiceError) => `${error.code}: ${error.message}`,
    );
  assert.is(await count(), 3);
  isDown = true;
  assert.is(await count(), 'unavailable: cannot reach b');
  isDown = false;
  assert.is(await count(), 3);
  await broker.stop();
});

rows('a reader sees the rows of some datasources, and no text of others', () => {
  const name = fc.constantFrom('a', 'b', null);
  const long = fc.option(fc.bigInt({ min: -5n, max: 5n }));
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, name, long), { maxLength: 70 }),
      fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
      (drawn, takes) => {
        const columns = [
          { name: 'ds', type: 'STRING' as const },
          { name: 'text', type: 'STRING' as const },
          { name: 'long', type: 'LONG' as const },
        ];
        const frame = inlineFrame(
          columns,
          columns.map((_, at) => drawn.map((row) => row[at] ?? null)),
          drawn.length,
        );
        const isTaken = (text: string | null): boolean => takes[text === null ? 2 : text === 'a' ? 0 : 1] === true;
        const seen = rowsWhere(frame, 'ds', isTaken);
        const wanted = drawn.filter(([text]) => isTaken(text));
        assert.equal(cells(seen, ['ds', 'text', 'long']), wanted);
        for (const [at, column] of seen.columns.entries()) {
          if (column.kind !== 'string') continue;
          const used = new Set<unknown>(wanted.map((row) => row[at]));
          assert.ok(column.dictionary.every((text) => used.has(text)));
        }
      },
    ),
  );
});

rows('rules of plans read no rows', () => {
  const unread: Frame = {
    rowCount: 1,
    columns: [
      {
        kind: 'string',
        name: 'x',
        get ids(): Uint32Array {
          throw new Error('it was read');
        },
        dictionary: [null],
      },
    ],
  };
  const source = { kind: 'filtered', source: { kind: 'inline', frame: unread } };
  assert.is(withExactSums(source), source);
});

rows.run();
