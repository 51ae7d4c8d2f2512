// Conformance checks of group keys.

import { append } from '../../base/lists.js';
import type { Id } from '../contract.js';
import { hashOf } from '../reference/keys.js';
import { FLOATS, IDS, INTEGERS, perType } from '../signatures.js';
import { type Run, uploadRuns } from './aggregate.js';
import { uploadLists } from './filter.js';
import { eachSelection } from './group.js';
import { type Lab, MASKS, type Value } from './lab.js';

export const KEY_CHECKS = {
  ...perType('keyDense', IDS, (type) => (lab: Lab) => {
    for (const [stride, accumulate] of [
      [1, 0],
      [7, 0],
      [250, 1],
      [70000, 1],
    ] as const) {
      eachSelection(lab, (rows, picked, atRows) => {
        const values = lab.values(type, rows).map(Number);
        const before = lab.values('U32', rows).map(Number);
        const at = lab.place(type, values);
        const out = lab.output('U32', rows, before);
        lab.call(() => lab.kernels[`keyDense${type}`](at, atRows, rows, stride, accumulate, out));
        lab.expect(
          'U32',
          out,
          picked.map((row, i) => ((accumulate ? (before[i] ?? 0) : 0) + Math.imul(values[row] ?? 0, stride)) >>> 0),
          'key',
        );
      });
    }
  }),
  ...perType('keyWord', INTEGERS, (type) => (lab: Lab) => {
    for (const [words, word, shift, assign] of [
      [1, 0, 0, 1],
      [1, 0, 20, 0],
      [2, 1, 31, 1],
      [3, 1, 32, 0],
      [3, 2, 63, 0],
    ] as const) {
      eachSelection(lab, (rows, picked, atRows) => {
        const values = lab.values(type, rows).map(BigInt);
        const keys = lab.values('I64', rows * words).map(BigInt);
        const at = lab.place(type, values);
        const out = lab.output('I64', keys.length, keys);
        lab.call(() => lab.kernels[`keyWord${type}`](at, atRows, rows, words, word, shift, assign, out));
        for (const [i, row] of picked.entries()) {
          const place = i * words + word;
          keys[place] = BigInt.asIntN(64, (assign ? 0n : (keys[place] ?? 0n)) | ((values[row] ?? 0n) << BigInt(shift)));
        }
        lab.expect('I64', out, keys, 'key word');
      });
    }
  }),
  ...perType('keyWord', FLOATS, (type) => (lab: Lab) => {
    eachSelection(lab, (rows, picked, atRows) => {
      const values = lab.values(type, rows).map(Number);
      const keys = lab.values('I64', rows * 2).map(BigInt);
      const at = lab.place(type, values);
      const out = lab.output('I64', keys.length, keys);
      lab.call(() => lab.kernels[`keyWord${type}`](at, atRows, rows, 2, 1, out));
      for (const [i, row] of picked.entries()) keys[i * 2 + 1] = bitsOfDouble(values[row] ?? 0);
      lab.expect('I64', out, keys, 'key word');
    });
  }),
  keyNulls(lab: Lab) {
    for (const pattern of MASKS) {
      for (const [words, word, flagWord, shift] of [
        [1, 0, 0, 63],
        [2, 0, 1, 0],
        [3, 2, 0, 40],
      ] as const) {
        eachSelection(lab, (rows, picked, atRows) => {
          const bits = lab.mask(pattern, rows);
          const nulls = lab.uploadBits(bits);
          const keys = lab.values('I64', rows * words).map(BigInt);
          const out = lab.output('I64', keys.length, keys);
          lab.call(() => lab.kernels.keyNulls(nulls, atRows, rows, words, word, flagWord, shift, out));
          for (const [i, row] of picked.entries()) {
            if (!bits[row]) continue;
            keys[i * words + word] = 0n;
            keys[i * words + flagWord] = BigInt.asIntN(64, (keys[i * words + flagWord] ?? 0n) | (1n << BigInt(shift)));
          }
          lab.expect('I64', out, keys, `key word (${pattern})`);
        });
      }
    }
  },
  keyRuns(lab: Lab) {
    for (const [stride, accumulate] of [
      [1, 0],
      [3, 1],
    ] as const) {
      eachSelection(lab, (rows, picked, atRows) => {
        const runs = disjointRuns(lab, rows);
        const at = uploadRuns(lab, runs);
        const before = lab.values('U32', rows).map(Number);
        const out = lab.output('U32', rows, before);
        lab.call(() => lab.kernels.keyRuns(at, runs.length, atRows, rows, stride, accumulate, out));
        lab.expect(
          'U32',
          out,
          picked.map((row, i) => ((accumulate ? (before[i] ?? 0) : 0) + (groupOf(runs, row) ?? 0) * stride) >>> 0),
          'key',
        );
      });
    }
  },
  keyWordRuns(lab: Lab) {
    for (const [words, word, shift, assign] of [
      [1, 0, 0, 1],
      [2, 1, 40, 0],
    ] as const) {
      eachSelection(lab, (rows, picked, atRows) => {
        const runs = disjointRuns(lab, rows);
        const at = uploadRuns(lab, runs);
        const keys = lab.values('I64', rows * words).map(BigInt);
        const out = lab.output('I64', keys.length, keys);
        lab.call(() => lab.kernels.keyWordRuns(at, runs.length, atRows, rows, words, word, shift, assign, out));
        for (const [i, row] of picked.entries()) {
          const place = i * words + word;
          keys[place] = (assign ? 0n : (keys[place] ?? 0n)) | (BigInt(groupOf(runs, row) ?? 0) << BigInt(shift));
        }
        lab.expect('I64', out, keys, 'key word');
      });
    }
  },
  ...perType('expand', IDS, (type) => (lab: Lab) => expands(lab, type)),
  gather32: (lab: Lab) => gathers(lab, 'gather32', 'U32'),
  gather64: (lab: Lab) => gathers(lab, 'gather64', 'I64'),
  hashKeys: (lab: Lab) => {
    for (const words of [1, 2, 3]) {
      lab.each([3, 1000000], (rows, distinct) => hashes(lab, rows, words, distinct));
    }
  },
  rehash: (lab: Lab) => {
    for (const words of [1, 2, 3]) {
      lab.each(['keys'], (rows) => {
        const keys = distinctKeys(lab, rows, words);
        const capacity = capacityFor(rows);
        const atKeys = lab.place('I64', keys);
        const slots = lab.output('U32', capacity, new Array<number>(capacity).fill(0));
        lab.call(() => lab.kernels.rehash(atKeys, rows, words, slots, capacity));
        lab.expectSlots(
          slots,
          capacity,
          Array.from({ length: rows }, (_, group) => group + 1),
        );
        // A table that was filled again finds every key, each under its own number, and adds none.
        const out = lab.output('U32', rows);
        lab.expectResult(
          lab.call(() => lab.kernels.hashKeys(atKeys, rows, words, slots, capacity, atKeys, rows, out)),
          rows,
        );
        lab.expect('U32', out, [...Array(rows).keys()], 'group');
      });
    }
  },
  numberKeys: (lab: Lab) => {
    for (const shift of [0, 32])
      lab.each([3, 10000], (rows, distinct) => {
        const keys = Array.from({ length: rows }, () => [(BigInt(lab.random(distinct)) << BigInt(shift)) | (shift === 0 ? 0n : 7n)]);
        const places = lab.output('U32', distinct, new Array<number>(distinct).fill(0));
        findsTwice(lab, keys, 1, (input, n, known, count, out) => lab.kernels.numberKeys(input, n, shift, places, known, count, out));
      });
  },
  divideKeys: (lab: Lab) => {
    for (const words of [1, 2, 3]) lab.each([1, 8, 12], (rows, bits) => divides(lab, rows, words, bits));
  },
  listRanges: (lab: Lab) => {
    lab.each([2, 3, 65], (rows, stride) => {
      const ranges: number[] = [];
      const numbers: number[] = [];
      for (let i = 0; i < Math.ceil(rows / 100); i++) {
        const [start, length] = [lab.random(4294960000), lab.random(100)];
        append(ranges, [start, start + length, ...new Array<number>(stride - 2).fill(lab.random(1000))]);
        for (let number = start; number < start + length; number++) numbers.push(number);
      }
      const at = lab.place('U32', ranges);
      const out = lab.output('U32', numbers.length);
      const count = ranges.length / stride;
      lab.expectResult(
        lab.call(() => lab.kernels.listRanges(at, count, stride, out)),
        numbers.length,
      );
      lab.expect('U32', out, numbers, 'number');
    });
  },
};

function bitsOfDouble(value: number): bigint {
  if (Number.isNaN(value)) return 0x7ff8000000000000n;
  return new BigInt64Array(Float64Array.of(value === 0 ? 0 : value).buffer)[0] ?? 0n;
}

function disjointRuns(lab: Lab, rows: number): Run[] {
  const runs: Run[] = [];
  for (let start = lab.random(3); start < rows; ) {
    const end = Math.min(rows, start + 1 + lab.random(rows < 1000 ? 20 : 5000));
    runs.push({ group: lab.random(1000), start, end });
    start = end + lab.random(2) * lab.random(5);
  }
  return runs;
}

function groupOf(runs: readonly Run[], row: number): number | undefined {
  return runs.find(({ start, end }) => start <= row && row < end)?.group;
}

function expands(lab: Lab, type: Id): void {
  for (const fits of [true, false]) {
    eachSelection(lab, (rows, picked, atRows) => {
      const lists = Array.from({ length: rows }, () => lab.values(type, lab.random(4)).map(Number));
      const { ids, offsets } = uploadLists(lab, type, lists);
      const nullId = 4000000000;
      const expected = picked.flatMap((row, position) => {
        const list = lists[row] ?? [];
        return (list.length === 0 ? [nullId] : list).map((id) => ({ row, position, id }));
      });
      if (!fits && expected.length === 0) return;
      const capacity = fits ? expected.length : expected.length - 1;
      const outRows = lab.output('U32', capacity);
      const outPositions = lab.output('U32', capacity);
      const outIds = lab.output('U32', capacity);
      const count = lab.call(() =>
        lab.kernels[`expand${type}`](ids, offsets, atRows, rows, nullId, outRows, outPositions, outIds, capacity),
      );
      lab.expectResult(count, fits ? expected.length : -1);
      if (!fits) return;
      lab.expectFields('U32', { row: outRows, position: outPositions, id: outIds }, expected);
    });
  }
}

function gathers(lab: Lab, kernel: 'gather32' | 'gather64', type: 'U32' | 'I64'): void {
  lab.each(['indices'], (rows) => {
    const source = lab.values(type, 50);
    const index = Array.from({ length: rows }, () => lab.random(50));
    const atSource = lab.place(type, source);
    const atIndex = lab.place('U32', index);
    const out = lab.output(type, rows);
    lab.call(() => lab.kernels[kernel](atSource, atIndex, rows, out));
    lab.expect(
      type,
      out,
      index.map((at) => source[at] ?? 0),
      'element',
    );
  });
}

function hashes(lab: Lab, rows: number, words: number, distinct: number): void {
  const keys = Array.from({ length: rows }, () => keyOf(lab.random(distinct), words));
  const capacity = capacityFor(rows * 2);
  const slots = lab.output('U32', capacity, new Array<number>(capacity).fill(0));
  findsTwice(lab, keys, words, (input, n, known, count, out) => lab.kernels.hashKeys(input, n, words, slots, capacity, known, count, out));
}

/** Two calls on one table of keys: the second meets keys of the first. */
function findsTwice(
  lab: Lab,
  keys: readonly (readonly bigint[])[],
  words: number,
  find: (input: number, n: number, known: number, count: number, out: number) => number,
): void {
  const rows = keys.length;
  const known = lab.output('I64', rows * words);
  const half = rows >>> 1;
  const first = lab.place('I64', keys.slice(0, half).flat());
  const second = lab.place('I64', keys.slice(half).flat());
  const outFirst = lab.output('U32', half);
  const outSecond = lab.output('U32', rows - half);
  const count = lab.call(() => find(first, half, known, 0, outFirst));
  const total = lab.call(() => find(second, rows - half, known, count, outSecond));

  const numbers = new Map<string, number>();
  const firstSeen: Value[] = [];
  const groups = keys.map((key) => {
    const name = key.join();
    const number = numbers.get(name) ?? numbers.size;
    if (number === numbers.size) append(firstSeen, key);
    numbers.set(name, number);
    return number;
  });
  lab.expectResult(total, numbers.size);
  lab.expect('U32', outFirst, groups.slice(0, half), 'group');
  lab.expect('U32', outSecond, groups.slice(half), 'group');
  lab.expect('I64', known, firstSeen, 'key word');
}

function divides(lab: Lab, rows: number, words: number, bits: number): void {
  const keys = Array.from({ length: rows }, () => keyOf(lab.random(1000000), words));
  const known = [5n, 7n, 9n].flatMap((number) => new Array<bigint>(words).fill(number));
  const input = lab.place('I64', keys.flat());
  const into = lab.output('I64', (3 + rows) * words, [...known, ...new Array<bigint>(rows * words).fill(0n)]);
  const starts = lab.output('U32', 2 ** bits + 1);
  const out = lab.output('U32', rows);
  lab.call(() => lab.kernels.divideKeys(input, rows, words, bits, into, 3, starts, out));
  const partOf = keys.map((key) => hashOf(new Uint32Array(BigInt64Array.from(key).buffer), 0, words * 2) >>> (32 - bits));
  const order = [...keys.keys()].sort((a, b) => (partOf[a] ?? 0) - (partOf[b] ?? 0) || a - b);
  const counts = new Array<number>(2 ** bits).fill(0);
  for (const part of partOf) counts[part] = (counts[part] ?? 0) + 1;
  const bounds = [3];
  for (const count of counts) bounds.push((bounds.at(-1) ?? 0) + count);
  const numbers = new Array<number>(rows);
  order.forEach((row, place) => {
    numbers[row] = 3 + place;
  });
  lab.expect('U32', starts, bounds, 'start');
  lab.expect('U32', out, numbers, 'number');
  lab.expect('I64', into, [...known, ...order.flatMap((row) => keys[row] ?? [])], 'key word');
}

function distinctKeys(lab: Lab, count: number, words: number): bigint[] {
  const numbers = new Set<number>();
  while (numbers.size < count) numbers.add(lab.random(4294967296));
  return [...numbers].flatMap((number) => keyOf(number, words));
}

/** Keys of several words that differ in one of them only. */
function keyOf(number: number, words: number): bigint[] {
  const key = new Array<bigint>(words).fill(-1n);
  key[number % words] = BigInt(number) << (BigInt(number % 3) * 13n);
  return key;
}

function capacityFor(count: number): number {
  let capacity = 16;
  while (capacity < count * 4) capacity *= 2;
  return capacity;
}
