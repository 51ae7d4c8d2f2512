import { isAligned } from './lanes';
import { noteOther, size, start, textOf } from './text';

// IPv4 addresses as texts by reference (text.ts), and as numbers of 32 bits.

@inline
const LENGTH_MIN: usize = 7;
@inline
const LENGTH_MAX: usize = 15;
@inline
const NO_ADDRESS: i64 = -1;

/** The number of `length` digits at the start of four bytes; above 255 where there are none, or more than three, or a leading zero. */
@inline
function partOf(bytes: u32, length: usize): u32 {
  if (length - 1 > 2) return 256;
  const shift = 32 - (<u32>length << 3);
  const digits = bytes << shift; // the last one in the highest byte
  const zeros: u32 = 0x30303030 << shift;
  const high: u32 = 0xf0f0f0f0 << shift;
  // Neither a digit nor one with 6 more leaves the upper half of its byte at 3.
  if ((digits & high) != zeros || ((digits + (<u32>0x06060606 << shift)) & high) != zeros) return 256;
  const values = digits - zeros;
  const number = ((values >> 8) & 15) * 100 + ((values >> 16) & 15) * 10 + (values >> 24);
  return number < (length == 3 ? 100 : length == 2 ? 10 : 0) ? 256 : number;
}

/** Bytes before the first dot of four; 4: there is none. */
@inline
function lengthTo(bytes: u32): usize {
  const others = bytes ^ 0x2e2e2e2e;
  return <usize>(ctz<u32>(~(((others & 0x7f7f7f7f) + 0x7f7f7f7f) | others | 0x7f7f7f7f)) >> 3);
}

function addressOf(text: u64): i64 {
  const length = size(text);
  if (text == 0 || length < LENGTH_MIN || length > LENGTH_MAX) return NO_ADDRESS;
  let at = start(text);
  const end = at + length;
  let address: u32 = 0;
  for (let i = 0; i < 3; i++) {
    const bytes = load<u32>(at);
    const digits = lengthTo(bytes);
    const part = partOf(bytes, digits);
    if (part > 255) return NO_ADDRESS;
    address = (address << 8) | part;
    at += digits + 1;
  }
  // A dot behind the text leaves no digits, or more than there may be.
  const last = partOf(load<u32>(at), end - at);
  return last > 255 ? NO_ADDRESS : <i64>((address << 8) | last);
}

export function textAddresses(texts: usize, n: u32, out: usize, others: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u64>(out) && isAligned<u64>(others));
  let count: u32 = 0;
  let bits: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const address = addressOf(load<u64>(texts + (i << 3)));
    const isOther = <u64>(address < 0);
    store<i64>(out + (i << 3), address < 0 ? 0 : address);
    count += <u32>isOther;
    bits = noteOther(others, i, <usize>n, bits, isOther);
  }
  return count;
}

/** Writes a number from 0 to 255 with a dot behind it; returns where that ends. */
@inline
function putPart(to: usize, part: u32): usize {
  const hundreds = (part * 41) >> 12;
  const rest = part - hundreds * 100;
  const tens = (rest * 103) >> 10;
  const left = u32(part < 100) + u32(part < 10);
  store<u32>(to, ((0x2e303030 | hundreds | (tens << 8) | ((rest - tens * 10) << 16)) >>> (left << 3)));
  return to + 4 - <usize>left;
}

export function textOfAddresses(values: usize, nulls: usize, n: u32, out: usize, buffer: usize): void {
  assert(isAligned<i64>(values) && isAligned<u64>(nulls) && isAligned<u64>(out));
  for (let i: usize = 0; i < <usize>n; i++) {
    const value = load<u64>(values + (i << 3));
    if (value >> 32 != 0 || (nulls != 0 && (load<u64>(nulls + ((i >> 6) << 3)) & (<u64>1 << (i & 63))) != 0)) {
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const address = <u32>value;
    let to = putPart(buffer, address >> 24);
    to = putPart(to, (address >> 16) & 255);
    to = putPart(to, (address >> 8) & 255);
    to = putPart(to, address & 255) - 1;
    store<u64>(out + (i << 3), textOf(buffer, to - buffer, 0));
    buffer = to;
  }
}
