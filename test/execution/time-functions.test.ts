import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ETERNITY } from '../../src/base/instant.js';
import type { RunOptions } from '../../src/execution/run/engine.js';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileExpression } from '../../src/expression/evaluate.js';
import { expressionType } from '../../src/expression/expression-type.js';
import { parseExpression } from '../../src/expression/parse.js';
import { convert, textOfValue } from '../../src/expression/value.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { cellAt, type Frame, type FrameCell } from '../../src/model/frame.js';
import { isNumberType } from '../../src/model/schema.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';

/** Functions of instants give over blocks what they give row by row: near and far instants, in order and not, with nulls, in every kind of zone. */
const times = suite('functions of instants');

const memory = KernelMemory.create({ maximumBytes: 1 << 30 });
const engine = createEngine({ memory, kernels: 'simd', threads: 0 });
const never = new AbortController().signal;

const UNITS = ['SECOND', 'MINUTE', 'HOUR', 'DAY', 'DOW', 'ISODOW', 'DOY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR', 'ISOYEAR', 'DECADE'];
const FURTHER_UNITS = ['CENTURY', 'MILLENNIUM', 'EPOCH', 'MILLISECOND', 'MICROSECOND'];
const PERIODS = [
  'PT1S',
  'PT1M',
  'PT5M',
  'PT1H',
  'PT6H',
  'P1D',
  'P3D',
  'P1W',
  'P2W',
  'P1M',
  'P3M',
  'P5M',
  'P1Y',
  'P100Y',
  'P1M2D',
  'P1DT12H',
];
const PATTERNS = [
  'yyyy-MM-dd HH:mm:ss',
  "yyyy-MM-dd\\'T\\'HH:mm:ss.SSS\\'Z\\'",
  "ddMMyyyy \\'of\\' HHmm ss.ss",
  'yyyy-MM-dd',
  'y M d H m s S',
  'yy/YYYY',
  'h a, K k',
  'xxxx-w-e',
  'DDD EEE MMM',
  'HH:mm Z',
  'SSS',
];

/** Kinds of zones: nothing; a fixed offset; daylight saving; a change around midnight; a day left out; a quarter of an hour. */
const ZONES = [
  'UTC',
  '+05:30',
  'America/New_York',
  'America/Toronto',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'Australia/Lord_Howe',
  'Asia/Kathmandu',
];

const texts = (values: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...values).map((value) => `'${value}'`);
const zone = texts(ZONES);
const period = texts(PERIODS);
const origin = fc.constantFrom('null', "'2010-03-31T01:30:00'", '-77');
const instantFunction = fc.oneof(
  fc.tuple(period, origin, zone).map(([p, o, z]) => `timestamp_floor(t, ${p}, ${o}, ${z})`),
  fc.tuple(period, origin, zone).map(([p, o, z]) => `timestamp_ceil(t, ${p}, ${o}, ${z})`),
  fc.tuple(period, fc.integer({ min: -400, max: 400 }), zone).map(([p, n, z]) => `timestamp_shift(t, ${p}, ${n}, ${z})`),
);
const numberFunction = fc.oneof(
  instantFunction,
  fc.tuple(texts([...UNITS, ...FURTHER_UNITS]), zone).map(([unit, z]) => `timestamp_extract(t, ${unit}, ${z})`),
);
const anyFunction = fc.oneof(
  { weight: 4, arbitrary: numberFunction },
  fc.tuple(texts(PATTERNS), zone).map(([p, z]) => `timestamp_format(t, ${p}, ${z})`),
  fc.tuple(instantFunction, texts(PATTERNS), zone).map(([of, p, z]) => `concat('at ', timestamp_format(${of}, ${p}, ${z}))`),
  zone.map((z) => `timestamp_format(t, null, ${z})`),
  fc.tuple(instantFunction, texts(UNITS), zone).map(([of, unit, z]) => `timestamp_extract(${of}, ${unit}, ${z})`),
  fc.tuple(numberFunction, numberFunction).map(([a, b]) => `if(${a} > ${b}, 'above', concat('below ', ${b}))`),
  fc.tuple(numberFunction, fc.integer({ min: -3, max: 3 })).map(([a, n]) => `nvl(${a} + ${n}, -1)`),
  numberFunction.map((of) => `nvl(timestamp_format(timestamp_floor(t, 'P1M'), 'MMM'), ${of})`),
);

const DAY = 86_400_000;
/** Days around which zones change their offsets, or calendars begin. */
const TURNS = [
  Date.UTC(2024, 2, 10),
  Date.UTC(2024, 10, 3),
  Date.UTC(1919, 2, 31),
  Date.UTC(2011, 11, 30),
  Date.UTC(1883, 10, 18),
  Date.UTC(2018, 10, 4),
  0,
];
const turn = fc.tuple(fc.constantFrom(...TURNS), fc.integer({ min: -3 * DAY, max: 3 * DAY })).map(([at, past]) => BigInt(at + past));
/** The years 1 to 9999. */
const anyYear = fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }).map(BigInt);
const extreme = fc.constantFrom(
  -(2n ** 63n),
  2n ** 63n - 1n,
  2n ** 53n,
  8_000_000_000_000_000n,
  -(2n ** 53n),
  2n ** 52n,
  -(2n ** 52n) - 1n,
);
const instants = fc.oneof(
  { weight: 3, arbitrary: fc.array(turn, { minLength: 64, maxLength: 200 }) },
  { weight: 2, arbitrary: fc.array(anyYear, { minLength: 64, maxLength: 200 }) },
  fc.array(fc.oneof({ weight: 9, arbitrary: anyYear }, extreme), { minLength: 64, maxLength: 120 }),
  fc
    .tuple(turn, fc.integer({ min: 1, max: 40_000_000 }))
    .map(([from, step]) => Array.from({ length: 300 }, (_, row) => from + BigInt(row * step))),
);

function frameOf(values: readonly (bigint | null)[]): Frame {
  const nulls = new Uint32Array(Math.ceil(values.length / 64) * 2);
  for (const [row, value] of values.entries()) if (value === null) nulls[row >>> 5] = (nulls[row >>> 5] ?? 0) | (1 << (row & 31));
  return {
    rowCount: values.length,
    columns: [
      { kind: 'long', name: '__time', values: BigInt64Array.from(values, (_, row) => BigInt(row)), nulls: null },
      { kind: 'long', name: 't', values: BigInt64Array.from(values, (value) => value ?? 0n), nulls: values.includes(null) ? nulls : null },
    ],
  };
}

async function column(values: readonly (bigint | null)[], text: string, kernels: string): Promise<FrameCell[]> {
  const { view, release } = uploadFrame(frameOf(values), memory);
  const options: RunOptions = { ending: 'final', deadlineMs: Date.now() + 600_000, kernels, batchRows: null };
  const plan = {
    operator: 'scan',
    dataSource: 'times',
    intervals: [ETERNITY],
    filter: null,
    virtualColumns: [{ name: 'v', expression: parseExpression(text), outputType: null }],
    post: [],
    columns: ['v'],
    timeOrder: null,
    offset: 0,
    limit: null,
  } as const;
  const found: FrameCell[] = [];
  try {
    for await (const frame of engine.runViews(plan, [view], options, never))
      for (let row = 0; row < frame.rowCount; row++) found.push(...frame.columns.map((each) => cellAt(each, row)));
  } finally {
    release();
  }
  return found;
}

function rowByRow(values: readonly (bigint | null)[], text: string): FrameCell[] {
  const expression = parseExpression(text);
  const typeOf = (name: string) => (name === 't' ? ('LONG' as const) : undefined);
  const type = expressionType(expression, typeOf);
  const compute = compileExpression(expression, typeOf);
  return values.map((value) => {
    const result = compute(() => value);
    return isNumberType(type) ? convert(result, type) : textOfValue(result, type);
  });
}

times('over blocks as row by row', () =>
  fc.assert(
    fc.asyncProperty(
      anyFunction,
      instants,
      fc.integer({ min: 0, max: 5 }),
      fc.constantFrom('simd', 'reference'),
      async (text, of, nullEvery, kernels) => {
        const values = of.map((value, row) => (nullEvery > 0 && row % (nullEvery * 3) === 1 ? null : value));
        const [found, expected] = [await column(values, text, kernels), rowByRow(values, text)];
        const wrong = expected.findIndex((cell, row) => cell !== found[row]);
        if (wrong >= 0) assert.unreachable(`${text} of ${values[wrong]}: found ${found[wrong]}, expected ${expected[wrong]}`);
        assert.is(found.length, values.length);
      },
    ),
    { numRuns: caseCount(100) },
  ),
);

times.run();
