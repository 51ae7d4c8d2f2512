// Remembers what changed last, for readers who know how things were.

/** Changes that are remembered: a reader that missed more of them is told everything. */
const REMEMBERED = 1 << 16;

/** The names of things that changed, by ascending numbers; those of long ago are forgotten. */
export class ChangeLog {
  #names: string[] = [];
  #numbers: number[] = [];
  /** Changes up to this number are not known. */
  #forgotten: number;

  /** @param from  the number from which on changes are noted */
  constructor(from: number) {
    this.#forgotten = from;
  }

  /** @param number  at least that of the change before */
  note(name: string, number: number): void {
    this.#names.push(name);
    this.#numbers.push(number);
    if (this.#names.length < 2 * REMEMBERED) return;
    this.#forgotten = this.#numbers[REMEMBERED - 1] ?? number;
    this.#names = this.#names.slice(REMEMBERED);
    this.#numbers = this.#numbers.slice(REMEMBERED);
  }

  /** Names of what changed after a number, each once; undefined when that is not known any more. */
  since(number: number): ReadonlySet<string> | undefined {
    if (number < this.#forgotten) return undefined;
    let from = this.#names.length;
    while (from > 0 && (this.#numbers[from - 1] ?? 0) > number) from--;
    return new Set(this.#names.slice(from));
  }
}
