// Joins that are drawn, by nested loops and as sources of plans.

import fc from 'fast-check';
import { ETERNITY } from '../../src/base/instant.js';
import { SourceRunner } from '../../src/cluster/sources/source-runner.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { parseExpression } from '../../src/expression/parse.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import type { Frame } from '../../src/model/frame.js';
import type { PostStep, ScanPlan } from '../../src/model/plan.js';
import type { JoinKey, JoinSource, RowSource } from '../../src/model/row-source.js';
import { rowSourceColumns } from '../../src/planner/row-source-columns.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { frameOf, type Plain, schemaOf } from './plain-rows.js';

export const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const inline = createEngine({ memory, kernels: 'simd', threads: 0 });
export const threaded = createEngine({ memory, kernels: 'simd', threads: 2, rowsRunInline: 0, morselRows: 1 });
/** Engine of another process: it does not know the rows that the first one uploaded. */
const elsewhere = createEngine({ memory, kernels: 'scalar', threads: 0 });
const RUN = { deadlineMs: Number.MAX_SAFE_INTEGER, kernels: null, batchRows: null } as const;

const FRAMELESS = { unit: 'range', start: 'unbounded', end: 0, exclude: null } as const;
export const LEAF = { dataSource: 'rows', intervals: [ETERNITY], filter: null, virtualColumns: [], post: [] } as const;
export const LEFT = { text: 'STRING', number: 'LONG', amount: 'DOUBLE' } as const;
export const RIGHT = { text: 'STRING', number: 'LONG', amount: 'DOUBLE', name: 'STRING' } as const;
export const text = fc.option(fc.constantFrom('a', 'b', 'B', '', 'é', '1', '2'), { nil: null, freq: 5 });
export const number = fc.option(fc.oneof(fc.bigInt({ min: -2n, max: 3n }), fc.constantFrom(2n ** 62n, 2n ** 53n + 1n)), {
  nil: null,
  freq: 5,
});
export const amount = fc.option(fc.constantFrom(0, -0, 1, 2, 2.5, 2 ** 53, Number.NaN), { nil: null, freq: 5 });
export const leftRow = fc.record({ text, number, amount });
export const rightRow = fc.record({ text, number, amount, name: fc.constantFrom('p', 'q', null) });
export type LeftRow = { text: string | null; number: bigint | null; amount: number | null };
export type RightRow = LeftRow & { name: string | null };

/** Equal when both sides give the same text and neither is null, or, where nulls are equal, both are. */
interface KeyCase {
  readonly key: JoinKey;
  readonly left: (row: LeftRow) => string | null;
  readonly right: (row: RightRow) => string | null;
}

export const NUMBER_KEY: JoinKey = { left: parseExpression('number'), right: parseExpression('number'), type: 'LONG' };

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

type Value = string | bigint | number | null;

/** Order of two values: doubles where either is one, NaN above all, zeros equal; NaN where one is null. */
function orderOf(one: Value, other: Value): number {
  if (one === null || other === null) return Number.NaN;
  if (typeof one === 'string' || typeof other === 'string' || (typeof one === 'bigint' && typeof other === 'bigint'))
    return one < other ? -1 : one > other ? 1 : 0;
  const [a, b] = [Number(one), Number(other)];
  return a < b ? -1 : a > b ? 1 : (Number.isNaN(a) ? 1 : 0) - (Number.isNaN(b) ? 1 : 0);
}

const more = (value: bigint | null, by: bigint): bigint | null => (value === null ? null : value + by);

/** Comparisons of a value of each side. */
export const RANGES: Readonly<Record<string, (left: LeftRow, right: RightRow) => boolean>> = {
  'number >= "r.number"': (left, right) => orderOf(left.number, right.number) >= 0,
  'number < "r.number" + 2': (left, right) => orderOf(left.number, more(right.number, 2n)) < 0,
  '"r.number" > number - 1': (left, right) => orderOf(right.number, more(left.number, -1n)) > 0,
  '"r.number" <= number': (left, right) => orderOf(right.number, left.number) <= 0,
  'amount < "r.amount"': (left, right) => orderOf(left.amount, right.amount) < 0,
  '"r.amount" <= amount + 1': (left, right) => orderOf(right.amount, left.amount === null ? null : left.amount + 1) <= 0,
  'amount > "r.amount"': (left, right) => orderOf(left.amount, right.amount) > 0,
  'amount >= "r.number"': (left, right) => orderOf(left.amount, right.number) >= 0,
  'number <= "r.amount"': (left, right) => orderOf(left.number, right.amount) <= 0,
  'text < "r.text"': (left, right) => orderOf(left.text, right.text) < 0,
  '"r.text" <= text': (left, right) => orderOf(right.text, left.text) <= 0,
  'concat(text, \'x\') >= "r.text"': (left, right) => orderOf(left.text === null ? null : `${left.text}x`, right.text) >= 0,
  'text > concat("r.text", \'B\')': (left, right) => orderOf(left.text, right.text === null ? null : `${right.text}B`) > 0,
};

export const TYPES = ['inner', 'left', 'right', 'full', 'semi', 'anti'] as const;

export interface Case {
  readonly left: readonly LeftRow[];
  readonly right: readonly RightRow[];
  readonly type: JoinSource['type'];
  readonly keys: readonly string[];
  /** Keys whose nulls are equal. */
  readonly nullsMeet: readonly string[];
  /** All must be true. */
  readonly conditions: readonly string[];
}

export const joinCase = fc.record({
  left: fc.array(leftRow, { maxLength: 25 }),
  right: fc.array(rightRow, { maxLength: 25 }),
  type: fc.constantFrom(...TYPES),
  keys: fc.oneof(fc.subarray(Object.keys(KEYS), { maxLength: 4 }), fc.constantFrom(['text'], ['number'])),
  nullsMeet: fc.oneof(fc.constant([]), fc.subarray(Object.keys(KEYS))),
  conditions: fc.oneof(
    fc.constant([]),
    fc.subarray(Object.keys(CONDITIONS), { maxLength: 1 }),
    fc.subarray(Object.keys({ ...CONDITIONS, ...RANGES }), { maxLength: 4 }),
  ),
});

/** The pairs of a join, with null where there is no row. */
export function pairsOf({ left, right, type, keys, nullsMeet, conditions }: Case): [LeftRow | null, RightRow | null][] {
  const meets = (one: LeftRow, other: RightRow): boolean =>
    keys.every((name) => {
      const value = KEYS[name]?.left(one) ?? null;
      return (value !== null || nullsMeet.includes(name)) && value === KEYS[name]?.right(other);
    }) && conditions.every((each) => (CONDITIONS[each] ?? RANGES[each])?.(one, other) === true);
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

export function joinOf({ left, right, type, keys, nullsMeet, conditions }: Case, way: Way): JoinSource {
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
    condition: conditions.length === 0 ? null : parseExpression(conditions.map((each) => `(${each})`).join(' && ')),
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

export function piecesOf(rows: readonly Plain[], types: typeof LEFT | typeof RIGHT): RowSource {
  const inline = (from: number): RowSource => ({ kind: 'inline', frame: frameOf(rows.slice(from, from + 6), types) });
  return { kind: 'union', sources: Array.from({ length: Math.max(1, Math.ceil(rows.length / 6)) }, (_, at) => inline(at * 6)) };
}

interface Running {
  readonly chunkRows: number;
  readonly threads: number;
}

/** Frees the segments of right sides, after the last run. */
export const held: (() => void)[] = [];

/** Plans that read what was left in memory, since it was looked last. */
export const reads = { ofMemory: 0 };

export function runnerOf({ left, right }: Case, way: Way, { chunkRows, threads }: Running): SourceRunner {
  const engine = threads === 0 ? inline : threaded;
  return new SourceRunner({
    engine: {
      runRows: (...all) => engine.runRows(...all),
      runUploaded: (...all) => {
        reads.ofMemory++;
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
export const TIMES = {
  inner: (partners: number) => partners,
  right: (partners: number) => partners,
  left: (partners: number) => Math.max(1, partners),
  full: (partners: number) => Math.max(1, partners),
  semi: (partners: number) => Math.min(1, partners),
  anti: (partners: number) => (partners === 0 ? 1 : 0),
} as const;

export const way = fc.constantFrom(...WAYS);
export const running = fc.record({ chunkRows: fc.constantFrom(1, 7, 4096), threads: fc.constantFrom(0, 2) });

/** Reads the joined rows of a case with all columns that both sides share, and the name that the right one has. */
export const JOINED_SCAN: ScanPlan = {
  operator: 'scan',
  ...LEAF,
  columns: ['text', 'number', 'amount', 'r.text', 'r.number', 'r.amount', 'r.name'],
  timeOrder: null,
  offset: 0,
  limit: null,
};

/** The rows of `JOINED_SCAN`, by nested loops. */
export function joinedRows(one: Case): Plain[] {
  return pairsOf(one).map(([left, right]) => ({
    text: left?.text ?? null,
    number: left?.number ?? null,
    amount: left?.amount ?? null,
    'r.text': right?.text ?? null,
    'r.number': right?.number ?? null,
    'r.amount': right?.amount ?? null,
    'r.name': right?.name ?? null,
  }));
}
