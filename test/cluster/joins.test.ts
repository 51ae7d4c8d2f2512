import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { GroupPlan, PostStep, ScanPlan } from '../../src/model/plan.js';
import type { JoinKey, JoinSource, RowSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { frameOf, type Plain, rowsOf, schemaOf, sortedText } from './plain-rows.js';

/*
 * Joins against nested loops over plain rows, whichever way the left side comes: in frames, as segments, or left in memory, where two threads may
 * read it together.
 */

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const inline = createEngine({ memory, kernels: 'simd', threads: 0 });
const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 1 });
/** Engine of another process: it does not know the rows that the first one uploaded. */
const elsewhere = createEngine({ memory, kernels: 'scalar', threads: 0 });
const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;

const FRAMELESS = { unit: 'range', start: 'unbounded', end: 0, exclude: null } as const;
const LEAF = { dataSource: 'rows', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
const LEFT = { text: 'STRING', number: 'LONG', amount: 'DOUBLE' } as const;
const RIGHT = { text: 'STRING', number: 'LONG', amount: 'DOUBLE', name: 'STRING' } as const;
const text = fc.option(fc.constantFrom('a', 'b', 'B', '', 'é', '1', '2'), { nil: null, freq: 5 });
const number = fc.option(fc.oneof(fc.bigInt({ min: -2n, max: 3n }), fc.constant(2n ** 62n)), { nil: null, freq: 5 });
const amount = fc.option(fc.constantFrom(0, -0, 1, 2, 2.5, Number.NaN), { nil: null, freq: 5 });
const leftRow = fc.record({ text, number, amount });
const rightRow = fc.record({ text, number, amount, name: fc.constantFrom('p', 'q', null) });
type LeftRow = { text: string | null; number: bigint | null; amount: number | null };
type RightRow = LeftRow & { name: string | null };

/** Equal when both sides give the same text and neither is null, or, where nulls are equal, both are. */
interface KeyCase {
  readonly key: JoinKey;
  readonly left: (row: LeftRow) => string | null;
  readonly right: (row: RightRow) => string | null;
}

const NUMBER_KEY: JoinKey = { left: parseExpression('number'), right: parseExpression('number'), type: 'LONG' };

const doubleText = (value: number | null): string | null => (value === null ? null : String(value === 0 ? 0 : value));
const asNumber = (value: string | null): string | null => (value !== null && /^\d$/.test(value) ? value : null);

const KEYS: Readonly<Record<string, KeyCase>> = {
  text: {
    key: { left: parseExpression('text'), right: parseExpression('text'), type: 'STRING' },
    left: (row) => row.text,
    right: (row) => row.text,
  },
  computedText: {
    key: { left: parseExpression("concat(text, 'x')"), right: parseExpression("concat(upper(text), 'x')"), type: 'STRING' },
    left: (row) => row.text,
    right: (row) => row.text?.toUpperCase() ?? null,
  },
  number: {
    key: NUMBER_KEY,
    left: (row) => row.number?.toString() ?? null,
    right: (row) => row.number?.toString() ?? null,
  },
  computedNumber: {
    key: { left: parseExpression('number + 1'), right: parseExpression('number'), type: 'LONG' },
    left: (row) => (row.number === null ? null : (row.number + 1n).toString()),
    right: (row) => row.number?.toString() ?? null,
  },
  amount: {
    key: { left: parseExpression('amount'), right: parseExpression('amount'), type: 'DOUBLE' },
    left: (row) => doubleText(row.amount),
    right: (row) => doubleText(row.amount),
  },
  mixed: {
    key: { left: parseExpression('text'), right: parseExpression('number'), type: 'DOUBLE' },
    left: (row) => asNumber(row.text),
    right: (row) => doubleText(row.number === null ? null : Number(row.number)),
  },
};

const CONDITIONS: Readonly<Record<string, (left: LeftRow, right: RightRow) => boolean>> = {
  'number < "r.number"': (left, right) => left.number !== null && right.number !== null && left.number < right.number,
  '"r.name" == \'p\'': (_, right) => right.name === 'p',
  'text != "r.text" || number == 1': (left, right) =>
    (left.text !== null && right.text !== null && left.text !== right.text) || left.number === 1n,
  '1 == 2': () => false,
};

const TYPES = ['inner', 'left', 'right', 'full', 'semi', 'anti'] as const;

interface Case {
  readonly left: readonly LeftRow[];
  readonly right: readonly RightRow[];
  readonly type: JoinSource['type'];
  readonly keys: readonly string[];
  /** Keys whose nulls are equal. */
  readonly nullsMeet: readonly string[];
  readonly condition: string | null;
}

const joinCase = fc.record({
  left: fc.array(leftRow, { maxLength: 25 }),
  right: fc.array(rightRow, { maxLength: 25 }),
  type: fc.constantFrom(...TYPES),
  keys: fc.oneof(fc.subarray(Object.keys(KEYS), { maxLength: 4 }), fc.constantFrom(['text'], ['number'])),
  nullsMeet: fc.oneof(fc.constant([]), fc.subarray(Object.keys(KEYS))),
  condition: fc.option(fc.constantFrom(...Object.keys(CONDITIONS)), { nil: null }),
});

/** The pairs of a join, with null where there is no row. */
function pairsOf({ left, right, type, keys, nullsMeet, condition }: Case): [LeftRow | null, RightRow | null][] {
  const meets = (one: LeftRow, other: RightRow): boolean =>
    keys.every((name) => {
      const value = KEYS[name]?.left(one) ?? null;
      return (value !== null || nullsMeet.includes(name)) && value === KEYS[name]?.right(other);
    }) &&
    (condition === null || CONDITIONS[condition]?.(one, other) === true);
  const pairs: [LeftRow | null, RightRow | null][] = [];
  for (const one of left) {
    const partners = right.filter((other) => meets(one, other));
    if (type === 'semi' || type === 'anti') {
      if (partners.length > 0 === (type === 'semi')) pairs.push([one, null]);
      continue;
    }
    for (const other of partners) pairs.push([one, other]);
    if (partners.length === 0 && (type === 'left' || type === 'full')) pairs.push([one, null]);
  }
  if (type === 'right' || type === 'full') for (const other of right) if (!left.some((one) => meets(one, other))) pairs.push([null, other]);
  return pairs;
}

/**
 * Form of the left side; `right segments`: the right side is a table so large that the left one is uploaded instead. The rows of `gathered`
 * segments, subqueries and unions of these, and those of a `window`, are left in memory where a join asks for all of them together.
 */
const WAYS = [
  'frames',
  'segments here',
  'segments elsewhere',
  'right segments',
  'gathered segments',
  'gathered subquery',
  'gathered union',
  'window',
] as const;
type Way = (typeof WAYS)[number];

function joinOf({ left, right, type, keys, nullsMeet, condition }: Case, way: Way): JoinSource {
  return {
    kind: 'join',
    left: leftOf(left, way),
    right: way === 'right segments' ? { kind: 'table', name: 'right' } : piecesOf(right, RIGHT),
    prefix: 'r.',
    type,
    keys: keys.flatMap((name): JoinKey[] => {
      const key = KEYS[name]?.key;
      return key === undefined ? [] : [nullsMeet.includes(name) ? { ...key, nullsMeet: true } : key];
    }),
    condition: condition === null ? null : parseExpression(condition),
    leftColumns: schemaOf(LEFT),
    rightColumns: schemaOf(RIGHT),
  };
}

function leftOf(left: readonly LeftRow[], way: Way): RowSource {
  const table = { kind: 'table', name: 'left' } as const;
  const scan: ScanPlan = { operator: 'scan', ...LEAF, columns: Object.keys(LEFT), timeOrder: null, offset: 0, limit: null };
  // Each row once, with a number that nobody reads.
  const window: ScanPlan = { ...scan, post: [NUMBERED] };
  switch (way) {
    case 'right segments':
      return { kind: 'inline', frame: frameOf(left, LEFT) };
    case 'frames':
      return piecesOf(left, LEFT);
    case 'gathered subquery':
      return { kind: 'query', plan: scan, source: table };
    case 'window':
      return { kind: 'query', plan: window, source: piecesOf(left, LEFT) };
    case 'gathered union':
      return {
        kind: 'union',
        sources: ['first half', 'second half'].map((name) => ({ kind: 'query', plan: scan, source: { kind: 'table', name } })),
      };
    default:
      return table;
  }
}

const NUMBERED: PostStep = {
  step: 'window',
  partition: [],
  order: [],
  functions: [{ name: 'place', type: 'LONG', call: { kind: 'rowNumber' }, columns: [], filter: null, frame: FRAMELESS }],
};

function piecesOf(rows: readonly Plain[], types: typeof LEFT | typeof RIGHT): RowSource {
  const inline = (from: number): RowSource => ({ kind: 'inline', frame: frameOf(rows.slice(from, from + 6), types) });
  return { kind: 'union', sources: Array.from({ length: Math.max(1, Math.ceil(rows.length / 6)) }, (_, at) => inline(at * 6)) };
}

interface Running {
  readonly chunkRows: number;
  readonly threads: number;
}

/** Frees the segments of right sides, after the last run. */
const held: (() => void)[] = [];

/** Plans that read what was left in memory, since it was looked last. */
let readsOfMemory = 0;

function runnerOf({ left, right }: Case, way: Way, { chunkRows, threads }: Running): SourceRunner {
  const engine = threads === 0 ? inline : threaded;
  return new SourceRunner({
    engine: {
      runRows: (...all) => engine.runRows(...all),
      runUploaded: (...all) => {
        readsOfMemory++;
        return engine.runUploaded(...all);
      },
      build: (...all) => engine.build(...all),
      reserveUpload: () => engine.reserveUpload(),
      releaseUpload: (id) => engine.releaseUpload(id),
    },
    isServedHere: () => way !== 'segments elsewhere',
    rowsOfTable: (name) => (name === 'right' ? 1_000_000 : way.startsWith('gathered') ? left.length : null),
    columnsOf: (source) =>
      rowSourceColumns(source, { table: (name) => ({ columns: schemaOf(name === 'right' ? RIGHT : LEFT), interval: ETERNITY }) }),
    async *runTables(plan, [name]): AsyncGenerator<Frame> {
      const half = Math.ceil(left.length / 2);
      const halves = { 'first half': left.slice(0, half), 'second half': left.slice(half) };
      const own = name === 'first half' || name === 'second half' ? halves[name] : left;
      const [rows, types] = name === 'right' ? ([right, RIGHT] as const) : ([own, LEFT] as const);
      // One segment, or three, each with dictionaries of its own.
      const parts = rows.length % 2 === 0 ? 1 : 3;
      const placed = Array.from({ length: parts }, (_, part) =>
        uploadFrame(
          frameOf(
            rows.filter((_, row) => row % parts === part),
            types,
          ),
          memory,
        ),
      );
      const views = placed.map(({ view }, part) => ({ ...view, id: `segment_${part}` }));
      try {
        const runs = way === 'segments elsewhere' ? elsewhere : engine;
        yield* runs.runViews(plan, views, { ...RUN, ending: 'final' }, new AbortController().signal);
      } finally {
        // Results that stay in memory have the dictionaries of the segments.
        const releases = placed.map(({ release }) => release);
        if (plan.upload === undefined) for (const release of releases) release();
        else held.push(...releases);
      }
    },
    lookup: () => ({ rowCount: 0, frames: async function* () {} }),
    runOptions: RUN,
    signal: new AbortController().signal,
    chunkRows,
  });
}

/** Rows that a join makes of one row of its left side, by the number of its partners. */
const TIMES = {
  inner: (partners: number) => partners,
  right: (partners: number) => partners,
  left: (partners: number) => Math.max(1, partners),
  full: (partners: number) => Math.max(1, partners),
  semi: (partners: number) => Math.min(1, partners),
  anti: (partners: number) => (partners === 0 ? 1 : 0),
} as const;

const way = fc.constantFrom(...WAYS);
const running = fc.record({ chunkRows: fc.constantFrom(1, 7, 4096), threads: fc.constantFrom(0, 2) });

const joins = suite('joins');

joins('scanned rows of every type, any keys and conditions', async () => {
  const columns = ['text', 'number', 'amount', 'r.text', 'r.number', 'r.amount', 'r.name'];
  const plan: ScanPlan = { operator: 'scan', ...LEAF, columns, timeOrder: null, offset: 0, limit: null };
  await fc.assert(
    fc.asyncProperty(joinCase, way, running, async (one, from, given) => {
      const found = await rowsOf(runnerOf(one, from, given).run(plan, joinOf(one, from)));
      const expected = pairsOf(one).map(
        ([left, right]): Plain => ({
          text: left?.text ?? null,
          number: left?.number ?? null,
          amount: left?.amount ?? null,
          'r.text': right?.text ?? null,
          'r.number': right?.number ?? null,
          'r.amount': right?.amount ?? null,
          'r.name': right?.name ?? null,
        }),
      );
      assert.equal(sortedText(found), sortedText(expected));
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
          const one: Case = { left, right, type, keys: ['text'], nullsMeet: [], condition: null };
          const before = readsOfMemory;
          const found = await rowsOf(runnerOf(one, from, { chunkRows: 4096, threads }).run(plan, joinOf(one, from)));
          assert.is(readsOfMemory, before + 1, `${type}, ${from}, ${threads} threads`);
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
    condition: fc.constant(null),
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
