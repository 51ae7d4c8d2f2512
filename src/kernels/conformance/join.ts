// Conformance checks of joins.

import { IDS, INTEGERS, perType } from '../signatures.js';
import { uploadLists } from './filter.js';
import { type Lab, MASKS, type Value } from './lab.js';

const ABSENT = 0xffffffff;
const DENSITIES = ['none absent', 'some absent', 'all absent'] as const;
const KINDS = ['pairs', 'all rows', 'rows with a list', 'rows without'] as const;

/** The base of a column, the smallest number that is looked up, and how many follow it. */
const RANGES = [
  [0n, 0n, 256],
  [5n, 7n, 1000],
  [-(2n ** 63n), 2n ** 63n - 1n, 70000],
] as const;

/** Percentages of the bits that come in which are set. */
const ASKED = [0, 5, 60, 100] as const;

export const JOIN_CHECKS = {
  joinTexts(lab: Lab) {
    lab.each([0, 1], (rows, firsts) => {
      const entries = sortedTexts(lab, Math.min(rows, 300));
      const others = sortedTexts(lab, lab.random(80));
      const [one, other] = [uploadTexts(lab, entries), uploadTexts(lab, others)];
      const out = lab.output('U32', entries.length);
      lab.call(() =>
        lab.kernels.joinTexts(one.bytes, one.offsets, firsts, entries.length, other.bytes, other.offsets, firsts, others.length, out),
      );
      lab.expect(
        'U32',
        out,
        entries.map((text, entry) => {
          const found = others.indexOf(text);
          return entry < firsts || found < firsts ? ABSENT : found;
        }),
        'entry',
      );
    });
  },
  joinFind(lab: Lab) {
    for (const words of [1, 2, 3]) {
      lab.each(['few', 'many'], (rows, distinct) => {
        const known = Math.max(1, Math.min(rows, distinct === 'few' ? 7 : 3000));
        const keyOf = (number: number): bigint[] => Array.from({ length: words }, (_, word) => BigInt(number) << BigInt(word * 13));
        const capacity = 8192;
        const keys = Array.from({ length: known }, (_, number) => keyOf(number * 5));
        const atKeys = lab.place('I64', keys.flat());
        const slots = lab.output('U32', capacity, new Array<number>(capacity).fill(0));
        lab.call(() => lab.kernels.rehash(atKeys, known, words, slots, capacity));
        const asked = Array.from({ length: rows }, () => lab.random(known * 6));
        const input = lab.place(
          'I64',
          asked.flatMap((number) => keyOf(number)),
        );
        const out = lab.output('U32', rows);
        lab.call(() => lab.kernels.joinFind(input, rows, words, slots, capacity, atKeys, out));
        lab.expect(
          'U32',
          out,
          asked.map((number) => (number % 5 === 0 && number / 5 < known ? number / 5 : ABSENT)),
          'number',
        );
      });
    }
  },
  joinDropNulls(lab: Lab) {
    lab.each(MASKS, (rows, pattern) => {
      const bits = lab.mask(pattern, rows);
      const numbers = lab.values('U32', rows);
      const nulls = lab.uploadBits(bits);
      const out = lab.output('U32', rows, numbers);
      lab.call(() => lab.kernels.joinDropNulls(nulls, rows, out));
      lab.expect(
        'U32',
        out,
        numbers.map((number, row) => (bits[row] ? ABSENT : number)),
        'number',
      );
    });
  },
  joinLists(lab: Lab) {
    lab.each(DENSITIES, (rows, density) => {
      const keyCount = lab.random(40);
      const numbers = rowsOf(lab, rows, keyCount, density);
      const at = lab.place('U32', numbers);
      const expected = listsOf(numbers, keyCount);
      const [starts, out] = [lab.output('U32', keyCount + 1), lab.output('U32', rows)];
      lab.expectResult(
        lab.call(() => lab.kernels.joinLists(at, rows, keyCount, starts, out)),
        expected.flat().length,
      );
      lab.expect('U32', starts, startsOf(expected), 'start');
      lab.expect('U32', out, expected.flat(), 'row');
    });
  },
  joinOnly(lab: Lab) {
    lab.each([...DENSITIES, 'repeated'] as const, (rows, density) => {
      const keyCount = rows + lab.random(40) + 1;
      const isTwice = density === 'repeated' && rows > 1;
      const numbers = Array.from({ length: rows }, (_, row) =>
        density === 'all absent' || (density === 'some absent' && lab.random(3) === 0) ? ABSENT : rows - row,
      );
      if (isTwice) numbers[rows - 1] = rows;
      const at = lab.place('U32', numbers);
      const out = lab.output('U32', keyCount);
      lab.expectResult(
        lab.call(() => lab.kernels.joinOnly(at, rows, keyCount, out)),
        isTwice ? 0 : 1,
      );
      if (isTwice) return;
      const expected = new Array<number>(keyCount).fill(ABSENT);
      numbers.forEach((number, row) => {
        if (number !== ABSENT) expected[number] = row;
      });
      lab.expect('U32', out, expected, 'row');
    });
  },
  joinOnlyPairs(lab: Lab) {
    lab.each(KINDS, (rows, kind) => {
      const keyCount = 1 + lab.random(20);
      const only = rowsOf(lab, keyCount, 500, 'some absent');
      const numbers = rowsOf(lab, rows, keyCount, 'some absent');
      const [atNumbers, atOnly] = [lab.place('U32', numbers), lab.place('U32', only)];
      const start = lab.random(rows + 1);
      const expected = numbers.slice(start).flatMap((number, at) => {
        const other = number === ABSENT ? ABSENT : (only[number] ?? ABSENT);
        const isThere = other !== ABSENT;
        const isKept = kind === 'all rows' || isThere === (kind !== 'rows without');
        return isKept ? [{ row: start + at, other: kind === 'pairs' || kind === 'all rows' ? other : ABSENT }] : [];
      });
      const [lefts, rights] = [lab.output('U32', rows - start), lab.output('U32', rows - start)];
      lab.expectResult(
        lab.call(() => lab.kernels.joinOnlyPairs(atNumbers, start, rows, atOnly, KINDS.indexOf(kind), lefts, rights)),
        expected.length,
      );
      lab.expectFields('U32', { row: lefts, other: rights }, expected);
    });
  },
  joinPairs(lab: Lab) {
    for (const capacity of [1, 5, 100_000]) {
      lab.each(KINDS, (rows, kind) => {
        const keyCount = 1 + lab.random(20);
        const lists = Array.from({ length: keyCount }, () => Array.from({ length: lab.random(4) }, () => lab.random(500)));
        const numbers = rowsOf(lab, rows, keyCount, 'some absent');
        const atNumbers = lab.place('U32', numbers);
        const atStarts = lab.place('U32', startsOf(lists));
        const atRows = lab.place('U32', lists.flat());
        const given = numbers.map((number) => {
          const list = number === ABSENT ? [] : (lists[number] ?? []);
          if (kind === 'pairs') return list;
          if (kind === 'all rows') return list.length === 0 ? [ABSENT] : list;
          return list.length > 0 === (kind === 'rows with a list') ? [ABSENT] : [];
        });
        const expected = given.flatMap((list, row) => list.map((other) => ({ row, other })));
        const cursor = lab.output('U32', 3, [0, 0, 1]);
        const [lefts, rights] = [lab.output('U32', capacity), lab.output('U32', capacity)];
        // The smallest capacities would need too many calls for a whole block.
        for (let from = 0, calls = 0; calls < 200; calls++) {
          const count = lab.call(() =>
            lab.kernels.joinPairs(atNumbers, rows, atStarts, atRows, KINDS.indexOf(kind), cursor, capacity, lefts, rights),
          );
          const wanted = expected.slice(from, from + capacity);
          lab.expectResult(count, wanted.length);
          lab.expectFields('U32', { row: lefts, other: rights }, wanted);
          from += count;
          if (count < capacity) {
            lab.expect('U32', cursor, [rows, 0, Number(given.every((list) => list.length === 1))], 'cursor word');
            break;
          }
        }
      });
    }
  },
  joinMark(lab: Lab) {
    lab.each(DENSITIES, (rows, density) => {
      const picked = rowsOf(lab, rows, 300, density);
      const before = Array.from({ length: 300 }, () => lab.random(20) & 1);
      const at = lab.place('U32', picked);
      const marks = lab.output('U8', 300, before);
      lab.call(() => lab.kernels.joinMark(at, rows, marks));
      lab.expect(
        'U8',
        marks,
        before.map((mark, row) => (picked.includes(row) ? 1 : mark)),
        'mark',
      );
    });
  },
  joinNulls(lab: Lab) {
    for (const hasNulls of [true, false]) {
      lab.each(DENSITIES, (rows, density) => {
        const bits = lab.mask('random', 200);
        const picked = rowsOf(lab, rows, 200, density);
        const nulls = hasNulls ? lab.uploadBits(bits) : 0;
        const at = lab.place('U32', picked);
        const out = lab.output('I64', Math.ceil(rows / 64));
        const expected = picked.map((row) => row === ABSENT || (hasNulls && bits[row] === true));
        lab.expectResult(
          lab.call(() => lab.kernels.joinNulls(nulls, at, rows, out)),
          expected.filter(Boolean).length,
        );
        lab.expectBits(out, expected);
      });
    }
  },
  joinOffsets(lab: Lab) {
    lab.each(DENSITIES, (rows, density) => {
      const lists = Array.from({ length: 50 }, () => new Array<Value>(lab.random(4)).fill(0));
      const picked = rowsOf(lab, rows, 50, density);
      const at = lab.place('U32', picked);
      const offsets = lab.place('U32', startsOf(lists));
      const out = lab.output('U32', rows + 1);
      const expected = startsOf(picked.map((row) => lists[row] ?? []));
      lab.expectResult(
        lab.call(() => lab.kernels.joinOffsets(offsets, at, rows, out)),
        expected.at(-1) ?? 0,
      );
      lab.expect('U32', out, expected, 'offset');
    });
  },
  ...perType('joinRange', INTEGERS, (type) => (lab: Lab) => {
    for (const [base, low, count] of [...RANGES, [0n, -3n, 4000000000]] as const) {
      lab.each(['numbers'], (rows) => {
        const values = lab.values(type, rows);
        const at = lab.place(type, values);
        const out = lab.output('U32', rows);
        lab.call(() => lab.kernels[`joinRange${type}`](at, base, low, count, rows, out));
        lab.expect(
          'U32',
          out,
          values.map((value) => {
            const number = BigInt.asUintN(64, BigInt(value) + base - low);
            return number < BigInt(count) ? Number(number) : ABSENT;
          }),
          'number',
        );
      });
    }
  }),
  joinShift(lab: Lab) {
    for (const [base, low, count] of [...RANGES, [0n, -3n, 1], [0n, 90n, 500], [90n, 26n, 500]] as const) {
      lab.each(['random', 'all'], (rows, pattern) => {
        const members = lab.mask(pattern, count);
        const bits = lab.uploadBits(members);
        const out = lab.output('I64', Math.ceil(rows / 64));
        lab.call(() => lab.kernels.joinShift(bits, low, count, base, rows, out));
        lab.expectBits(
          out,
          Array.from({ length: rows }, (_, number) => isMember(BigInt(number) + base - low, members)),
        );
      });
    }
  },
  joinBytes(lab: Lab) {
    lab.each(MASKS, (rows, pattern) => {
      const members = lab.mask(pattern, rows);
      const bits = lab.uploadBits(members);
      const out = lab.output('U8', rows);
      lab.call(() => lab.kernels.joinBytes(bits, rows, out));
      lab.expect('U8', out, members.map(Number), 'byte');
    });
  },
  ...perType('joinKeep', INTEGERS, (type) => (lab: Lab) => {
    for (const [base, low, count] of [...RANGES, [0n, -3n, 1]] as const) {
      for (const asked of ASKED) {
        lab.each(['random', 'all'], (rows, pattern) => {
          const members = lab.mask(pattern, count);
          const near = BigInt.asIntN(64, low - base);
          const values = lab.values(type, rows).map((value, row) => {
            const close = near + BigInt(row % 300);
            const fits = type === 'I64' || (close >= 0n && close < 256n);
            return row % 2 === 0 || !fits ? value : type === 'I64' ? BigInt.asIntN(64, close) : Number(close);
          });
          const before = keptOf(lab, rows, asked);
          const at = lab.place(type, values);
          const bits = lab.uploadBits(members);
          const kept = lab.output('I64', Math.ceil(rows / 64));
          lab.fill(kept, before);
          lab.call(() => lab.kernels[`joinKeep${type}`](at, base, low, count, bits, rows, kept));
          lab.expectBits(
            kept,
            values.map((value, row) => before[row] === true && isMember(BigInt(value) + base - low, members)),
          );
        });
      }
    }
  }),
  ...perType('joinKeepBits', IDS, (type) => (lab: Lab) => {
    for (const asked of ASKED) {
      lab.each(['random', 'all'], (rows, pattern) => {
        const members = lab.mask(pattern, 256);
        const values = lab.values('U8', rows);
        const before = keptOf(lab, rows, asked);
        const at = lab.place(type, values);
        const bits = lab.uploadBits(members);
        const kept = lab.output('I64', Math.ceil(rows / 64));
        lab.fill(kept, before);
        lab.call(() => lab.kernels[`joinKeepBits${type}`](at, bits, rows, kept));
        lab.expectBits(
          kept,
          values.map((value, row) => before[row] === true && members[Number(value)] === true),
        );
      });
    }
  }),
  ...perType('joinKeepBytes', IDS, (type) => (lab: Lab) => {
    for (const asked of ASKED) {
      lab.each(['random', 'all'], (rows, pattern) => {
        const members = lab.mask(pattern, 256);
        const values = lab.values('U8', rows);
        const before = keptOf(lab, rows, asked);
        const at = lab.place(type, values);
        const bytes = lab.place('U8', members.map(Number));
        const kept = lab.output('I64', Math.ceil(rows / 64));
        lab.fill(kept, before);
        lab.call(() => lab.kernels[`joinKeepBytes${type}`](at, bytes, rows, kept));
        lab.expectBits(
          kept,
          values.map((value, row) => before[row] === true && members[Number(value)] === true),
        );
      });
    }
  }),
  ...perType('joinValues', INTEGERS, (type) => (lab: Lab) => {
    lab.each(DENSITIES, (rows, density) => {
      const values = lab.values(type, 100);
      const picked = rowsOf(lab, rows, 100, density);
      const [atValues, at, out] = [lab.place(type, values), lab.place('U32', picked), lab.output(type, rows)];
      lab.call(() => lab.kernels[`joinValues${type}`](atValues, at, rows, out));
      lab.expect(
        type,
        out,
        picked.map((row) => values[row] ?? (type === 'I64' ? 0n : 0)),
      );
    });
  }),
  ...perType('joinListValues', IDS, (type) => (lab: Lab) => {
    lab.each(DENSITIES, (rows, density) => {
      const lists = Array.from({ length: 60 }, () => lab.values(type, lab.random(4)).map(Number));
      const picked = rowsOf(lab, rows, 60, density);
      const expected = picked.flatMap((row) => lists[row] ?? []);
      const { ids, offsets } = uploadLists(lab, type, lists);
      const [at, out] = [lab.place('U32', picked), lab.output(type, expected.length)];
      lab.call(() => lab.kernels[`joinListValues${type}`](ids, offsets, at, rows, out));
      lab.expect(type, out, expected);
    });
  }),
};

function keptOf(lab: Lab, rows: number, asked: (typeof ASKED)[number]): readonly boolean[] {
  return Array.from({ length: rows }, () => lab.random(100) < asked);
}

/** Whether the bit of a number, wrapped to 64 bits, is there and set. */
function isMember(number: bigint, members: readonly boolean[]): boolean {
  const place = BigInt.asUintN(64, number);
  return place < BigInt(members.length) && members[Number(place)] === true;
}

/** Numbers below `count`, or absent. */
function rowsOf(lab: Lab, rows: number, count: number, density: (typeof DENSITIES)[number]): number[] {
  return Array.from({ length: rows }, () =>
    count === 0 || density === 'all absent' || (density === 'some absent' && lab.random(3) === 0) ? ABSENT : lab.random(count),
  );
}

function listsOf(numbers: readonly number[], keyCount: number): number[][] {
  const lists = Array.from({ length: keyCount }, (): number[] => []);
  numbers.forEach((number, row) => lists[number]?.push(row));
  return lists;
}

function startsOf(lists: readonly (readonly Value[])[]): number[] {
  const starts = [0];
  for (const list of lists) starts.push((starts.at(-1) ?? 0) + list.length);
  return starts;
}

const FRAGMENTS = ['a', 'b', 'ab', 'abcdefgh', 'é', '日', '\ufffd', '😀', '𐀀', ''];

export function sortedTexts(lab: Lab, count: number): string[] {
  const texts = Array.from(
    { length: count },
    () => FRAGMENTS[lab.random(10)] + (FRAGMENTS[lab.random(10)] ?? '') + (FRAGMENTS[lab.random(10)] ?? ''),
  );
  return [...new Set(texts)].sort();
}

export function uploadTexts(lab: Lab, texts: readonly string[]): { readonly bytes: number; readonly offsets: number } {
  const encoded = texts.map((text) => Buffer.from(text));
  return { bytes: lab.uploadBytes(Buffer.concat(encoded)), offsets: lab.place('U32', startsOf(encoded.map((bytes) => [...bytes]))) };
}
