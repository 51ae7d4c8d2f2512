import { type Address, BLOCK_ROWS } from '../../src/base/layout.js';
import { likeBytes, parseLike } from '../../src/base/like-pattern.js';
import type { KernelName, KernelSet } from '../../src/kernels/contract.js';
import type { Bench, BenchCase } from './bench-case.js';
import { COLUMN_BYTES, columnCase, f32Columns, f64Columns, i64Columns, u8Columns, u16Columns, u32Columns, wholeBlock } from './columns.js';
import { grouping } from './grouping.js';
import { input } from './input.js';
import { plainSum } from './plain-sums.js';

const B = BLOCK_ROWS;
const BITS = B / 8;

/** Kernels whose work is arithmetic or random access: fewer rows, or the plain sets would take minutes. */
const WORK_ROWS = 2 * 1024 * 1024;

type MakeCases = (bench: Bench) => BenchCase[];

/** Cases grouped by the data they share; each group is made, run and released before the next. */
export const CASE_GROUPS: readonly MakeCases[] = [
  ...(['U8', 'U16', 'U32', 'I64', 'F32', 'F64'] as const).map((type) => (bench: Bench) => [plainSum(bench, type)]),
  u8Columns,
  u16Columns,
  u32Columns,
  i64Columns,
  f32Columns,
  f64Columns,
  bitmaps,
  grouping,
  hashing,
  time,
  decoding,
  strings,
  input,
  tops,
  arithmetic,
];

function bitmaps(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 4);
  const bytes = rows / 8;
  const [tenth, half] = [bench.bits(rows, 0.1), bench.bits(rows, 0.5)];
  const whole = bench.u32(rows / 32, () => 0xffffffff);
  const runs = wholeBlock(bench);
  const out = bench.allocate(bytes);
  const whole1 = (name: string, kernel: BenchCase['kernels'][number], call: BenchCase['call'], output: number): BenchCase => ({
    name,
    kernels: [kernel],
    rows,
    bytes: bytes * 2,
    blocks: 1,
    call,
    outputs: [{ at: out, bytes: output }],
  });
  const counted = bench.allocate(8);
  const rowsOut = bench.allocate(B * 4);
  const toRows = (name: string, bits: Address): BenchCase => ({
    name,
    kernels: ['bitsToRows'],
    rows,
    bytes,
    blocks: rows / B,
    outputs: [{ at: rowsOut, bytes: B * 4 }],
    call: (k, block) => void k.bitsToRows(bits + block * BITS, 0, B, rowsOut),
  });
  return [
    whole1('bits and', 'bitsAnd', (k) => k.bitsAnd(tenth, half, rows / 64, out), bytes),
    whole1('bits or', 'bitsOr', (k) => k.bitsOr(tenth, half, rows / 64, out), bytes),
    {
      ...whole1('bits count', 'bitsCount', (k) => void bench.memory.f64(counted, 1).fill(k.bitsCount(half, rows / 64)), 8),
      bytes,
      outputs: [{ at: counted, bytes: 8 }],
    },
    toRows('bits to rows, 10 %', tenth),
    toRows('bits to rows, 50 %', half),
    toRows('bits to rows, all', whole),
    {
      name: 'count, half selected',
      kernels: ['countRuns'],
      rows,
      bytes,
      blocks: rows / B,
      outputs: [{ at: counted, bytes: 8 }],
      call: (k, block) => k.countRuns(half + block * BITS, runs, 1, counted),
      reset: () => void bench.memory.f64(counted, 1).fill(0),
    },
  ];
}

function hashing(bench: Bench): BenchCase[] {
  const rows = bench.rows(WORK_ROWS);
  const groups = bench.allocate(B * 4);
  const known = bench.allocate(rows * 16);
  const hashed = (name: string, words: number, distinct: number): BenchCase => {
    let capacity = 1;
    while (capacity < (distinct + B) * 2) capacity *= 2;
    const slots = bench.allocate(capacity * 4);
    const input = bench.i64(rows * words, () => 0n);
    const halves = bench.memory.u32(input, rows * words * 2);
    for (let row = 0; row < rows; row++) halves[row * words * 2] = bench.below(distinct);
    let count = 0;
    return {
      name,
      kernels: ['hashKeys'],
      rows,
      bytes: rows * words * 8,
      blocks: rows / B,
      call(k, block) {
        count = k.hashKeys(input + block * B * words * 8, B, words, slots, capacity, known, count, groups);
      },
      outputs: [
        { at: groups, bytes: B * 4 },
        { at: known, bytes: Math.min(rows, distinct) * words * 8 },
      ],
      reset() {
        bench.memory.u8(slots, capacity * 4).fill(0);
        count = 0;
      },
    };
  };
  const divided = (name: string): BenchCase => {
    const input = bench.i64(rows * 2, () => BigInt(bench.below(2 ** 31)));
    const starts = bench.allocate(257 * 4);
    return {
      name,
      kernels: ['divideKeys'],
      rows,
      bytes: rows * 16,
      blocks: rows / B,
      call: (k, block) => k.divideKeys(input + block * B * 16, B, 2, 8, known, block * B, starts, groups),
      outputs: [
        { at: groups, bytes: B * 4 },
        { at: known, bytes: rows * 16 },
      ],
    };
  };
  const ranges = bench.u32(B / 32, (index) => (index >> 1) * 1000 + (index & 1) * 64);
  return [
    hashed('hash keys, 4k of 8 bytes', 1, 4000),
    hashed('hash keys, 64k of 16 bytes', 2, 64000),
    hashed('hash keys, 500k of 8 bytes', 1, 500000),
    divided('divide keys of 16 bytes into 256 parts'),
    {
      name: 'list ranges of 64 numbers',
      kernels: ['listRanges'],
      rows,
      bytes: rows * 4,
      blocks: rows / B,
      call: (k) => void k.listRanges(ranges, B / 64, 2, groups),
      outputs: [{ at: groups, bytes: B * 4 }],
    },
  ];
}

function time(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 8);
  const base = 1442016000000n;
  const step = Math.floor(4294967296 / rows);
  const sorted = bench.u32(rows, (i) => i * step);
  const wide = bench.i64(bench.rows(WORK_ROWS), () => base + BigInt(bench.below(1000000)) * 1000n);
  const boundaries = (count: number): Address => bench.i64(count + 1, (i) => base + BigInt(Math.floor((4294967296 / count) * i)));
  const [hours, minutes] = [boundaries(1000), boundaries(70000)];
  const out = bench.allocate(B * 12);
  const runs = (name: string, at: Address, count: number): BenchCase => ({
    name,
    kernels: ['timeRunsU32'],
    rows,
    bytes: rows * 4,
    blocks: rows / B,
    outputs: [{ at: out, bytes: B * 12 }],
    call: (k, block) => void k.timeRunsU32(sorted + block * B * 4, base, 0, B, at, count + 1, out),
  });
  const wideRows = bench.rows(WORK_ROWS);
  const ofWide = (name: string, kernel: KernelName, call: (k: KernelSet, at: Address) => void): BenchCase => ({
    name,
    kernels: [kernel],
    rows: wideRows,
    bytes: wideRows * 8,
    blocks: wideRows / B,
    outputs: [{ at: out, bytes: B * (kernel === 'step32' ? 4 : 8) }],
    call: (k, block) => call(k, wide + block * B * 8),
  });
  return [
    runs('time runs, 1,000 buckets', hours, 1000),
    runs('time runs, 70,000 buckets', minutes, 70000),
    {
      name: 'bucket of unsorted times',
      kernels: ['bucketI64'],
      rows: wideRows,
      bytes: wideRows * 8,
      blocks: wideRows / B,
      outputs: [{ at: out, bytes: B * 4 }],
      call: (k, block) => k.bucketI64(wide + block * B * 8, B, hours, 1001, out),
    },
    {
      name: 'floor of unsorted times',
      kernels: ['floorI64'],
      rows: wideRows,
      bytes: wideRows * 8,
      blocks: wideRows / B,
      outputs: [{ at: out, bytes: B * 8 }],
      call: (k, block) => k.floorI64(wide + block * B * 8, B, 3600000n, 0n, out),
    },
    ofWide('month of unsorted times', 'calendarI64', (k, at) => k.calendarI64(at, B, 4, out)),
    ofWide('hour of unsorted times', 'clockI64', (k, at) => k.clockI64(at, B, 86400000n, 3600000n, out)),
    ofWide('floor of unsorted times to quarters', 'floorMonthsI64', (k, at) => k.floorMonthsI64(at, B, 3n, out)),
    ofWide('unsorted times and a month', 'addMonthsI64', (k, at) => k.addMonthsI64(at, B, 1n, 0n, out)),
    ofWide('unsorted times by 1,000 steps', 'addStepsI64', (k, at) => k.addStepsI64(at, B, hours, 1000, hours, out)),
    ofWide('values of 1,000 steps', 'step64', (k, at) => k.step64(at, B, hours, 1000, hours, out)),
    ofWide('ids of 1,000 steps', 'step32', (k, at) => k.step32(at, B, hours, 1000, hours, out)),
    ofWide('floor of unsorted times between 1,000 steps', 'floorStepsI64', (k, at) =>
      k.floorStepsI64(at, B, 60000n, hours, 1000, hours, out),
    ),
    {
      name: 'lower bound',
      kernels: ['lowerBoundU32'],
      rows: 1000,
      bytes: 4000,
      blocks: 1000,
      outputs: [{ at: out, bytes: 8 }],
      call: (k, block) => void bench.memory.f64(out, 1).fill(k.lowerBoundU32(sorted, base, 0, rows, base + BigInt(block) * 4000000n)),
    },
  ];
}

function decoding(bench: Bench): BenchCase[] {
  const rows = bench.rows(COLUMN_BYTES / 8);
  const packed = bench.u8(rows * 4 + 16, () => bench.below(256));
  const out = bench.allocate(B * 4);
  const unpack = (width: number, type: 'U8' | 'U16' | 'U32'): BenchCase => ({
    name: `unpack ${width} bits to ${type.toLowerCase()}`,
    kernels: [`unpack${type}`],
    rows,
    bytes: (rows * width) / 8,
    blocks: rows / B,
    outputs: [{ at: out, bytes: B * 4 }],
    call: (k, block) => k[`unpack${type}`](packed + (block * B * width) / 8, B, width, out),
  });
  const deltas = bench.allocate(B * 8);
  const reset = (): void => void bench.memory.u32(deltas, B * 2).forEach((_, i, view) => (view[i] = i % 2 === 0 ? i : 0));
  return [
    unpack(3, 'U8'),
    unpack(6, 'U8'),
    unpack(9, 'U16'),
    unpack(12, 'U16'),
    unpack(17, 'U32'),
    unpack(20, 'U32'),
    unpack(27, 'U32'),
    {
      name: 'prefix sum u32',
      kernels: ['prefixSumU32'],
      rows,
      bytes: rows * 4,
      blocks: rows / B,
      outputs: [{ at: deltas, bytes: B * 4 }],
      call: (k) => k.prefixSumU32(deltas, B, 5),
      reset,
    },
    {
      name: 'prefix sum i64',
      kernels: ['prefixSumI64'],
      rows: rows / 8,
      bytes: rows,
      blocks: rows / 8 / B,
      outputs: [{ at: deltas, bytes: B * 8 }],
      call: (k) => k.prefixSumI64(deltas, B, 5n),
      reset,
    },
  ];
}

function strings(bench: Bench): BenchCase[] {
  const count = Math.max(20000, Math.floor(500000 * bench.scale));
  const syllables = ['ka', 'ri', 'to', 'men', 'Ab', ' of ', 'é', 'st', 'un', 'wiki', 'pe', '(', ')', '20', '1'];
  const texts = Array.from({ length: count }, (_, i) => {
    let text = '';
    for (let left = 3 + bench.below(8); left > 0; left--) text += syllables[bench.below(syllables.length)];
    return `${text}${i}`;
  });
  const joined = Buffer.from(texts.join(''));
  const bytes = bench.u8(joined.length, (i) => joined[i] ?? 0);
  let end = 0;
  const offsets = bench.u32(count + 1, (i) => {
    if (i > 0) end += Buffer.byteLength(texts[i - 1] ?? '');
    return end;
  });
  const out = bench.allocate(Math.ceil(count / 64) * 8);
  const like = (name: string, pattern: string): BenchCase => {
    const compiled = likeBytes(parseLike(pattern, null));
    const at = bench.u8(compiled.length, (i) => compiled[i] ?? 0);
    return {
      name: `LIKE '${pattern}' (${name})`,
      kernels: ['dictionaryLike'],
      rows: count,
      bytes: joined.length,
      blocks: 1,
      outputs: [{ at: out, bytes: Math.ceil(count / 64) * 8 }],
      call: (k) => k.dictionaryLike(bytes, offsets, 0, count, at, compiled.length, out),
    };
  };
  let capacity = 16;
  while (capacity < (count + 1) * 2) capacity *= 2;
  const slots = bench.allocate(capacity * 4);
  const entries = bench.allocate((count + 1) * 8);
  const arena = bench.allocate(joined.length + 4 * count);
  const counters = bench.allocate(8);
  const remap = bench.allocate(count * 4);
  const hashes = bench.allocate(count * 16);
  const hashing = (kernel: 'murmurTexts' | 'murmurUtf16', encoding: string): BenchCase => ({
    name: `murmur of strings as ${encoding}`,
    kernels: [kernel],
    rows: count,
    bytes: joined.length,
    blocks: 1,
    outputs: [{ at: hashes, bytes: count * 16 }],
    call: (k) => k[kernel](bytes, offsets, 0, count, 9001, hashes),
  });
  return [
    hashing('murmurTexts', 'UTF-8'),
    hashing('murmurUtf16', 'UTF-16'),
    like('prefix', 'wiki%'),
    like('suffix', '%99'),
    like('contains', '%menka%'),
    like('contains, frequent', '%e%'),
    like('general', '%men%wiki_%1'),
    {
      name: 'intern a dictionary',
      kernels: ['dictionaryIntern'],
      rows: count,
      bytes: joined.length,
      blocks: 1,
      outputs: [
        { at: remap, bytes: count * 4 },
        { at: counters, bytes: 8 },
      ],
      call: (k) => k.dictionaryIntern(bytes, offsets, count, -1, slots, capacity, entries, arena, counters, remap),
      reset() {
        bench.memory.u8(slots, capacity * 4).fill(0);
        bench.memory.u32(counters, 2).set([1, 0]);
      },
    },
  ];
}

function tops(bench: Bench): BenchCase[] {
  const n = Math.max(20000, Math.floor(1000000 * bench.scale));
  const doubles = bench.f64(n, () => bench.random());
  const longs = bench.i64(n, () => BigInt(bench.below(1000000)));
  const heap = bench.allocate(1000 * 4);
  const out = bench.allocate(1000 * 4);
  const digits = bench.u8(n * 12, () => 48 + bench.below(10));
  const texts = bench.i64(n, (i) => BigInt(digits + i * 12) | (12n << 32n));
  return [
    {
      name: 'top 100 of a million strings',
      kernels: ['textTop'],
      rows: n,
      bytes: n * 20,
      blocks: 1,
      outputs: [{ at: out, bytes: 400 }],
      call: (k) => void k.textTop(texts, n, 100, 1, heap, out),
    },
    {
      name: 'top 100 of a million f64',
      kernels: ['topF64'],
      rows: n,
      bytes: n * 8,
      blocks: 1,
      outputs: [{ at: out, bytes: 400 }],
      call: (k) => void k.topF64(doubles, 0, n, 100, 1, heap, out),
    },
    {
      name: 'top 1,000 of a million i64',
      kernels: ['topI64'],
      rows: n,
      bytes: n * 8,
      blocks: 1,
      outputs: [{ at: out, bytes: 4000 }],
      call: (k) => void k.topI64(longs, 0, n, 1000, 1, heap, out),
    },
  ];
}

function arithmetic(bench: Bench): BenchCase[] {
  const rows = bench.rows(WORK_ROWS);
  const ids = bench.u16(rows, () => bench.below(60000));
  const doubles = bench.f64(rows, () => bench.random());
  const longs = bench.i64(rows, () => BigInt(bench.below(100000)));
  return [
    columnCase(bench, rows, 2, 'u16 to f64', 'toF64U16', B * 8, (k, at, out) => k.toF64U16(ids + at, 0, B, 5n, out)),
    columnCase(bench, rows, 2, 'u16 to i64', 'toI64U16', B * 8, (k, at, out) => k.toI64U16(ids + at, 0, B, 5n, out)),
    columnCase(bench, rows, 8, 'multiply f64', 'multiplyF64', B * 8, (k, at, out) => k.multiplyF64(doubles + at, doubles + at, 0, B, out)),
    columnCase(bench, rows, 8, 'add i64, one b', 'addI64', B * 8, (k, at, out) => k.addI64(longs + at, longs, 1, B, out)),
    columnCase(bench, rows, 8, 'compare f64', 'compareF64', BITS, (k, at, out) => k.compareF64(doubles + at, doubles, 1, B, 1, out)),
    columnCase(bench, rows, 8, 'compare i64', 'compareI64', BITS, (k, at, out) => k.compareI64(longs + at, longs, 1, B, 2, out)),
  ];
}
