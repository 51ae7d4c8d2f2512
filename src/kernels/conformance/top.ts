// Conformance checks of finding the best rows.

import { perType, WIDE } from '../signatures.js';
import type { Lab, Value } from './lab.js';

export const TOP_CHECKS = {
  ...perType('top', WIDE, (type) => (lab: Lab) => {
    for (const descending of [1, 0]) {
      for (const presence of ['absent', 'none', 'all', 'random'] as const) {
        lab.each([0, 1, 2, 10, 1000], (rows, k) => {
          const state = lab.random(2) === 0 ? lab.values(type, rows) : lab.values('U8', rows);
          const present = presence === 'absent' ? null : lab.mask(presence, rows);
          const atPresent = present === null ? 0 : lab.place('U8', present.map(Number));
          const at = lab.place(type, state);
          const heap = lab.output('U32', k);
          const out = lab.output('U32', k);
          const expected = [...state.keys()]
            .filter((index) => present === null || present[index])
            .sort((a, b) => order(state[a] ?? 0, state[b] ?? 0, descending === 1) || a - b)
            .slice(0, k);
          lab.expectResult(
            lab.call(() => lab.kernels[`top${type}`](at, atPresent, rows, k, descending, heap, out)),
            expected.length,
          );
          lab.expect('U32', out, expected, 'index');
        });
      }
    }
  }),
};

/** Negative when `a` comes first; NaN is above all numbers. */
function order(a: Value, b: Value, descending: boolean): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return (Number(Number.isNaN(a)) - Number(Number.isNaN(b))) * (descending ? -1 : 1);
  // biome-ignore lint/suspicious/noDoubleEquals: I64 states may be given as numbers
  if (a == b) return 0;
  return a < b !== descending ? -1 : 1;
}
