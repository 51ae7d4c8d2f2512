// Plans that were recorded, to be made again of other literals.

import { dataBytes } from '../../base/data-size.js';
import { Filler } from './filler.js';
import { type Given, givenOf, likeness, type Recording, type Step } from './recording.js';

/** Data that was made of literals, and the questions that must have the same answers when it is made of others. */
export class RecordedPlan<Made extends object> {
  readonly #made: Made;
  /** Null: it is the same for all literals. */
  readonly #filler: Filler | null;
  readonly #steps: readonly Step[];
  /** Steps whose value something needs. */
  readonly #needed: readonly boolean[];

  private constructor(made: Made, filler: Filler | null, steps: readonly Step[], literalCount: number) {
    this.#made = made;
    this.#filler = filler;
    this.#steps = steps;
    this.#needed = neededOf(steps, filler, literalCount);
  }

  /**
   * @param literalCount  places that are literals
   * @returns undefined when it can be made of no other literals
   */
  static of<Made extends object>(made: Made, recording: Recording, literalCount: number): RecordedPlan<Made> | undefined {
    if (recording.isUseless) return undefined;
    return new RecordedPlan(made, Filler.of(made, recording), recording.steps, literalCount);
  }

  /** Bytes that it takes, roughly. */
  get bytes(): number {
    const fillers = this.#steps.map((step) => ('data' in step && typeof step.data !== 'number' ? step.data.parts : step));
    return dataBytes([this.#filler?.parts ?? this.#made, fillers]);
  }

  /** The same made of other literals; undefined when planning has to decide anew. */
  fill(literals: readonly unknown[]): Made | undefined {
    const values = [...literals];
    try {
      for (let index = 0; index < this.#steps.length; index++) {
        const step = this.#steps[index] as Step;
        if (step.kind === 'compute') values.push(this.#needed[index] ? step.compute(givenOf(step.data, values) as never) : undefined);
        else if (!holds(step, values)) return undefined;
      }
    } catch {
      // Planning says what is wrong, and with which part of the statement.
      return undefined;
    }
    return this.#filler === null ? this.#made : (this.#filler.fill(values) as Made);
  }
}

function holds(step: Exclude<Step, { kind: 'compute' }>, values: readonly unknown[]): boolean {
  switch (step.kind) {
    case 'ask':
      return step.question(givenOf(step.data, values) as never) === step.answer;
    case 'same':
      return Object.is(values[step.place], step.value);
    case 'alike':
      return likeness(values, step.places, step.constants) === step.answer;
  }
}

function neededOf(steps: readonly Step[], filler: Filler | null, literalCount: number): readonly boolean[] {
  const wanted = new Set<number>(filler?.places() ?? []);
  const needed = steps.map(() => true);
  let place = literalCount + steps.filter(({ kind }) => kind === 'compute').length;
  for (const [index, step] of [...steps.entries()].toReversed()) {
    if (step.kind === 'compute') needed[index] = wanted.has(--place);
    if (!needed[index]) continue;
    if (step.kind === 'same') wanted.add(step.place);
    else for (const each of step.kind === 'alike' ? step.places : placesOf(step.data)) wanted.add(each);
  }
  return needed;
}

function placesOf(data: Given): Iterable<number> {
  return typeof data === 'number' ? [data] : data.places();
}
