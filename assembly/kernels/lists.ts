import { END, escape, NULL, PRESENT, SIGN } from './arrays';
import { hexadecimal } from './hexadecimal';
import { compareTexts } from './join';
import { isAligned } from './lanes';
import { copy, textOf, WIDE } from './text';

// Lists of values by group: sizes, order and texts of the entries that list-contract.ts lays out.

// Forms of `listTexts`.
@inline
const JOINED: u32 = 0;
@inline
const STRINGS: u32 = 1;
@inline
export const DOUBLES: u32 = 3;


/** Bytes of a number or a null, as limits of lists count them. */
@inline
const PLAIN_BYTES: u32 = 8;
/** Lists of up to so many are sorted by insertion. */
@inline
const FEW: usize = 16;

@inline
function added(sum: u32, more: u32): u32 {
  const whole = sum + more;
  return whole < sum ? <u32>-1 : whole;
}

export function listSizes(keys: usize, n: u32, words: u32, entries: usize, state: usize, most: usize): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(state) && isAligned<u32>(most) && (words == 1 || words == 2));
  let elementsMost = load<u32>(most);
  let bytesMost = load<u32>(most, 4);
  const step = <usize>words << 3;
  for (let at = keys, end = keys + <usize>n * step; at < end; at += step) {
    const id = load<u32>(at, 4);
    const to = state + (<usize>load<u32>(at) << 3);
    const elements = load<u32>(to) + 1;
    const bytes = added(load<u32>(to, 4), words == 2 || id == 0 ? PLAIN_BYTES : load<u32>(entries + (<usize>id << 3), 4));
    store<u32>(to, elements);
    store<u32>(to, bytes, 4);
    elementsMost = max(elementsMost, elements);
    bytesMost = max(bytesMost, bytes);
  }
  store<u32>(most, elementsMost);
  store<u32>(most, bytesMost, 4);
}

/** Whether the entry of a row comes before that of another. */
@inline
function isLess(keys: usize, words: u32, entries: usize, row: u32, other: u32): bool {
  if (words == 2) {
    const a = keys + (<usize>row << 4);
    const b = keys + (<usize>other << 4);
    const nullA = load<u32>(a, 4);
    const nullB = load<u32>(b, 4);
    return nullA != nullB ? nullA > nullB : load<i64>(a, 8) < load<i64>(b, 8);
  }
  const a = load<u32>(keys + (<usize>row << 3), 4);
  const b = load<u32>(keys + (<usize>other << 3), 4);
  if (a == 0 || b == 0) return a == 0 && b != 0;
  const textA = entries + (<usize>a << 3);
  const textB = entries + (<usize>b << 3);
  return compareTexts(<usize>load<u32>(textA), load<u32>(textA, 4), <usize>load<u32>(textB), load<u32>(textB, 4)) < 0;
}

/** Lets the row at a place of a heap of `count` rows sink below those that come after it. */
function sink(keys: usize, words: u32, entries: usize, rows: usize, from: usize, count: usize): void {
  const row = load<u32>(rows + (from << 2));
  let place = from;
  for (let child: usize = 2 * place + 1; child < count; child = 2 * place + 1) {
    let last = load<u32>(rows + (child << 2));
    if (child + 1 < count) {
      const next = load<u32>(rows + (child << 2), 4);
      if (isLess(keys, words, entries, last, next)) {
        last = next;
        child++;
      }
    }
    if (!isLess(keys, words, entries, row, last)) break;
    store<u32>(rows + (place << 2), last);
    place = child;
  }
  store<u32>(rows + (place << 2), row);
}

export function listSort(keys: usize, words: u32, entries: usize, starts: usize, count: u32, rows: usize): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(starts) && isAligned<u32>(rows) && (words == 1 || words == 2));
  for (let list: usize = 0; list < <usize>count; list++) {
    const first = rows + (<usize>load<u32>(starts + (list << 2)) << 2);
    const length = ((rows + (<usize>load<u32>(starts + (list << 2), 4) << 2)) - first) >> 2;
    if (length <= FEW) {
      for (let at: usize = 1; at < length; at++) {
        const row = load<u32>(first + (at << 2));
        let place = first + (at << 2);
        for (; place > first && isLess(keys, words, entries, row, load<u32>(place - 4)); place -= 4) store<u32>(place, load<u32>(place - 4));
        store<u32>(place, row);
      }
      continue;
    }
    for (let at = length >> 1; at > 0; at--) sink(keys, words, entries, first, at - 1, length);
    for (let end = length - 1; end > 0; end--) {
      const last = load<u32>(first + (end << 2));
      store<u32>(first + (end << 2), load<u32>(first));
      store<u32>(first, last);
      sink(keys, words, entries, first, 0, end);
    }
  }
}

@inline
function digits(value: u64, to: usize): void {
  store<u64>(to, hexadecimal(<u32>(value >> 32)));
  store<u64>(to, hexadecimal(<u32>value), 8);
}

/** Numbers as unsigned ones of the same order; NaN is one value. */
@inline
function sortable(bits: u64, form: u32): u64 {
  if (form != DOUBLES) return bits ^ SIGN;
  if ((bits & ~SIGN) > 0x7ff0000000000000) return 0xfff8000000000000;
  return (bits & SIGN) == 0 ? bits | SIGN : ~bits;
}

/** Writes a number, or a null, as an array has it. Returns the end. */
@inline
export function numberText(isNull: bool, bits: u64, form: u32, to: usize): usize {
  if (isNull) {
    store<u8>(to, NULL);
    return to + 1;
  }
  store<u8>(to, PRESENT);
  digits(sortable(bits, form), to + 1);
  store<u8>(to, END, 17);
  return to + 18;
}

export function listTexts(
  keys: usize, words: u32, entries: usize, starts: usize, rows: usize, groups: usize, n: u32,
  form: u32, separator: usize, separatorBytes: u32, out: usize, buffer: usize,
): void {
  assert(isAligned<u64>(keys) && isAligned<u32>(starts) && isAligned<u32>(rows) && isAligned<u32>(groups) && isAligned<u64>(out));
  let to = buffer;
  for (let i: usize = 0; i < <usize>n; i++) {
    const list = starts + (<usize>load<u32>(groups + (i << 2)) << 2);
    const first = rows + (<usize>load<u32>(list) << 2);
    const end = rows + (<usize>load<u32>(list, 4) << 2);
    const from = to;
    for (let at = first; at < end; at += 4) {
      const key = keys + ((<usize>load<u32>(at) * <usize>words) << 3);
      const half = load<u32>(key, 4);
      if (words == 2) {
        to = numberText(half != 0, load<u64>(key, 8), form, to);
        continue;
      }
      const text = <usize>load<u32>(entries + (<usize>half << 3));
      const length = <usize>load<u32>(entries + (<usize>half << 3), 4);
      if (form == JOINED) {
        if (at > first) {
          copy(to, separator, <usize>separatorBytes);
          to += <usize>separatorBytes;
        }
        copy(to, text, length);
        to += length;
      } else if (half == 0) store<u8>(to++, NULL);
      else {
        store<u8>(to, PRESENT);
        to = escape(text, length, to + 1);
        store<u8>(to++, END);
      }
    }
    store<u64>(out + (i << 3), first == end ? 0 : textOf(from, to - from, words == 1 ? WIDE : 0));
  }
}
