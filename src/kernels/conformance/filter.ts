// Conformance checks of filters.

import { append } from '../../base/lists.js';
import type { Id, Num } from '../contract.js';
import { IDS, NUMBERS, perType } from '../signatures.js';
import { type Lab, MAX_I64, MIN_I64, type Value } from './lab.js';

const LARGEST: Readonly<Record<Id, number>> = { U8: 255, U16: 65535, U32: 4294967295 };

export const FILTER_CHECKS = {
  ...perType('filterEq', IDS, (type) => (lab: Lab) => {
    lab.each([0, 1, LARGEST[type], 4294967295], (rows, id) => {
      const values = lab.values(type, rows);
      const out = lab.output('I64', Math.ceil(rows / 64));
      const at = lab.place(type, values);
      lab.call(() => lab.kernels[`filterEq${type}`](at, rows, id, out));
      lab.expectBits(
        out,
        values.map((value) => value === id),
      );
    });
  }),
  ...perType('filterRange', NUMBERS, (type) => (lab: Lab) => {
    lab.each(
      RANGES[type].map((_, index) => index),
      (rows, index) => {
        const [lower = 0, upper = 0] = RANGES[type][index] ?? [];
        const values = lab.values(type, rows);
        const out = lab.output('I64', Math.ceil(rows / 64));
        const at = lab.place(type, values);
        lab.call(() => {
          if (type === 'I64') lab.kernels.filterRangeI64(at, rows, BigInt(lower), BigInt(upper), out);
          else lab.kernels[`filterRange${type}`](at, rows, Number(lower), Number(upper), out);
        });
        lab.expectBits(
          out,
          values.map((value) => lower <= value && value <= upper),
        );
      },
    );
  }),
  ...perType('filterSet', IDS, (type) => (lab: Lab) => {
    const size = type === 'U8' ? 256 : 3000;
    lab.each(['none', 'all', 'random', 'sparse'], (rows, pattern) => {
      const members = lab.mask(pattern, size);
      const values = Array.from({ length: rows }, () => lab.random(size));
      const out = lab.output('I64', Math.ceil(rows / 64));
      const set = lab.uploadBits(members);
      const at = lab.place(type, values);
      lab.call(() => lab.kernels[`filterSet${type}`](at, rows, set, out));
      lab.expectBits(
        out,
        values.map((value) => members[value] === true),
      );
    });
  }),
  ...perType('filterSorted', NUMBERS, (type) => (lab: Lab) => {
    lab.each([0, 1, 2, 3, 7, 64], (rows, count) => {
      const wanted = [...new Set(lab.values(type, count))].filter((value) => value === value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      const values = lab.values(type, rows).map((value, row) => (row % 3 === 0 ? (wanted[lab.random(wanted.length)] ?? value) : value));
      const out = lab.output('I64', Math.ceil(rows / 64));
      const sorted = lab.place(type, wanted);
      const at = lab.place(type, values);
      lab.call(() => lab.kernels[`filterSorted${type}`](at, rows, sorted, wanted.length, out));
      lab.expectBits(
        out,
        values.map((value) => wanted.some((one) => one === value)),
      );
    });
  }),
  ...perType('filterAny', IDS, (type) => (lab: Lab) => {
    lab.each(['none', 'all', 'random', 'sparse'], (rows, pattern) => {
      const members = lab.mask(pattern, 256);
      const lists = Array.from({ length: rows }, () => Array.from({ length: lab.random(4) }, () => lab.random(256)));
      const out = lab.output('I64', Math.ceil(rows / 64));
      const { ids, offsets } = uploadLists(lab, type, lists);
      const set = lab.uploadBits(members);
      lab.call(() => lab.kernels[`filterAny${type}`](ids, offsets, rows, set, out));
      lab.expectBits(
        out,
        lists.map((list) => list.some((id) => members[id] === true)),
      );
    });
  }),
  ...perType('listElement', IDS, (type) => (lab: Lab) => {
    for (const shift of [0, 1]) {
      lab.each([0, 2, 4294967295], (rows, place) => {
        const lists = Array.from({ length: rows }, () => lab.values(type, lab.random(5)).map(Number));
        const { ids, offsets } = uploadLists(lab, type, lists);
        const out = lab.output('U32', rows);
        lab.call(() => lab.kernels[`listElement${type}`](ids, offsets, rows, place, shift, out));
        const elements = lists.map((list) => list[place]);
        lab.expect(
          'U32',
          out,
          elements.map((id) => (id === undefined ? 0 : (id + shift) >>> 0)),
        );
      });
    }
  }),
  ...perType('listPlace', IDS, (type) => (lab: Lab) => {
    lab.each([0, 3, LARGEST[type]], (rows, id) => {
      const lists = Array.from({ length: rows }, () => Array.from({ length: lab.random(5) }, () => (lab.random(2) === 0 ? id : 3)));
      const { ids, offsets } = uploadLists(lab, type, lists);
      const out = lab.output('I64', rows);
      lab.call(() => lab.kernels[`listPlace${type}`](ids, offsets, rows, id, out));
      lab.expect(
        'I64',
        out,
        lists.map((list) => BigInt(list.indexOf(id))),
      );
    });
  }),
  filterEmpty(lab: Lab) {
    lab.each(['lists'], (rows) => {
      const lists = Array.from({ length: rows }, () => Array.from({ length: lab.random(3) }, () => 1));
      const out = lab.output('I64', Math.ceil(rows / 64));
      const { offsets } = uploadLists(lab, 'U8', lists);
      lab.call(() => lab.kernels.filterEmpty(offsets, rows, out));
      lab.expectBits(
        out,
        lists.map((list) => list.length === 0),
      );
    });
  },
};

/** Multi-value rows; the first value of the first row is not the first of `ids`. */
export function uploadLists(lab: Lab, type: Id, lists: readonly (readonly number[])[]): { ids: number; offsets: number } {
  const ids = [7, 7, 7];
  const offsets = [ids.length];
  for (const list of lists) {
    append(ids, list);
    offsets.push(ids.length);
  }
  return { ids: lab.place(type, ids), offsets: lab.place('U32', offsets) };
}

const FLOAT_RANGES: readonly (readonly Value[])[] = [
  [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY],
  [-0, 0],
  [0, Number.POSITIVE_INFINITY],
  [-1000.3, 1000.1], // neither bound is an f32
  [0.1, 0.1],
  [2 ** -160, 2 ** -140],
  [-(2 ** -160), 2 ** -160],
  [1, -1],
  [1e39, 1e300],
  [-1e300, -1e39],
  [3.4028234663852886e38, 1e39],
  [Number.NaN, 1],
  [-1, Number.NaN],
];

const RANGES: Readonly<Record<Num, readonly (readonly Value[])[]>> = {
  U8: [
    [0, 255],
    [0, 0],
    [255, 255],
    [100, 200],
    [128, 4294967295],
    [256, 300],
    [9, 8],
  ],
  U16: [
    [0, 65535],
    [0, 0],
    [65535, 65535],
    [1000, 40000],
    [32768, 4294967295],
    [65536, 70000],
    [9, 8],
  ],
  U32: [
    [0, 4294967295],
    [0, 0],
    [4294967295, 4294967295],
    [1000, 3000000000],
    [2147483648, 4294967295],
    [9, 8],
  ],
  I64: [
    [MIN_I64, MAX_I64],
    [0n, 0n],
    [MIN_I64, MIN_I64],
    [MAX_I64, MAX_I64],
    [-5000000000n, 2n ** 62n],
    [9n, 8n],
  ],
  F32: FLOAT_RANGES,
  F64: FLOAT_RANGES,
};
