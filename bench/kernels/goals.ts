/** Measured figures of kernels, and the goals that one run of all cases is held to. */
export interface KernelFigure {
  readonly case: string;
  readonly kernels: readonly string[];
  /** Rows per second by kernel set, and `plain` where a hand-written twin exists. */
  readonly rowsPerSecond: Readonly<Record<string, number>>;
  readonly gigabytesPerSecond: Readonly<Record<string, number>>;
  /** Factor by which the first set is faster than each other set. */
  readonly speedUp: Readonly<Record<string, number>>;
  /** Share of the read bandwidth measured in the same rounds; absent for kernels that are not bound by it. */
  readonly bandwidthShare?: number;
}

export interface Goal {
  readonly name: string;
  readonly found: number;
  readonly wanted: number;
  readonly isMet: boolean;
}

/** A set that merely ties is not slower: what noise does to a median. */
const TIE = 0.95;

/** Checks one run against the goals of the kernels. The rival of `simd` is the faster of `reference` and the plain twin. */
export function judge(figures: readonly KernelFigure[], sets: readonly string[]): Goal[] {
  if (sets[0] !== 'simd' || !sets.includes('reference') || !sets.includes('scalar')) return [];
  const figure = (name: string): KernelFigure => {
    const found = figures.find((one) => one.case === name);
    if (found === undefined) throw new Error(`no figure for ${name}`);
    return found;
  };
  const overPlain = (name: string): number =>
    Math.min(figure(name).speedUp['plain'] ?? Number.POSITIVE_INFINITY, figure(name).speedUp['reference'] ?? 0);
  const slowest = figures.reduce((a, b) => ((a.speedUp['reference'] ?? 0) <= (b.speedUp['reference'] ?? 0) ? a : b));
  const goal = (name: string, found: number, wanted: number): Goal => ({ name, found, wanted, isMet: found >= wanted });
  return [
    goal(`simd over reference where it gains least (${slowest.case})`, slowest.speedUp['reference'] ?? 0, TIE),
    goal('sum u16 over plain TypeScript', overPlain('sum u16'), 6),
    goal('set membership of u8 over plain TypeScript', overPlain('u8 in set of 20'), 5),
    goal('group by 250 over plain TypeScript', overPlain('group by: sum f64 and count, 250 groups'), 1.7),
    ...['unpack 12 bits to u16', 'unpack 20 bits to u32'].map((name) =>
      goal(`${name}, simd over scalar`, figure(name).speedUp['scalar'] ?? 0, 3),
    ),
    ...['u8', 'u16', 'u32', 'i64', 'f32', 'f64'].map((type) =>
      goal(`sum ${type}, share of read bandwidth`, figure(`sum ${type}, out of cache`).bandwidthShare ?? 0, 0.7),
    ),
  ];
}
