// Sets of characters, as ranges of code points.

/** Code points from a first to a last one, both included. */
export type Range = readonly [number, number];

const POINT_MAX = 0x10ffff;

/** Characters that end a line in Java, which `.` does not stand for. */
export const LINE_ENDS: readonly Range[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x85, 0x85],
  [0x2028, 0x2029],
];

/** Characters that `\d`, `\w`, `\s` and `\v` stand for in Java. */
export const NAMED_CLASSES: Readonly<Record<string, readonly Range[]>> = {
  d: [[0x30, 0x39]],
  w: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
  s: [
    [0x09, 0x0d],
    [0x20, 0x20],
  ],
  v: [
    [0x0a, 0x0d],
    [0x85, 0x85],
    [0x2028, 0x2029],
  ],
};

export function only(character: string): Range {
  const point = character.codePointAt(0) ?? 0;
  return [point, point];
}

export function complement(ranges: readonly Range[]): readonly Range[] {
  const others: Range[] = [];
  let from = 0;
  for (const [first, last] of [...ranges].sort(([a], [b]) => a - b)) {
    if (first > from) others.push([from, first - 1]);
    from = Math.max(from, last + 1);
  }
  if (from <= POINT_MAX) others.push([from, POINT_MAX]);
  return others;
}

export function intersection(a: readonly Range[], b: readonly Range[]): readonly Range[] {
  return complement([...complement(a), ...complement(b)]);
}

export function overlaps(a: readonly Range[], b: readonly Range[]): boolean {
  return a.some(([from, to]) => b.some(([first, last]) => from <= last && first <= to));
}
