// Reference kernel that takes lines of JSON apart.

import type { Address } from '../../base/layout.js';
import type { KernelMemory } from '../memory.js';
import { FIELD, NAME_RECORD_BYTES, ODD_NAME, ODD_ROW, SCAN_DEPTH_MAX, SCAN_STATE, type ScanKernels } from '../scan-contract.js';

const TAB = 9;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const CLOSE_LIST = 93;
const OPEN = 123;
const CLOSE = 125;
const RECORD_WORDS = NAME_RECORD_BYTES / 4;
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));
const LITERALS = [
  { kind: FIELD.null, bytes: Buffer.from('null') },
  { kind: FIELD.true, bytes: Buffer.from('true') },
  { kind: FIELD.false, bytes: Buffer.from('false') },
];

/** A value that was found: its kind, its bytes, and where the text goes on. */
interface FoundValue {
  readonly kind: number;
  readonly start: number;
  readonly end: number;
  readonly behind: number;
}

export function scanKernels(memory: KernelMemory): ScanKernels {
  return {
    scanJson(bytes, length, stateAt, nameBytes, namesAt, rowsAt, fieldsAt, rowsMax) {
      const text = memory.u8(bytes, length + 1);
      const state = memory.u32(stateAt, SCAN_STATE.words);
      const rows = memory.u32(rowsAt, rowsMax * 2);
      const names = new Names(memory, nameBytes, namesAt, state[SCAN_STATE.nameCount] ?? 0);
      state[SCAN_STATE.unknownStart] = 0;
      state[SCAN_STATE.unknownEnd] = 0;
      let at = state[SCAN_STATE.at] ?? 0;
      let row = state[SCAN_STATE.rows] ?? 0;
      while (at < length && row < rowsMax) {
        const start = at;
        at = skipSpace(text, at);
        if (text[at] === LINE_FEED) {
          at++;
          continue;
        }
        const stamp = (state[SCAN_STATE.stamp] ?? 0) + 1;
        state[SCAN_STATE.stamp] = stamp;
        const put = (column: number, { kind, start: from, end }: FoundValue): void => {
          const place = fieldsAt + column * rowsMax * 9;
          memory.i32(place + row * 4, 1)[0] = from;
          memory.i32(place + rowsMax * 4 + row * 4, 1)[0] = end;
          memory.u8(place + rowsMax * 8 + row, 1)[0] = kind;
        };
        const end = objectEnd(text, at, names, stamp, put);
        if (typeof end === 'object') {
          state[SCAN_STATE.unknownStart] = end.start;
          state[SCAN_STATE.unknownEnd] = end.end;
          at = start;
          break;
        }
        const feed = end === -1 ? text.indexOf(LINE_FEED, at) : end;
        rows[row * 2] = start;
        rows[row * 2 + 1] = end === -1 ? feed + ODD_ROW : feed;
        row++;
        at = feed + 1;
      }
      state[SCAN_STATE.at] = Math.min(at, length);
      return row;
    },
  };
}

/** The names that are known, found by a guess: the one that followed the one before it the last time. */
class Names {
  readonly #bytes: Uint8Array;
  readonly #records: Uint32Array;
  readonly #count: number;

  constructor(memory: KernelMemory, bytes: Address, records: Address, count: number) {
    this.#bytes = memory.u8(bytes);
    this.#records = memory.u32(records, count * RECORD_WORDS);
    this.#count = count;
  }

  /** @param last  the name before it in the row, -1 for none */
  find(text: Uint8Array, start: number, end: number, last: number): number {
    const guess = last < 0 ? 0 : (this.#records[last * RECORD_WORDS + 2] ?? 0);
    if (this.#isName(guess, text, start, end)) return guess;
    for (let name = 0; name < this.#count; name++)
      if (this.#isName(name, text, start, end)) {
        if (last >= 0) this.#records[last * RECORD_WORDS + 2] = name;
        return name;
      }
    return -1;
  }

  isOdd(name: number): boolean {
    return this.#records[name * RECORD_WORDS + 2] === ODD_NAME;
  }

  /** False when the name was seen under this stamp before. */
  see(name: number, stamp: number): boolean {
    const isNew = this.#records[name * RECORD_WORDS + 3] !== stamp;
    this.#records[name * RECORD_WORDS + 3] = stamp;
    return isNew;
  }

  #isName(name: number, text: Uint8Array, start: number, end: number): boolean {
    if (name >= this.#count || this.#records[name * RECORD_WORDS + 1] !== end - start) return false;
    const from = this.#records[name * RECORD_WORDS] ?? 0;
    for (let at = 0; at < end - start; at++) if (this.#bytes[from + at] !== text[start + at]) return false;
    return true;
  }
}

/** Position of the line feed behind the object; -1: the row is odd; the bounds of a name that is unknown. */
function objectEnd(
  text: Uint8Array,
  start: number,
  names: Names,
  stamp: number,
  put: (name: number, value: FoundValue) => void,
): number | { readonly start: number; readonly end: number } {
  if (text[start] !== OPEN) return -1;
  let at = skipSpace(text, start + 1);
  if (text[at] === CLOSE) return lineEnd(text, at + 1);
  let last = -1;
  let hasNested = false;
  let hasLong = false;
  for (;;) {
    if (text[at] !== QUOTE) return -1;
    const name = stringAt(text, at);
    if (name === null || name.kind === FIELD.escapedString) return -1;
    at = skipSpace(text, name.behind);
    if (text[at] !== COLON) return -1;
    const found = names.find(text, name.start, name.end, last);
    if (found < 0) return { start: name.start, end: name.end };
    if (names.isOdd(found) || !names.see(found, stamp)) return -1;
    last = found;
    const value = valueAt(text, skipSpace(text, at + 1));
    if (value === null) return -1;
    hasNested ||= value.kind === FIELD.nested;
    hasLong ||= value.kind === FIELD.number && isLongInteger(text, value.start, value.end);
    if (hasNested && hasLong) return -1;
    put(found, value);
    at = skipSpace(text, value.behind);
    if (text[at] === CLOSE) return lineEnd(text, at + 1);
    if (text[at] !== COMMA) return -1;
    at = skipSpace(text, at + 1);
  }
}

function lineEnd(text: Uint8Array, at: number): number {
  const end = skipSpace(text, at);
  return text[end] === LINE_FEED ? end : -1;
}

function skipSpace(text: Uint8Array, from: number): number {
  let at = from;
  while (text[at] === SPACE || text[at] === TAB || text[at] === CARRIAGE_RETURN) at++;
  return at;
}

function valueAt(text: Uint8Array, at: number): FoundValue | null {
  const first = text[at] ?? 0;
  if (first === QUOTE) return stringAt(text, at);
  if (first === OPEN || first === OPEN_LIST) {
    const behind = nestedEnd(text, at);
    return behind < 0 ? null : { kind: FIELD.nested, start: at, end: behind, behind };
  }
  return singleAt(text, at);
}

function singleAt(text: Uint8Array, at: number): FoundValue | null {
  for (const { kind, bytes } of LITERALS) {
    const behind = at + bytes.length;
    if (bytes.every((byte, i) => text[at + i] === byte)) return { kind, start: at, end: behind, behind };
  }
  const behind = numberEnd(text, at);
  return behind < 0 ? null : { kind: FIELD.number, start: at, end: behind, behind };
}

/** null: the string has a control character or a wrong escape, or does not end in its line. */
function stringAt(text: Uint8Array, quote: number): FoundValue | null {
  let kind: number = FIELD.string;
  for (let at = quote + 1; ; at++) {
    const byte = text[at] ?? 0;
    if (byte === QUOTE) return { kind, start: quote + 1, end: at, behind: at + 1 };
    if (byte < SPACE) return null;
    if (byte !== BACKSLASH) continue;
    kind = FIELD.escapedString;
    at++;
    if (text[at] === 0x75) {
      for (let digit = 0; digit < 4; digit++) if (!isHex(text[++at] ?? 0)) return null;
    } else if (!ESCAPED.has(text[at] ?? 0)) return null;
  }
}

function isHex(byte: number): boolean {
  const letter = byte | 32;
  return isDigit(byte) || (letter >= 97 && letter <= 102);
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

/** Position behind a number; -1: there is none. */
function numberEnd(text: Uint8Array, start: number): number {
  let at = text[start] === 45 ? start + 1 : start;
  const first = text[at] ?? 0;
  if (!isDigit(first)) return -1;
  at = first === 48 ? at + 1 : digitsEnd(text, at);
  if (text[at] === 46) {
    const fraction = at + 1;
    at = digitsEnd(text, fraction);
    if (at === fraction) return -1;
  }
  if (((text[at] ?? 0) | 32) === 101) {
    let exponent = at + 1;
    if (text[exponent] === 43 || text[exponent] === 45) exponent++;
    at = digitsEnd(text, exponent);
    if (at === exponent) return -1;
  }
  return at;
}

function digitsEnd(text: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(text[at] ?? 0)) at++;
  return at;
}

/** An integer that a double may not hold. */
function isLongInteger(text: Uint8Array, start: number, end: number): boolean {
  const digits = text[start] === 45 ? start + 1 : start;
  return end - digits >= 16 && digitsEnd(text, digits) === end;
}

/** Position behind an object or list; -1: it is not valid, too deep, or holds an integer that a double may not. */
function nestedEnd(text: Uint8Array, start: number): number {
  const isObject: boolean[] = [];
  let at = start;
  for (;;) {
    // A value is expected at `at`.
    const byte = text[at] ?? 0;
    if (byte === OPEN || byte === OPEN_LIST) {
      if (isObject.length === SCAN_DEPTH_MAX) return -1;
      isObject.push(byte === OPEN);
      at = skipSpace(text, at + 1);
      const close = byte === OPEN ? CLOSE : CLOSE_LIST;
      if (text[at] !== close) {
        if (byte === OPEN) at = memberValue(text, at);
        if (at < 0) return -1;
        continue;
      }
      isObject.pop();
      at++;
    } else if (byte === QUOTE) {
      const value = stringAt(text, at);
      if (value === null) return -1;
      at = value.behind;
    } else {
      const value = singleAt(text, at);
      if (value === null || (value.kind === FIELD.number && isLongInteger(text, value.start, value.end))) return -1;
      at = value.behind;
    }
    // The value is over; so may be what it is in.
    for (;;) {
      const inObject = isObject.at(-1);
      if (inObject === undefined) return at;
      at = skipSpace(text, at);
      const next = text[at] ?? 0;
      if (next === COMMA) {
        at = skipSpace(text, at + 1);
        if (inObject) at = memberValue(text, at);
        if (at < 0) return -1;
        break;
      }
      if (next !== (inObject ? CLOSE : CLOSE_LIST)) return -1;
      isObject.pop();
      at++;
    }
  }
}

/** Position of the value behind a member's name; -1: there is no name, or no colon. */
function memberValue(text: Uint8Array, at: number): number {
  if (text[at] !== QUOTE) return -1;
  const name = stringAt(text, at);
  if (name === null) return -1;
  const colon = skipSpace(text, name.behind);
  return text[colon] === COLON ? skipSpace(text, colon + 1) : -1;
}
