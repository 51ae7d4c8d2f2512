import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseExpression } from '../../src/expression/parse.js';
import type { GroupPlan, ScanPlan } from '../../src/model/plan.js';
import type { JoinSource } from '../../src/model/row-source.js';
import { caseCount } from '../case-count.js';
import {
  type Case,
  held,
  JOINED_SCAN,
  joinCase,
  joinedRows,
  joinOf,
  LEAF,
  LEFT,
  type LeftRow,
  leftRow,
  memory,
  NUMBER_KEY,
  pairsOf,
  piecesOf,
  RIGHT,
  type RightRow,
  reads,
  rightRow,
  runnerOf,
  running,
  TIMES,
  TYPES,
  threaded,
  way,
} from './join-cases.js';
import { type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';

/*
 * Joins against nested loops over plain rows, whichever way the left side comes: in frames, as segments, or left in memory, where two threads may
 * read it together.
 */

const joins = suite('joins');

joins('scanned rows of every type, any keys and conditions', async () => {
  await fc.assert(
    fc.asyncProperty(joinCase, way, running, async (one, from, given) => {
      const found = await rowsOf(runnerOf(one, from, given).run(JOINED_SCAN, joinOf(one, from)));
      assert.equal(sortedText(found), sortedText(joinedRows(one)));
    }),
    { numRuns: caseCount(700) },
  );
});

joins('groups by columns of both sides, filtered by columns of both', async () => {
  const plan: GroupPlan = {
    operator: 'group',
    ...LEAF,
    filter: {
      kind: 'and',
      filters: [
        { kind: 'not', filter: { kind: 'equals', column: 'text', type: 'STRING', value: 'b' } },
        { kind: 'not', filter: { kind: 'equals', column: 'r.text', type: 'STRING', value: 'a' } },
      ],
    },
    keys: [
      { kind: 'column', name: 'text', column: 'text', type: null },
      { kind: 'column', name: 'name', column: 'r.name', type: null },
      { kind: 'column', name: 'number', column: 'r.number', type: null },
    ],
    aggregators: [
      { kind: 'count', name: 'pairs', filter: null },
      { kind: 'sum', name: 'left', column: 'number', type: 'LONG', filter: null },
      { kind: 'sum', name: 'right', column: 'r.number', type: 'LONG', filter: null },
      { kind: 'distinct', name: 'texts', column: 'r.text', filter: null },
    ],
    emptyGroup: false,
  };
  await fc.assert(
    fc.asyncProperty(joinCase, way, running, async (one, from, given) => {
      // No column of the right side is there; it is null.
      if (one.type === 'semi' || one.type === 'anti') return;
      const found = await rowsOf(runnerOf(one, from, given).run(plan, joinOf(one, from)));
      const groups = new Map<string, [LeftRow | null, RightRow | null][]>();
      for (const pair of pairsOf(one)) {
        const [left, right] = pair;
        // Unknown where a side is null, and then not true.
        if (left?.text == null || left.text === 'b' || right?.text == null || right.text === 'a') continue;
        const key = sortedText([{ text: left.text, name: right.name, number: right.number }]).join();
        groups.set(key, [...(groups.get(key) ?? []), pair]);
      }
      const sum = (values: readonly (bigint | null | undefined)[]): bigint | null => {
        const known = values.filter((value) => value !== null && value !== undefined);
        return known.length === 0
          ? null
          : BigInt.asIntN(
              64,
              known.reduce((total, value) => total + value, 0n),
            );
      };
      const expected = [...groups.values()].map((pairs): Plain => {
        const [[left, right] = [null, null]] = pairs;
        return {
          text: left?.text ?? null,
          name: right?.name ?? null,
          number: right?.number ?? null,
          pairs: BigInt(pairs.length),
          left: sum(pairs.map(([each]) => each?.number)),
          right: sum(pairs.map(([, each]) => each?.number)),
          texts: BigInt(new Set(pairs.map(([, each]) => each?.text)).size),
        };
      });
      assert.equal(sortedText(found), sortedText(expected));
    }),
    { numRuns: caseCount(350) },
  );
});

/** Columns to group by, with the value that a pair of rows has. */
const GROUP_KEYS: Readonly<Record<string, (left: LeftRow | null, right: RightRow | null) => Plain[string]>> = {
  text: (left) => left?.text ?? null,
  number: (left) => left?.number ?? null,
  next: (left) => (left?.number == null ? null : left.number + 1n),
  'r.name': (_, right) => right?.name ?? null,
  'r.number': (_, right) => right?.number ?? null,
};

joins('groups of all rows, with and without partner', async () => {
  const keys = fc.subarray(Object.keys(GROUP_KEYS));
  await fc.assert(
    fc.asyncProperty(joinCase, way, running, keys, fc.boolean(), async (one, from, given, names, isFew) => {
      if (one.type === 'semi' || one.type === 'anti') return;
      const plan: GroupPlan = {
        operator: 'group',
        ...LEAF,
        virtualColumns: [{ name: 'next', expression: parseExpression('number + 1'), outputType: 'LONG' }],
        keys: names.map((name) => ({ kind: 'column', name, column: name, type: null })),
        aggregators: [
          { kind: 'count', name: 'pairs', filter: null },
          { kind: 'count', name: 'ones', filter: { kind: 'equals', column: 'number', type: 'LONG', value: 1n } },
          { kind: 'min', name: 'least', column: 'number', type: 'LONG', filter: null },
          { kind: 'max', name: 'most', column: 'r.number', type: 'LONG', filter: null },
          { kind: 'distinct', name: 'texts', column: 'text', filter: null },
        ],
        post: isFew ? [{ step: 'filter', filter: { kind: 'equals', column: 'pairs', type: 'LONG', value: 1n } }] : [],
        emptyGroup: names.length === 0,
      };
      const found = await rowsOf(runnerOf(one, from, given).run(plan, joinOf(one, from)));
      const groups = new Map<string, [LeftRow | null, RightRow | null][]>(names.length === 0 ? [['', []]] : []);
      const keyOf = (pair: [LeftRow | null, RightRow | null]): Plain =>
        Object.fromEntries(names.map((name) => [name, GROUP_KEYS[name]?.(...pair) ?? null]));
      for (const pair of pairsOf(one)) {
        const key = names.length === 0 ? '' : sortedText([keyOf(pair)]).join();
        groups.set(key, [...(groups.get(key) ?? []), pair]);
      }
      const known = <Value>(values: readonly (Value | null | undefined)[]): Value[] =>
        values.flatMap((value) => (value === null || value === undefined ? [] : [value]));
      const extreme = (values: readonly (bigint | null | undefined)[], isMore: (one: bigint, other: bigint) => boolean): bigint | null =>
        known(values).reduce<bigint | null>((best, value) => (best === null || isMore(value, best) ? value : best), null);
      const expected = [...groups.values()].map(
        (pairs): Plain => ({
          ...(pairs[0] === undefined ? {} : keyOf(pairs[0])),
          pairs: BigInt(pairs.length),
          ones: BigInt(pairs.filter(([left]) => left?.number === 1n).length),
          least: extreme(
            pairs.map(([left]) => left?.number),
            (value, best) => value < best,
          ),
          most: extreme(
            pairs.map(([, right]) => right?.number),
            (value, best) => value > best,
          ),
          texts: BigInt(new Set(known(pairs.map(([left]) => left?.text))).size),
        }),
      );
      assert.equal(sortedText(found), sortedText(isFew ? expected.filter(({ pairs }) => pairs === 1n) : expected));
    }),
    { numRuns: caseCount(500) },
  );
});

joins('rows below right and full joins are left in memory, where these read them on all threads', async () => {
  const columns = ['text', 'r.name'];
  const row = (place: number): LeftRow => ({ text: `t${place % 7}`, number: BigInt(place % 5), amount: place });
  const left = Array.from({ length: 20 }, (_, place) => row(place));
  const right = Array.from({ length: 10 }, (_, place) => ({ ...row(place), text: `t${place}`, name: 'p' }));
  const scan: ScanPlan = { operator: 'scan', ...LEAF, columns, timeOrder: null, offset: 0, limit: null };
  const group: GroupPlan = {
    operator: 'group',
    ...LEAF,
    keys: columns.map((name) => ({ kind: 'column', name, column: name, type: null })),
    aggregators: [],
    emptyGroup: false,
  };
  for (const type of ['right', 'full'] as const)
    for (const from of ['gathered segments', 'gathered subquery', 'gathered union', 'window'] as const)
      for (const threads of [0, 2])
        for (const plan of [scan, group]) {
          const one: Case = { left, right, type, keys: ['text'], nullsMeet: [], conditions: [] };
          const before = reads.ofMemory;
          const found = await rowsOf(runnerOf(one, from, { chunkRows: 4096, threads }).run(plan, joinOf(one, from)));
          assert.is(reads.ofMemory, before + 1, `${type}, ${from}, ${threads} threads`);
          const pairs = pairsOf(one).map(([own, other]): Plain => ({ text: own?.text ?? null, 'r.name': other?.name ?? null }));
          const expected = sortedText(pairs);
          assert.equal(sortedText(found), plan === scan ? expected : [...new Set(expected)]);
        }
});

joins('joins of which no column is read, after others', async () => {
  const right = fc.oneof(
    fc.array(rightRow, { maxLength: 12 }),
    fc.uniqueArray(rightRow, { maxLength: 12, selector: (row) => String(row.number) }),
  );
  const secondJoin = fc.record({ right, type: fc.constantFrom(...TYPES) });
  const keys = fc.constantFrom(['number'], ['text']);
  const firstJoin = fc.record({
    left: fc.array(leftRow, { maxLength: 25 }),
    right,
    type: fc.constantFrom(...TYPES),
    keys,
    nullsMeet: fc.constantFrom([], ['number', 'text']),
    conditions: fc.constant([]),
  });
  await fc.assert(
    fc.asyncProperty(firstJoin, secondJoin, way, running, fc.boolean(), async (one, second, from, given, isNamed) => {
      const first = joinOf(one, from);
      const addsColumns = one.type !== 'semi' && one.type !== 'anti';
      const source: JoinSource = {
        kind: 'join',
        left: first,
        right: piecesOf(second.right, RIGHT),
        prefix: 's.',
        type: second.type,
        keys: [NUMBER_KEY],
        condition: null,
        leftColumns: [
          ...schemaOf(LEFT),
          ...(addsColumns ? schemaOf(RIGHT).map((column) => ({ ...column, name: `r.${column.name}` })) : []),
        ],
        rightColumns: schemaOf(RIGHT),
      };
      const columns = ['text', 'amount', ...(isNamed && addsColumns ? ['r.name'] : [])];
      const plan: ScanPlan = { operator: 'scan', ...LEAF, columns, timeOrder: null, offset: 0, limit: null };
      const found = await rowsOf(runnerOf(one, from, given).run(plan, source));
      const met = pairsOf(one);
      const number = (pair: (typeof met)[number]): bigint | null => pair[0]?.number ?? null;
      const partners = (pair: (typeof met)[number]): number =>
        number(pair) === null ? 0 : second.right.filter((other) => other.number === number(pair)).length;
      const alone =
        second.type === 'right' || second.type === 'full'
          ? second.right
              .filter((other) => other.number === null || !met.some((pair) => number(pair) === other.number))
              .map(() => [null, null] as const)
          : [];
      const expected = [...met.flatMap((pair) => Array.from({ length: TIMES[second.type](partners(pair)) }, () => pair)), ...alone].map(
        ([left, other]): Plain => ({
          text: left?.text ?? null,
          amount: left?.amount ?? null,
          ...(columns.length > 2 ? { 'r.name': other?.name ?? null } : {}),
        }),
      );
      assert.equal(sortedText(found), sortedText(expected));
    }),
    { numRuns: caseCount(300) },
  );
});

joins('gives back all memory', () => {
  for (const release of held.splice(0)) release();
  assert.is(memory.allocatedBytes, 0);
});

joins.after(async () => {
  await threaded.close();
});

joins.run();
