import { find as findText } from './dictionary';
import { isAligned } from './lanes';
import { copy, isWide, size, start, textOf, WIDE } from './text';

// Matches with automata of regular expressions, which read each byte once; their words are in src/kernels/pattern-contract.ts.

const HERE: u32 = 0xfe;
const NOWHERE: u32 = 0xff;
const STATE: u32 = 0x7fff;
/** Bytes of the words before the transitions. */
const TRANSITIONS: usize = 40;
const FIRST: u32 = 1 << 31;

/** The wanted part of the match that was found last, 0 where that has none. */
let foundStart: usize = 0;
let foundEnd: usize = 0;

/** Address of what lies at the place that a word of the automaton says. */
@inline
function part(automaton: usize, word: usize): usize {
  return automaton + (<usize>load<u32>(automaton + (word << 2)) << 2);
}

function move(automaton: usize, cell: u32, at: usize): void {
  const registers = part(automaton, 7);
  let next = part(automaton, 5) + (<usize>(cell >> 16) << 2);
  for (let left = load<u32>(next); left > 0; left--) {
    next += 4;
    const each = load<u32>(next);
    const from = (each >> 8) & 0xff;
    store<u32>(registers + (<usize>(each & 0xff) << 2), from == HERE ? <u32>at : load<u32>(registers + (<usize>from << 2)));
  }
}

@inline
function placeOf(automaton: usize, register: u32, at: usize): usize {
  if (register == NOWHERE) return 0;
  return register == HERE ? at : <usize>load<u32>(part(automaton, 7) + (<usize>register << 2));
}

function mark(automaton: usize, match: u32, at: usize): void {
  foundStart = placeOf(automaton, (match >> 8) & 0xff, at);
  foundEnd = placeOf(automaton, (match >> 16) & 0xff, at);
}

/** The place in [at, end) from which a match is looked for: that of the text that all have, or `at`; 0 where there is none. */
@inline
function firstPlace(automaton: usize, at: usize, end: usize): usize {
  const word = load<u32>(automaton, 36);
  const bytes = <usize>(word & ~FIRST);
  if (bytes == 0) return at;
  if (end - at < bytes) return 0;
  const found = findText(at, end, part(automaton, 8), <u32>bytes);
  if (end - found < bytes) return 0;
  return (word & FIRST) != 0 ? found : at;
}

/** Whether the pattern is found in [from, end). */
function isFound(automaton: usize, from: usize, end: usize): bool {
  let at = firstPlace(automaton, from, end);
  if (at == 0) return false;
  const classes = part(automaton, 6);
  const cells = automaton + TRANSITIONS;
  const count = load<u32>(automaton);
  let cell = load<u32>(automaton + (at == from ? 4 : 8));
  for (; at < end; at++) {
    // 0: nothing leads to a match any more.
    if (cell - 1 >= STATE) return cell != 0;
    cell = load<u32>(cells + (<usize>((cell & STATE) * count + load<u8>(classes + <usize>load<u8>(at))) << 2));
  }
  if (cell - 1 >= STATE) return cell != 0;
  return load<u32>(part(automaton, 4) + (<usize>cell << 2)) != 0;
}

/** The first match in [from, end), whose wanted part is marked. @param word  of the transition to the first state */
function find(automaton: usize, from: usize, end: usize, word: usize): bool {
  let at = firstPlace(automaton, from, end);
  if (at == 0) return false;
  const classes = part(automaton, 6);
  const cells = automaton + TRANSITIONS;
  const count = load<u32>(automaton);
  let cell = load<u32>(automaton + (at == from ? word << 2 : 8));
  let found = false;
  for (;;) {
    if (cell - 1 >= STATE) {
      if (cell == 0) return found;
      if (cell >> 16 != 0) move(automaton, cell, at);
      if ((cell & (STATE + 1)) != 0) {
        mark(automaton, load<u32>(part(automaton, 3) + (<usize>(cell & STATE) << 2)), at);
        found = true;
      }
    }
    if (at >= end) break;
    cell = load<u32>(cells + (<usize>((cell & STATE) * count + load<u8>(classes + <usize>load<u8>(at))) << 2));
    at++;
  }
  // A match that goes on until the end is preferred to what was found before.
  const last = load<u32>(part(automaton, 4) + (<usize>(cell & STATE) << 2));
  if (last == 0) return found;
  mark(automaton, last, at);
  return true;
}

export function patternTest(texts: usize, n: u32, automaton: usize, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(automaton) && isAligned<u64>(out));
  for (let first: u32 = 0; first < n; first += 64) {
    const rows = min<u32>(64, n - first);
    let word: u64 = 0;
    for (let row: u32 = 0; row < rows; row++) {
      const text = load<u64>(texts + (<usize>(first + row) << 3));
      if (text != 0) word |= <u64>isFound(automaton, start(text), start(text) + size(text)) << row;
    }
    store<u64>(out + (<usize>(first >> 6) << 3), word);
  }
}

export function patternExtract(texts: usize, n: u32, automaton: usize, out: usize): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(automaton) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    const isThere = text != 0 && find(automaton, start(text), start(text) + size(text), 1) && foundStart != 0 && foundEnd != 0;
    store<u64>(out + (i << 3), isThere ? textOf(foundStart, foundEnd - foundStart, text & WIDE) : 0);
  }
}

export function patternReplace(
  texts: usize, n: u32, automaton: usize, replacement: usize, replacementBytes: u32, out: usize, buffer: usize,
): void {
  assert(isAligned<u64>(texts) && isAligned<u32>(automaton) && isAligned<u64>(out));
  const wide: u64 = isWide(replacement, <usize>replacementBytes) ? WIDE : 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const text = load<u64>(texts + (i << 3));
    let at = start(text);
    const end = at + size(text);
    if (text == 0 || !find(automaton, at, end, 1)) {
      store<u64>(out + (i << 3), text);
      continue;
    }
    let to = buffer;
    do {
      copy(to, at, foundStart - at);
      to += foundStart - at;
      copy(to, replacement, <usize>replacementBytes);
      to += <usize>replacementBytes;
      at = foundEnd;
    } while (find(automaton, at, end, 2));
    copy(to, at, end - at);
    to += end - at;
    store<u64>(out + (i << 3), textOf(buffer, to - buffer, (text & WIDE) | wide));
    buffer = to;
  }
}
