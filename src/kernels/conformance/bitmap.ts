// Conformance checks of bit arrays.

import { type Lab, MASKS } from './lab.js';

type Combine = 'bitsAnd' | 'bitsOr' | 'bitsAndNot';

const combines = (kernel: Combine, expected: (a: boolean, b: boolean) => boolean) => (lab: Lab) => {
  lab.each(['apart', 'into a', 'into b'], (rows, where) => {
    const words = Math.ceil(rows / 64);
    const a = lab.mask('random', words * 64);
    const b = lab.mask('random', words * 64);
    const apart = lab.output('I64', words);
    const atA = where === 'into a' ? lab.output('I64', words) : lab.uploadBits(a);
    const atB = where === 'into b' ? lab.output('I64', words) : lab.uploadBits(b);
    if (where === 'into a') lab.fill(atA, a);
    if (where === 'into b') lab.fill(atB, b);
    const out = where === 'into a' ? atA : where === 'into b' ? atB : apart;
    lab.call(() => lab.kernels[kernel](atA, atB, words, out));
    lab.expectBits(
      out,
      a.map((bit, index) => expected(bit, b[index] === true)),
    );
  });
};

export const BITMAP_CHECKS = {
  bitsAnd: combines('bitsAnd', (a, b) => a && b),
  bitsOr: combines('bitsOr', (a, b) => a || b),
  bitsAndNot: combines('bitsAndNot', (a, b) => a && !b),
  bitsNot(lab: Lab) {
    lab.each(MASKS, (rows, pattern) => {
      const bits = lab.mask(pattern, rows);
      const out = lab.output('I64', Math.ceil(rows / 64));
      const at = lab.uploadBits(bits);
      lab.call(() => lab.kernels.bitsNot(at, rows, out));
      lab.expectBits(
        out,
        bits.map((bit) => !bit),
      );
    });
  },
  bitsFill(lab: Lab) {
    lab.each([0, 1, 2, 3], (rows) => {
      const words = Math.ceil(rows / 64);
      const start = lab.random(rows + 1);
      const end = start + lab.random(rows - start + 1);
      const out = lab.output('I64', words);
      lab.call(() => lab.kernels.bitsFill(out, words, start, end));
      lab.expectBits(
        out,
        Array.from({ length: words * 64 }, (_, bit) => start <= bit && bit < end),
      );
    });
  },
  bitsCount(lab: Lab) {
    lab.each(MASKS, (rows, pattern) => {
      const bits = lab.mask(pattern, rows);
      const at = lab.uploadBits(bits);
      const count = lab.call(() => lab.kernels.bitsCount(at, Math.ceil(rows / 64)));
      lab.expectResult(count, bits.filter(Boolean).length);
    });
  },
  bitsToRows(lab: Lab) {
    lab.each(MASKS, (rows, pattern) => {
      const bits = lab.mask(pattern, rows);
      const at = lab.uploadBits(bits);
      for (const [start, end] of [
        [0, rows],
        [lab.random(rows + 1), rows],
        [0, lab.random(rows + 1)],
        [rows, rows],
      ] as const) {
        const expected = [...bits.keys()].filter((row) => bits[row] && start <= row && row < end);
        const out = lab.output('U32', end - start);
        lab.expectResult(
          lab.call(() => lab.kernels.bitsToRows(at, start, end, out)),
          expected.length,
        );
        lab.expect('U32', out, expected, 'row');
      }
    });
  },
  bitsMark(lab: Lab) {
    lab.each(['ids'], (rows) => {
      const ids = Array.from({ length: rows }, () => lab.random(1000));
      const before = lab.mask('sparse', 1024);
      const at = lab.place('U32', ids);
      const out = lab.output('I64', 16);
      lab.fill(out, before);
      lab.call(() => lab.kernels.bitsMark(at, rows, out));
      lab.expectBits(
        out,
        before.map((bit, id) => bit || ids.includes(id)),
      );
    });
  },
};
