// The part of the kernel contract that matches texts with automata of regular expressions.

import type { Address } from '../base/layout.js';

/**
 * Words of an automaton, u32, which `base/pattern/automaton.ts` makes. A transition is the number of a state (15 bits), bit 15 where a
 * match ends there, and above the place of its moves among those of all, 0 for none: their number, and for each the register that is
 * written (8 bits) and the one that is read (8 bits; 0xfe: the address reached). A match is 0 for none, else 1 and the registers in which the wanted part
 * begins (bits 8 to 15) and ends (16 to 23), 0xfe the address reached, 0xff for a part that was not met. Nothing leads out of state 0.
 */
export const AUTOMATON = {
  /** Number of classes that bytes fall into. */
  classCount: 0,
  /** Transition to the first state at the start of a text, and within it. */
  atStart: 1,
  within: 2,
  /** Places, in words, of the matches by state, of those at the end of the text, of moves, classes by byte (256 bytes), and registers. */
  matches: 3,
  matchesAtEnd: 4,
  moves: 5,
  classes: 6,
  registers: 7,
  /** Place of a text that every match has, and its bytes: their number, 0 for none, and bit 31 where matches begin with it. */
  required: 8,
  requiredBytes: 9,
  /** Transitions by state and class. */
  transitions: 10,
} as const;

export const AUTOMATON_REGISTERS = 32;

/** Kernels over texts by reference, like `TextKernels`. They write to the registers of the automaton. */
export interface PatternKernels {
  /** Bits of the texts in which the pattern is found; 0 for null. The automaton wants no part. */
  readonly patternTest: (texts: Address, n: number, automaton: Address, out: Address) => void;
  /** The wanted part of the first match, of the same bytes; null where there is none. */
  readonly patternExtract: (texts: Address, n: number, automaton: Address, out: Address) => void;
  /** Every match replaced, from the left; texts without one stay as they are. The automaton wants all of a match, which is never empty. */
  readonly patternReplace: (
    texts: Address,
    n: number,
    automaton: Address,
    replacement: Address,
    replacementBytes: number,
    out: Address,
    buffer: Address,
  ) => void;
}
