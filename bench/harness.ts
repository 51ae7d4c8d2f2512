/** One of several ways to do the same work. */
export interface Contender {
  readonly name: string;
  /** Does the work once. */
  run(): void;
}

export interface Timing {
  readonly name: string;
  /** Nanoseconds of processor time for the work once, by round; round r of all contenders ran side by side. */
  readonly nanoseconds: readonly number[];
}

/**
 * Times contenders against each other in one process: after a warm-up, rounds in which each runs for at least
 * `roundMs`, the order reversed every other round, so that a busy neighbour hits all alike. Answers are compared
 * before, by the caller.
 */
export function alternate(contenders: readonly Contender[], options: { readonly rounds: number; readonly roundMs: number }): Timing[] {
  for (const contender of contenders) repeat(contender, options.roundMs / 2);
  const taken = contenders.map((): number[] => []);
  for (let round = 0; round < options.rounds; round++) {
    const order = [...contenders.keys()];
    if (round % 2 === 1) order.reverse();
    for (const index of order) {
      const contender = contenders[index];
      if (contender !== undefined) taken[index]?.push(repeat(contender, options.roundMs));
    }
  }
  return contenders.map(({ name }, index) => ({ name, nanoseconds: taken[index] ?? [] }));
}

/**
 * Nanoseconds of processor time a run, over as many runs as fill `forMs`. On a quiet machine that is the time by the
 * clock; on a shared one it leaves out what other processes took. The work is of one thread.
 */
function repeat(contender: Contender, forMs: number): number {
  const begin = process.cpuUsage();
  let runs = 0;
  let microseconds = 0;
  do {
    contender.run();
    runs++;
    const { user, system } = process.cpuUsage(begin);
    microseconds = user + system;
  } while (microseconds < forMs * 1000);
  return (microseconds * 1000) / runs;
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Factor by which `a` was faster than `b`: the median over the rounds, each of which saw both under one load. */
export function speedUp(a: Timing, b: Timing): number {
  return median(a.nanoseconds.map((time, round) => (b.nanoseconds[round] ?? Number.NaN) / time));
}
