import { DAY_MS, dayOfDate, isLeap } from './calendar';
import { isAligned } from './lanes';
import { noteOther, size, start } from './text';

// Instants of texts that are written as a template, by reference (text.ts).

/** Bits of a step of a template; what they say is in the contract. */
@inline
const MAY_END: u32 = 1 << 31;
@inline
const MAY_END_IN_Z: u32 = 1 << 30;
@inline
const Z: u32 = 0x5a;
@inline
const UNKNOWN: i64 = i64.MIN_VALUE;

@inline
function daysInMonth(year: u32, month: u32): u32 {
  return month == 2 ? 28 + u32(isLeap(year)) : 30 + ((month + (month >> 3)) & 1);
}

function instantOf(text: u64, template: usize, steps: usize): i64 {
  if (text == 0) return UNKNOWN;
  let at = start(text);
  const end = at + size(text);
  let year: u32 = 0;
  let month: u32 = 1;
  let day: u32 = 1;
  let timeOfDay: u32 = 0;
  for (let i: usize = 0; i < steps; i++) {
    const step = load<u32>(template + (i << 2));
    if (at == end) {
      if ((step & MAY_END) == 0) return UNKNOWN;
      break;
    }
    const unit = (step >> 16) & 15;
    if (unit == 0) {
      const byte = <u32>load<u8>(at++);
      if (byte == (step & 255) || byte == ((step >> 8) & 255)) continue;
      if ((step & MAY_END_IN_Z) == 0 || byte != Z) return UNKNOWN;
      break;
    }
    const last = at + <usize>((step >> 20) & 15);
    if (last > end) return UNKNOWN;
    let value: u32 = 0;
    for (; at < last; at++) {
      const digit = <u32>load<u8>(at) - 0x30;
      if (digit > 9) return UNKNOWN;
      value = value * 10 + digit;
    }
    switch (unit) {
      case 1:
        year = value;
        break;
      case 2:
        month = value;
        break;
      case 3:
        day = value;
        break;
      case 4:
        if (value > 23) return UNKNOWN;
        timeOfDay += value * 3600000;
        break;
      case 5:
        if (value > 59) return UNKNOWN;
        timeOfDay += value * 60000;
        break;
      case 6:
        if (value > 59) return UNKNOWN;
        timeOfDay += value * 1000;
        break;
      default:
        timeOfDay += value;
    }
  }
  if (at != end || year == 0 || month - 1 > 11 || day == 0 || day > daysInMonth(year, month)) return UNKNOWN;
  return dayOfDate(<i32>year, month, day) * DAY_MS + <i64>timeOfDay;
}

export function textTimes(texts: usize, n: u32, template: usize, steps: u32, out: usize, others: usize): u32 {
  assert(isAligned<u64>(texts) && isAligned<u32>(template) && isAligned<i64>(out) && isAligned<u64>(others));
  let count: u32 = 0;
  let bits: u64 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const instant = instantOf(load<u64>(texts + (i << 3)), template, <usize>steps);
    const isOther = u64(instant == UNKNOWN);
    store<i64>(out + (i << 3), isOther != 0 ? 0 : instant);
    count += <u32>isOther;
    bits = noteOther(others, i, <usize>n, bits, isOther);
  }
  return count;
}
