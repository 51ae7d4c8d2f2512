import { civil, DAY_MS, dayOf } from './calendar';
import { isAligned } from './lanes';
import { copy, textOf } from './text';

// Texts of instants on a wall clock, all of one length: a template with fields of digits in it.

/** Wall clocks of the years 0 to 9999. */
@inline
const FIRST: i64 = -62167219200000;
@inline
const END: i64 = 253402300800000;

/** Both digits of a number below 100, the first in the lowest byte. */
@inline
function twoDigits(x: u32): u32 {
  const tens = (x * 103) >> 10;
  return 0x3030 | tens | ((x - tens * 10) << 8);
}

export function textOfTimes(values: usize, nulls: usize, n: u32, template: usize, length: u32, fields: usize, fieldCount: u32, out: usize, buffer: usize): u32 {
  assert(isAligned<i64>(values) && isAligned<u64>(nulls) && isAligned<u32>(fields) && isAligned<u64>(out));
  const bytes = <usize>length;
  const lastField = fields + (<usize>fieldCount << 2);
  let others: u32 = 0;
  let today: i64 = i64.MIN_VALUE;
  let year: u32 = 0;
  let month: u32 = 0;
  let dayOfMonth: u32 = 0;
  for (let i: usize = 0; i < <usize>n; i++) {
    const value = load<i64>(values + (i << 3));
    const isNull = nulls != 0 && (load<u64>(nulls + ((i >> 6) << 3)) & (<u64>1 << (i & 63))) != 0;
    if (isNull || value < FIRST || value >= END) {
      others += u32(!isNull);
      store<u64>(out + (i << 3), 0);
      continue;
    }
    const day = dayOf(value);
    if (day != today) {
      today = day;
      const date = civil(day);
      const years = <u32>(date >> 18);
      const hundreds = years / 100;
      year = twoDigits(hundreds) | (twoDigits(years - hundreds * 100) << 16);
      month = twoDigits(<u32>(date >> 14) & 15);
      dayOfMonth = twoDigits(<u32>(date >> 9) & 31);
    }
    const time = <u32>(value - day * DAY_MS);
    const seconds = time / 1000;
    const minutes = seconds / 60;
    const hours = minutes / 60;
    copy(buffer, template, bytes);
    for (let field = fields; field < lastField; field += 4) {
      const to = buffer + <usize>load<u16>(field, 2);
      switch (load<u16>(field)) {
        case 0: {
          store<u32>(to, year);
          break;
        }
        case 1: {
          store<u16>(to, <u16>month);
          break;
        }
        case 2: {
          store<u16>(to, <u16>dayOfMonth);
          break;
        }
        case 3: {
          store<u16>(to, <u16>twoDigits(hours));
          break;
        }
        case 4: {
          store<u16>(to, <u16>twoDigits(minutes - hours * 60));
          break;
        }
        case 5: {
          store<u16>(to, <u16>twoDigits(seconds - minutes * 60));
          break;
        }
        default: {
          const milliseconds = time - seconds * 1000;
          const tens = milliseconds / 10;
          store<u16>(to, <u16>twoDigits(tens));
          store<u8>(to, <u8>(milliseconds - tens * 10 + 0x30), 2);
        }
      }
    }
    store<u64>(out + (i << 3), textOf(buffer, bytes, 0));
    buffer += bytes;
  }
  return others;
}
