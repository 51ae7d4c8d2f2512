// Reference kernels that match texts with automata.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { AUTOMATON } from '../pattern-contract.js';
import { writeBits } from './views.js';

const [HERE, NOWHERE] = [0xfe, 0xff];
const WIDE = 0x80000000;

/** Addresses at which the wanted part of a match begins and ends; null for a part that was not met. */
type Part = readonly [number | null, number | null];

export function patternKernels(memory: KernelMemory) {
  const word = (at: Address, place: number): number => memory.u32(at + place * 4, 1)[0] ?? 0;

  /** The first match in [at, end); undefined where there is none. */
  const find = (automaton: Address, from: Address, end: Address, first: number): Part | undefined => {
    const registers: number[] = [];
    const partOf = (match: number, at: Address): Part => {
      const [start = null, last = null] = [(match >> 8) & 0xff, (match >> 16) & 0xff].map((register) =>
        register === NOWHERE ? null : register === HERE ? at : (registers[register] ?? 0),
      );
      return [start, last];
    };
    let found: Part | undefined;
    let cell = word(automaton, first);
    for (let at = from; ; at++) {
      const state = cell & 0x7fff;
      const moves = cell >>> 16;
      const list = word(automaton, AUTOMATON.moves) + moves;
      for (let index = 0; moves !== 0 && index < word(automaton, list); index++) {
        const move = word(automaton, list + 1 + index);
        registers[move & 0xff] = move >> 8 === HERE ? at : (registers[move >> 8] ?? 0);
      }
      const match = word(automaton, word(automaton, AUTOMATON.matches) + state);
      if (match !== 0) found = partOf(match, at);
      if (state === 0) return found;
      if (at === end) {
        const last = word(automaton, word(automaton, AUTOMATON.matchesAtEnd) + state);
        return last === 0 ? found : partOf(last, at);
      }
      const [byte = 0] = memory.u8(at, 1);
      const [number = 0] = memory.u8(automaton + word(automaton, AUTOMATON.classes) * 4 + byte, 1);
      cell = word(automaton, AUTOMATON.transitions + state * word(automaton, AUTOMATON.classCount) + number);
    }
  };
  const textAt = (texts: Address, i: number): { readonly at: Address; readonly end: Address; readonly wide: number } | null => {
    const [at = 0, high = 0] = memory.u32(texts + i * 8, 2);
    return at === 0 ? null : { at, end: at + (high & ~WIDE), wide: (high & WIDE) >>> 0 };
  };
  const put = (out: Address, i: number, at: Address, length: number, wide: number): void => {
    memory.u32(out + i * 8, 2).set([at, (length | wide) >>> 0]);
  };

  return {
    patternTest(texts: Address, n: number, automaton: Address, out: Address) {
      writeBits(memory, out, n, (i) => {
        const text = textAt(texts, i);
        return text !== null && find(automaton, text.at, text.end, AUTOMATON.atStart) !== undefined;
      });
    },
    patternExtract(texts: Address, n: number, automaton: Address, out: Address) {
      for (let i = 0; i < n; i++) {
        const text = textAt(texts, i);
        const [start = null, end = null] = (text === null ? undefined : find(automaton, text.at, text.end, AUTOMATON.atStart)) ?? [];
        if (text === null || start === null || end === null) memory.u32(out + i * 8, 2).fill(0);
        else put(out, i, start, end - start, text.wide);
      }
    },
    patternReplace(
      texts: Address,
      n: number,
      automaton: Address,
      replacement: Address,
      replacementBytes: number,
      out: Address,
      buffer: Address,
    ) {
      const bytes = memory.u8(replacement, replacementBytes).slice();
      let free = buffer;
      const write = (more: Uint8Array): void => {
        memory.u8(free, more.length).set(more);
        free += more.length;
      };
      for (let i = 0; i < n; i++) {
        const text = textAt(texts, i);
        let match = text === null ? undefined : find(automaton, text.at, text.end, AUTOMATON.atStart);
        if (text === null || match === undefined) {
          memory.u32(out + i * 8, 2).set(memory.u32(texts + i * 8, 2).slice());
          continue;
        }
        const first = free;
        let { at } = text;
        for (; match !== undefined; match = find(automaton, at, text.end, AUTOMATON.within)) {
          write(memory.u8(at, (match[0] ?? at) - at).slice());
          write(bytes);
          at = match[1] ?? at;
        }
        write(memory.u8(at, text.end - at).slice());
        put(out, i, first, free - first, text.wide | (bytes.some((byte) => byte > 127) ? WIDE : 0));
      }
    },
  };
}
