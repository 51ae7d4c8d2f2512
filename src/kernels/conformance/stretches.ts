// Conformance checks of the kernels over numbers by group, and stretches of numbers.

import { highest } from '../../base/lists.js';
import { STRETCH_COUNTS } from '../stretch-contract.js';
import type { Lab } from './lab.js';

const GROUPS = [1, 2, 90, 5000] as const;
/** Values that buckets tell apart, hardly, and not at all; and in orders that mislead a choice of the value to divide at. */
const SHAPES = ['any', 'even', 'few', 'equal', 'outlier', 'skewed', 'far apart', 'ascending', 'organ pipe', 'zeros'] as const;

function valueOf(lab: Lab, shape: (typeof SHAPES)[number], at: number, length: number): number {
  switch (shape) {
    case 'any': {
      const [value = 0] = lab.values('F64', 1).map(Number);
      return Number.isNaN(value) ? 0.25 : value;
    }
    case 'even':
      return lab.random(1 << 30) / 1024;
    case 'few':
      return lab.random(5) - 2;
    case 'equal':
      return -7.5;
    case 'outlier':
      return at === length >> 1 ? 1e300 : lab.random(1 << 20);
    case 'skewed':
      return 2 ** (lab.random(1200) - 600) * (lab.random(2) === 0 ? 1 : -1);
    case 'far apart':
      return (lab.random(2) === 0 ? 1 : -1) * (Number.MAX_VALUE - lab.random(100) * 2 ** 1000);
    case 'ascending':
      return at * 2;
    case 'organ pipe':
      return Math.min(at, length - at) + (at === 1 ? 1e200 : 0);
    case 'zeros':
      return [0, -0, 5e-324, -5e-324][lab.random(4)] ?? 0;
  }
}

/** Lengths of stretches: none, one, those sorted by insertion and those that are not, a long one. */
function lengthsOf(lab: Lab, rows: number): number[] {
  const lengths = [0, 1, 2, rows, 24, 25, lab.random(40), 0, 26 + lab.random(300)];
  return rows % 32 === 0 ? [...lengths, 3000 + rows] : lengths;
}

const ROW_COUNTS = [0, 1, 2, 3, 7, 31, 32, 33, 64, 100, 128];

export const STRETCH_CHECKS = {
  placeByGroup(lab: Lab) {
    lab.each(GROUPS, (rows, groupCount) => {
      const values = lab.values('F64', rows).map(Number);
      const groups = values.map(() => lab.random(groupCount));
      const [groupsAt, valuesAt] = [lab.place('U32', groups), lab.place('F64', values)];
      const starts = lab.output('U32', groupCount + 1);
      const out = lab.output('F64', rows);
      const count = lab.call(() => lab.kernels.placeByGroup(groupsAt, valuesAt, rows, groupCount, starts, out));
      const byGroup: number[][] = Array.from({ length: groupCount }, () => []);
      values.forEach((value, at) => {
        if (!Number.isNaN(value)) byGroup[groups[at] ?? 0]?.push(value);
      });
      const placed = byGroup.flat();
      lab.expect('F64', out, placed);
      let end = 0;
      lab.expect('U32', starts, [0, ...byGroup.map(({ length }) => (end += length))], 'start');
      lab.expectResult(count, placed.length);
    });
  },
  sortStretches(lab: Lab) {
    lab.each(
      SHAPES,
      (rows, shape) => {
        const lengths = lengthsOf(lab, rows);
        const stretches = lengths.map((length) => Array.from({ length }, (_, at) => valueOf(lab, shape, at, length)));
        let end = 3;
        const starts = lab.place('U32', [end, ...lengths.map((length) => (end += length))]);
        const before = [1, -1, 0.5];
        const values = lab.output('F64', end, [...before, ...stretches.flat()]);
        const scratch = lab.output('F64', highest(lengths));
        const counts = lab.output('U32', STRETCH_COUNTS);
        lab.call(() => lab.kernels.sortStretches(values, starts, lengths.length, scratch, counts));
        lab.expect('F64', values, [...before, ...stretches.flatMap((stretch) => Array.from(Float64Array.from(stretch).sort()))]);
      },
      ROW_COUNTS,
    );
  },
};
