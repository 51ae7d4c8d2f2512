import { bitsWithin, isAligned, lowBits } from './lanes';

@inline
const AND: i32 = 0;
@inline
const OR: i32 = 1;
@inline
const AND_NOT: i32 = 2;

@inline
function combine(operation: i32, a: usize, b: usize, words: u32, out: usize): void {
  assert(isAligned<u64>(a) && isAligned<u64>(b) && isAligned<u64>(out));
  const end = <usize>words << 3;
  let at: usize = 0;
  if (ASC_FEATURE_SIMD) {
    for (; at + 16 <= end; at += 16) {
      const left = v128.load(a + at);
      const right = v128.load(b + at);
      v128.store(out + at, operation == AND ? v128.and(left, right) : operation == OR ? v128.or(left, right) : v128.andnot(left, right));
    }
  }
  for (; at < end; at += 8) {
    const left = load<u64>(a + at);
    const right = load<u64>(b + at);
    store<u64>(out + at, operation == AND ? left & right : operation == OR ? left | right : left & ~right);
  }
}

export function bitsAnd(a: usize, b: usize, words: u32, out: usize): void {
  combine(AND, a, b, words, out);
}

export function bitsOr(a: usize, b: usize, words: u32, out: usize): void {
  combine(OR, a, b, words, out);
}

export function bitsAndNot(a: usize, b: usize, words: u32, out: usize): void {
  combine(AND_NOT, a, b, words, out);
}

export function bitsNot(a: usize, rows: u32, out: usize): void {
  assert(isAligned<u64>(a) && isAligned<u64>(out));
  for (let row: u32 = 0; row < rows; row += 64) {
    let bits = ~load<u64>(a + (<usize>row >> 3));
    if (rows - row < 64) bits &= lowBits(rows - row);
    store<u64>(out + (<usize>row >> 3), bits);
  }
}

export function bitsFill(out: usize, words: u32, start: u32, end: u32): void {
  assert(isAligned<u64>(out));
  memory.fill(out, 0, <usize>words << 3);
  end = min<u32>(end, words << 6);
  if (start >= end) return;
  for (let word = start >> 6; word <= (end - 1) >> 6; word++) store<u64>(out + (<usize>word << 3), bitsWithin(-1, word, start, end));
}

export function bitsCount(a: usize, words: u32): u32 {
  assert(isAligned<u64>(a));
  const end = a + (<usize>words << 3);
  let first: u64 = 0;
  let second: u64 = 0;
  let at = a;
  for (; at + 16 <= end; at += 16) {
    first += popcnt<u64>(load<u64>(at));
    second += popcnt<u64>(load<u64>(at, 8));
  }
  if (at < end) first += popcnt<u64>(load<u64>(at));
  return <u32>(first + second);
}

export function bitsToRows(a: usize, start: u32, end: u32, out: usize): u32 {
  assert(isAligned<u64>(a) && isAligned<u32>(out));
  if (start >= end) return 0;
  let to = out;
  const last = (end - 1) >> 6;
  for (let word = start >> 6; word <= last; word++) {
    let bits = bitsWithin(load<u64>(a + (<usize>word << 3)), word, start, end);
    const first = word << 6;
    for (; bits != 0; bits &= bits - 1) {
      store<u32>(to, first + <u32>ctz<u64>(bits));
      to += 4;
    }
  }
  return <u32>((to - out) >> 2);
}

export function bitsMark(ids: usize, count: u32, out: usize): void {
  assert(isAligned<u32>(ids) && isAligned<u64>(out));
  const end = ids + (<usize>count << 2);
  for (let at = ids; at < end; at += 4) {
    const id = load<u32>(at);
    const word = out + ((<usize>id >> 5) << 2);
    store<u32>(word, load<u32>(word) | (1 << (id & 31)));
  }
}
