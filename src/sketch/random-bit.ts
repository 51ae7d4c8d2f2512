// Deterministic bits for quantiles sketches.

/** A bit that looks random and depends on the numbers only: which half of a sorted row of values survives. */
export function randomBit(count: number, level: number): 0 | 1 {
  let mixed = Math.imul((count >>> 0) ^ Math.imul(level + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.floor(count / 2 ** 32);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) & 1) as 0 | 1;
}
