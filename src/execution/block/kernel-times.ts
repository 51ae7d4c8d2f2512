// Samples how long each kernel takes, for the query profile.

import type { KernelName, KernelSet } from '../../kernels/contract.js';
import { KERNEL_PARAMETERS } from '../../kernels/signatures.js';
import type { KernelTotals } from '../../model/profile.js';
import { ownNow } from './own-time.js';

/** One call of a kernel in so many is timed: reading the clock takes as long as a kernel needs for some hundred rows. */
const CALLS_PER_SAMPLE = 8;

const NAMES = Object.keys(KERNEL_PARAMETERS) as KernelName[];

/**
 * Times of one query's kernels on one thread, in sampled segments: calls are counted, and some of
 * them timed.
 */
export class KernelTimes {
  /** Rows of the block that is worked on. */
  blockRows = 0;
  readonly #calls = new Float64Array(NAMES.length);
  readonly #rows = new Float64Array(NAMES.length);
  readonly #timed = new Float64Array(NAMES.length);
  readonly #milliseconds = new Float64Array(NAMES.length);

  /** The same kernels, looked at. */
  over(kernels: KernelSet): KernelSet {
    const looked = new LookedKernels((at) => this.#lookedAt(kernels[NAMES[at] as KernelName] as Kernel, at));
    // Each has a kernel of the contract under its own name.
    return looked as unknown as KernelSet;
  }

  /** Totals of the kernels called so far. */
  totals(): Record<string, KernelTotals> {
    const totals: Record<string, KernelTotals> = {};
    this.#calls.forEach((calls, at) => {
      const name = NAMES[at];
      if (calls === 0 || name === undefined) return;
      const [rows = 0, timed = 0, milliseconds = 0] = [this.#rows[at], this.#timed[at], this.#milliseconds[at]];
      const each = timed === 0 ? 0 : milliseconds / timed;
      totals[name] = { calls, rows, milliseconds: each * calls };
    });
    return totals;
  }

  #lookedAt(kernel: Kernel, at: number): Kernel {
    return (...inputs) => {
      const calls = this.#calls[at] ?? 0;
      this.#calls[at] = calls + 1;
      this.#rows[at] = (this.#rows[at] ?? 0) + this.blockRows;
      if (calls % CALLS_PER_SAMPLE !== 0) return kernel(...inputs);
      const startMs = ownNow();
      const result = kernel(...inputs);
      this.#milliseconds[at] = (this.#milliseconds[at] ?? 0) + ownNow() - startMs;
      this.#timed[at] = (this.#timed[at] ?? 0) + 1;
      return result;
    };
  }
}

/** Kernels by name, each made when it is first asked for: a query needs some of hundreds. */
class LookedKernels {
  readonly #make: (at: number) => Kernel;
  readonly #made = new Map<number, Kernel>();

  constructor(make: (at: number) => Kernel) {
    this.#make = make;
  }

  kernelAt(at: number): Kernel {
    const known = this.#made.get(at);
    if (known !== undefined) return known;
    const made = this.#make(at);
    this.#made.set(at, made);
    return made;
  }
}

NAMES.forEach((name, at) => {
  Object.defineProperty(LookedKernels.prototype, name, {
    get(this: LookedKernels) {
      return this.kernelAt(at);
    },
  });
});

type Kernel = (...inputs: readonly (number | bigint)[]) => number | bigint | undefined;
