// Makes automata of patterns, which read each byte of a text once.

import type { ByteMachine, MachineStep } from './byte-machine.js';
import type { RequiredText } from './required-text.js';

/*
 * A state of the automaton is a list of steps of the machine that have come as far as the same byte, the preferred ones first, each
 * with the registers that hold its marks. What a step leads to behind a match is never preferred to it, and is dropped. Registers are
 * numbered in the order in which steps have them, so that there are few states; a transition moves what changes its number.
 */

/** Source of a register: another one, the position, or nothing. */
type Source = number;
const HERE = -2;
const NOWHERE = -1;

const HEADER_WORDS = 10;
/** The last one is for moves in a circle. */
const REGISTERS_MAX = 32;
const SPARE = REGISTERS_MAX - 1;
const STATES_MAX = 2000;
/** Mark of a transition to a state in which a match ends. */
const MATCHES = 1 << 15;
/** Mark of a required text that matches begin with. */
const FIRST = 1 << 31;
const CELLS_MAX = 1 << 16;
const MOVE_WORDS_MAX = 1 << 16;
/** Steps that are looked at while it is made: some milliseconds. */
const LOOKS_MAX = 200_000;

/** Words that the kernels read: `kernels/pattern-contract.ts` says what they are. */
export type Automaton = Uint32Array;

interface Item {
  readonly step: number;
  readonly marks: readonly [Source, Source];
}

interface State {
  readonly items: readonly Item[];
  /** The match that ends here, and the one that does at the end of the text, as kernels read them. */
  readonly matches: number;
  readonly matchesAtEnd: number;
}

interface Transition {
  readonly next: number;
  readonly moves: readonly (readonly [number, Source])[];
}

/**
 * Undefined where it would have too many states.
 * @param required  looked for before anything else; undefined for nothing
 */
export function automatonOf(machine: ByteMachine, required: RequiredText | undefined): Automaton | undefined {
  return new AutomatonBuilder(machine, required).build();
}

class AutomatonBuilder {
  readonly #machine: ByteMachine;
  readonly #required: RequiredText | undefined;
  readonly #states: State[] = [];
  readonly #numbers = new Map<string, number>();
  #looks = 0;
  #isRefused = false;

  constructor(machine: ByteMachine, required: RequiredText | undefined) {
    this.#machine = machine;
    this.#required = required;
  }

  build(): Automaton | undefined {
    // Nothing leads out of state 0.
    this.#transitionTo([]);
    const seed: readonly Item[] = [{ step: this.#machine.first, marks: [NOWHERE, NOWHERE] }];
    const starts = [true, false].map((isStart) => this.#transitionTo(this.#closure(seed, isStart ? 'start' : 'within')));
    const classes = byteClasses(this.#machine.steps);
    const transitions: Transition[] = [];
    for (let number = 0; number < this.#states.length; number++) {
      const isLarge = this.#states.length > STATES_MAX || this.#states.length * classes.samples.length > CELLS_MAX;
      if (this.#isRefused || isLarge || this.#looks > LOOKS_MAX) return undefined;
      const { items = [] } = this.#states[number] ?? {};
      for (const byte of classes.samples) transitions.push(this.#after(items, byte));
    }
    return this.#isRefused ? undefined : written(this.#states, starts, transitions, classes, this.#required);
  }

  #after(items: readonly Item[], byte: number): Transition {
    const moved: Item[] = [];
    for (const { step, marks } of items) {
      const at = this.#machine.steps[step];
      if (at?.kind === 'byte' && at.from <= byte && byte <= at.to) moved.push({ step: at.next, marks });
    }
    return this.#transitionTo(this.#closure(moved, 'within'));
  }

  /** Steps that take a byte, ask for the end or match, which others lead to; none that a match is preferred to. */
  #closure(items: readonly Item[], place: 'start' | 'within' | 'end'): readonly Item[] {
    const seen = new Set<number>();
    const found: Item[] = [];
    const waiting = items.toReversed();
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const { step, marks } = item;
      const at = this.#machine.steps[step];
      if (seen.has(step) || at === undefined) continue;
      seen.add(step);
      this.#looks++;
      switch (at.kind) {
        case 'byte':
          if (place !== 'end') found.push(item);
          break;
        case 'branch':
          for (const next of at.nexts.toReversed()) waiting.push({ step: next, marks });
          break;
        case 'mark':
          waiting.push({ step: at.next, marks: at.mark === 0 ? [HERE, marks[1]] : [marks[0], HERE] });
          break;
        case 'start':
          if (place === 'start') waiting.push({ step: at.next, marks });
          // The end of an empty text is its start as well.
          else if (place === 'end') this.#isRefused = true;
          break;
        case 'end':
          if (place === 'end') waiting.push({ step: at.next, marks });
          else found.push(item);
          break;
        case 'match':
          found.push(item);
          return found;
      }
    }
    return found;
  }

  /** To the state of some steps, whose registers are numbered anew. */
  #transitionTo(items: readonly Item[]): Transition {
    const registers = new Map<Source, number>();
    const renumbered = items.map(({ step, marks }): Item => {
      const [first, last] = marks.map((source) => {
        if (source === NOWHERE) return NOWHERE;
        const register = registers.get(source) ?? registers.size;
        registers.set(source, register);
        return register;
      });
      return { step, marks: [first ?? NOWHERE, last ?? NOWHERE] };
    });
    if (registers.size >= SPARE) this.#isRefused = true;
    return { next: this.#stateOf(renumbered), moves: inOrder([...registers].map(([source, register]) => [register, source])) };
  }

  #stateOf(items: readonly Item[]): number {
    const key = items.map(({ step, marks }) => `${step} ${marks.join(' ')}`).join();
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.#states.push({ items, matches: this.#match(items), matchesAtEnd: this.#matchAtEnd(items) }) - 1;
      this.#numbers.set(key, number);
    }
    return number;
  }

  #match(items: readonly Item[]): number {
    const last = items.at(-1);
    return last !== undefined && this.#machine.steps[last.step]?.kind === 'match' ? matchOf(last) : 0;
  }

  #matchAtEnd(items: readonly Item[]): number {
    for (const { step, marks } of items) {
      const at = this.#machine.steps[step];
      const last = at?.kind === 'end' ? this.#closure([{ step: at.next, marks }], 'end').at(-1) : undefined;
      if (last !== undefined) return matchOf(last);
    }
    return 0;
  }
}

const [HERE_BYTE, NOWHERE_BYTE] = [0xfe, 0xff];

function matchOf({ marks }: Item): number {
  const [first, last] = marks.map(byteOf);
  return 1 | ((first ?? 0) << 8) | ((last ?? 0) << 16);
}

function byteOf(source: Source): number {
  return source === HERE ? HERE_BYTE : source === NOWHERE ? NOWHERE_BYTE : source;
}

type Move = readonly [to: number, from: Source];

/** Moves at once as moves one after the other. */
function inOrder(moves: readonly Move[]): readonly Move[] {
  const ordered: Move[] = [];
  let left = moves.filter(([to, from]) => from !== HERE && to !== from);
  while (left.length > 0) {
    const free = left.find(([to]) => !left.some(([, from]) => from === to));
    if (free !== undefined) {
      ordered.push(free);
      left = left.filter((each) => each !== free);
      continue;
    }
    const [[, first = 0] = []] = left;
    ordered.push([SPARE, first]);
    left = left.map(([to, from]): Move => [to, from === first ? SPARE : from]);
  }
  return [...ordered, ...moves.filter(([, from]) => from === HERE)];
}

/** Bytes that no step tells apart. */
interface ByteClasses {
  /** Number of its class, by byte. */
  readonly numbers: Uint8Array;
  /** A byte of each. */
  readonly samples: readonly number[];
}

function byteClasses(steps: readonly MachineStep[]): ByteClasses {
  const cuts = new Set<number>();
  for (const step of steps) if (step.kind === 'byte') cuts.add(step.from).add(step.to + 1);
  const numbers = new Uint8Array(256);
  const samples: number[] = [];
  const known = new Map<string, number>();
  let number = 0;
  for (let byte = 0; byte < 256; byte++) {
    if (byte === 0 || cuts.has(byte)) {
      const takers: number[] = [];
      steps.forEach((step, at) => {
        if (step.kind === 'byte' && step.from <= byte && byte <= step.to) takers.push(at);
      });
      const key = takers.join();
      number = known.get(key) ?? samples.push(byte) - 1;
      known.set(key, number);
    }
    numbers[byte] = number;
  }
  return { numbers, samples };
}

function written(
  states: readonly State[],
  starts: readonly Transition[],
  transitions: readonly Transition[],
  { numbers, samples }: ByteClasses,
  required: RequiredText | undefined,
): Automaton | undefined {
  // Word 0 stands for no moves.
  const moveWords: number[] = [0];
  const known = new Map<string, number>();
  const packed = ({ next, moves }: Transition): number => {
    const to = next | (states[next]?.matches === 0 ? 0 : MATCHES);
    if (moves.length === 0) return to;
    const key = moves.join(' ');
    let at = known.get(key);
    if (at === undefined) {
      at = moveWords.length;
      known.set(key, at);
      moveWords.push(moves.length);
      for (const [to, from] of moves) moveWords.push(to | (byteOf(from) << 8));
    }
    return (to | (at << 16)) >>> 0;
  };
  const cells = transitions.map(packed);
  const [atStart = 0, within = 0] = starts.map(packed);
  if (moveWords.length > MOVE_WORDS_MAX) return undefined;
  const matches = HEADER_WORDS + cells.length;
  const matchesAtEnd = matches + states.length;
  const movesAt = matchesAtEnd + states.length;
  const classesAt = movesAt + moveWords.length;
  const requiredAt = classesAt + numbers.length / 4;
  const text = required?.bytes ?? new Uint8Array();
  const registers = requiredAt + Math.ceil(text.length / 4);
  const words = new Uint32Array(registers + REGISTERS_MAX);
  words.set([samples.length, atStart, within, matches, matchesAtEnd, movesAt, classesAt, registers, requiredAt]);
  words[9] = (text.length | (required?.isFirst === true ? FIRST : 0)) >>> 0;
  words.set(cells, HEADER_WORDS);
  states.forEach((state, at) => {
    words[matches + at] = state.matches;
    words[matchesAtEnd + at] = state.matchesAtEnd;
  });
  words.set(moveWords, movesAt);
  words.set(new Uint32Array(numbers.buffer), classesAt);
  new Uint8Array(words.buffer).set(text, requiredAt * 4);
  return words;
}
