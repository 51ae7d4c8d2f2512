import { isAligned } from './lanes';

// Lines of JSON to rows of fields. A line feed stands behind the text and inside no value, so that it stops every loop. Functions return
// the address where the text goes on; 0: the row is odd.

const TAB: u32 = 9;
const LINE_FEED: u32 = 10;
const CARRIAGE_RETURN: u32 = 13;
const SPACE: u32 = 32;
const QUOTE: u32 = 34;
const COMMA: u32 = 44;
const COLON: u32 = 58;
const OPEN_LIST: u32 = 91;
const BACKSLASH: u32 = 92;
const CLOSE_LIST: u32 = 93;
const OPEN: u32 = 123;
const CLOSE: u32 = 125;

const NULL: u64 = 1;
const STRING: u64 = 2;
const ESCAPED: u64 = 3;
const NUMBER: u64 = 4;
const TRUE: u64 = 5;
const FALSE: u64 = 6;
const NESTED: u64 = 7;

const UNKNOWN: usize = 1;
const ODD_NAME: u32 = 0xffffffff;
const ODD_ROW: u32 = 0x80000000;
const DEPTH_MAX: i32 = 32;

/** A value: the address behind it, and its kind in the high half. */
@inline
function found(behind: usize, kind: u64): u64 {
  return <u64>behind | (kind << 32);
}

export function scanJson(bytes: usize, length: u32, state: usize, nameBytes: usize, names: usize, rows: usize, fields: usize, rowsMax: u32): u32 {
  assert(isAligned<u32>(state) && isAligned<u32>(names) && isAligned<u32>(rows) && isAligned<u64>(fields));
  assert((rowsMax & 63) == 0 && load<u8>(bytes + <usize>length) == LINE_FEED);
  const end = bytes + <usize>length;
  store<u64>(state, 0, 8);
  let at = bytes + <usize>load<u32>(state);
  let row = load<u32>(state, 20);
  while (at < end && row < rowsMax) {
    const start = at;
    at = skipSpace(at);
    if (load<u8>(at) == LINE_FEED) {
      at++;
      continue;
    }
    store<u32>(state, load<u32>(state, 16) + 1, 16);
    let feed = objectEnd(at, bytes, state, nameBytes, names, fields + (<usize>row << 2), <usize>rowsMax, <usize>row);
    if (feed == UNKNOWN) {
      at = start;
      break;
    }
    let odd: u32 = 0;
    if (feed == 0) {
      feed = lineFeed(at);
      odd = ODD_ROW;
    }
    store<u32>(rows + (<usize>row << 3), <u32>(start - bytes));
    store<u32>(rows + (<usize>row << 3), <u32>(feed - bytes) | odd, 4);
    row++;
    at = feed + 1;
  }
  store<u32>(state, <u32>(min(at, end) - bytes));
  return row;
}

function lineFeed(from: usize): usize {
  let at = from;
  while (load<u8>(at) != LINE_FEED) at++;
  return at;
}

@inline
function skipSpace(from: usize): usize {
  let at = from;
  let byte: u32 = load<u8>(at);
  while (byte == SPACE || byte == TAB || byte == CARRIAGE_RETURN) byte = load<u8>(++at);
  return at;
}

/** The address of the line feed behind the object. `cells`: the starts of the first name's fields at this row. */
function objectEnd(
  start: usize,
  bytes: usize,
  state: usize,
  nameBytes: usize,
  names: usize,
  cells: usize,
  rowsMax: usize,
  row: usize,
): usize {
  if (load<u8>(start) != OPEN) return 0;
  const nameCount = load<u32>(state, 4);
  const stamp = load<u32>(state, 16);
  let at = skipSpace(start + 1);
  if (load<u8>(at) == CLOSE) return lineEnd(at + 1);
  let last: i32 = -1;
  let mixed: u32 = 0; // 1: an object or list, 2: a long integer; not both
  while (true) {
    if (load<u8>(at) != QUOTE) return 0;
    const name = stringEnd(at);
    if (name >> 32 != STRING) return 0;
    const nameStart = at + 1;
    const nameEnd = <usize>(<u32>name) - 1;
    at = skipSpace(nameEnd + 1);
    if (load<u8>(at) != COLON) return 0;
    const column = findName(nameStart, nameEnd - nameStart, nameBytes, names, nameCount, last);
    if (column < 0) {
      store<u32>(state, <u32>(nameStart - bytes), 8);
      store<u32>(state, <u32>(nameEnd - bytes), 12);
      return UNKNOWN;
    }
    const record = names + (<usize>column << 4);
    if (load<u32>(record, 12) == stamp || load<u32>(record, 8) == ODD_NAME) return 0;
    store<u32>(record, stamp, 12);
    last = column;
    at = skipSpace(at + 1);
    const value = valueEnd(at);
    if (value == 0) return 0;
    const kind = value >> 32;
    const behind = <usize>(<u32>value);
    if (kind == NESTED) mixed |= 1;
    else if (kind == NUMBER && behind - at >= 16 && isLongInteger(at, behind)) mixed |= 2;
    if (mixed == 3) return 0;
    const inset: usize = kind == STRING || kind == ESCAPED ? 1 : 0;
    const plane = rowsMax * 9 * <usize>column;
    store<u32>(cells + plane, <u32>(at + inset - bytes));
    store<u32>(cells + plane + (rowsMax << 2), <u32>(behind - inset - bytes));
    store<u8>(cells + plane + (rowsMax << 3) - (row << 2) + row, <u8>kind);
    at = skipSpace(behind);
    const next: u32 = load<u8>(at);
    if (next == CLOSE) return lineEnd(at + 1);
    if (next != COMMA) return 0;
    at = skipSpace(at + 1);
  }
}

@inline
function lineEnd(from: usize): usize {
  const at = skipSpace(from);
  return load<u8>(at) == LINE_FEED ? at : 0;
}

/** First the name that followed the last one of the row the last time; -1: it is unknown. */
@inline
function findName(start: usize, length: usize, nameBytes: usize, names: usize, count: u32, last: i32): i32 {
  const guess: u32 = last < 0 ? 0 : load<u32>(names + (<usize>last << 4), 8);
  if (guess < count && isName(names + (<usize>guess << 4), nameBytes, start, length)) return guess;
  return findAnyName(start, length, nameBytes, names, count, last);
}

function findAnyName(start: usize, length: usize, nameBytes: usize, names: usize, count: u32, last: i32): i32 {
  for (let name: u32 = 0; name < count; name++) {
    if (!isName(names + (<usize>name << 4), nameBytes, start, length)) continue;
    if (last >= 0) store<u32>(names + (<usize>last << 4), name, 8);
    return name;
  }
  return -1;
}

@inline
function isName(record: usize, nameBytes: usize, start: usize, length: usize): bool {
  if (<usize>load<u32>(record, 4) != length) return false;
  const from = nameBytes + <usize>load<u32>(record);
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(from + at) != load<u64>(start + at)) return false;
  for (; at < length; at++) if (load<u8>(from + at) != load<u8>(start + at)) return false;
  return true;
}

function valueEnd(at: usize): u64 {
  const first: u32 = load<u8>(at);
  if (first == QUOTE) return stringEnd(at);
  if (first == OPEN || first == OPEN_LIST) {
    const behind = nestedEnd(at);
    return behind == 0 ? 0 : found(behind, NESTED);
  }
  return singleEnd(at);
}

function singleEnd(at: usize): u64 {
  const first: u32 = load<u8>(at);
  if (first == 0x6e || first == 0x74) {
    const word = load<u32>(at);
    if (word == 0x6c6c756e) return found(at + 4, NULL);
    return word == 0x65757274 ? found(at + 4, TRUE) : 0;
  }
  if (first == 0x66) return load<u32>(at, 1) == 0x65736c61 ? found(at + 5, FALSE) : 0;
  const behind = numberEnd(at);
  return behind == 0 ? 0 : found(behind, NUMBER);
}

/** 0: the string has a control character or a wrong escape, or does not end in its line. */
function stringEnd(quote: usize): u64 {
  let kind = STRING;
  let at = quote + 1;
  while (true) {
    at = specialByte(at);
    const byte: u32 = load<u8>(at);
    if (byte == QUOTE) return found(at + 1, kind);
    if (byte != BACKSLASH) return 0;
    kind = ESCAPED;
    const escape: u32 = load<u8>(++at);
    if (escape == 0x75) {
      for (let digit = 0; digit < 4; digit++) if (!isHex(load<u8>(++at))) return 0;
    } else if (!isEscape(escape)) return 0;
    at++;
  }
}

/** The first quote, backslash or control character. */
@inline
function specialByte(from: usize): usize {
  let at = from;
  if (ASC_FEATURE_SIMD) {
    while (true) {
      const lanes = v128.load(at);
      const special = v128.or(
        v128.or(i8x16.eq(lanes, i8x16.splat(<i8>QUOTE)), i8x16.eq(lanes, i8x16.splat(<i8>BACKSLASH))),
        i8x16.lt_u(lanes, i8x16.splat(<i8>SPACE)),
      );
      const bits = i8x16.bitmask(special);
      if (bits != 0) return at + <usize>ctz(bits);
      at += 16;
    }
  }
  let byte: u32 = load<u8>(at);
  while (byte != QUOTE && byte != BACKSLASH && byte >= SPACE) byte = load<u8>(++at);
  return at;
}

@inline
function isEscape(byte: u32): bool {
  return byte == QUOTE || byte == BACKSLASH || byte == 0x2f || byte == 0x62 || byte == 0x66 || byte == 0x6e || byte == 0x72 || byte == 0x74;
}

@inline
function isHex(byte: u32): bool {
  return isDigit(byte) || (byte | 32) - 97 < 6;
}

@inline
function isDigit(byte: u32): bool {
  return byte - 48 < 10;
}

/** 0: there is no number. */
function numberEnd(start: usize): usize {
  let at = load<u8>(start) == 45 ? start + 1 : start;
  const first: u32 = load<u8>(at);
  if (!isDigit(first)) return 0;
  at = first == 48 ? at + 1 : digitsEnd(at);
  let next: u32 = load<u8>(at);
  if (next == 46) {
    const fraction = at + 1;
    at = digitsEnd(fraction);
    if (at == fraction) return 0;
    next = load<u8>(at);
  }
  if ((next | 32) == 101) {
    let exponent = at + 1;
    const sign: u32 = load<u8>(exponent);
    if (sign == 43 || sign == 45) exponent++;
    at = digitsEnd(exponent);
    if (at == exponent) return 0;
  }
  return at;
}

@inline
function digitsEnd(from: usize): usize {
  let at = from;
  while (isDigit(load<u8>(at))) at++;
  return at;
}

/** An integer that a double may not hold. */
@inline
function isLongInteger(start: usize, end: usize): bool {
  const digits = load<u8>(start) == 45 ? start + 1 : start;
  return end - digits >= 16 && digitsEnd(digits) == end;
}

/** The address behind an object or list; 0: it is not valid, too deep, or holds an integer that a double may not. */
function nestedEnd(start: usize): usize {
  let objects: u32 = 0; // what is open, the innermost lowest: 1 an object, 0 a list
  let depth: i32 = 0;
  let at = start;
  while (true) {
    const byte: u32 = load<u8>(at);
    if (byte == OPEN || byte == OPEN_LIST) {
      if (depth == DEPTH_MAX) return 0;
      depth++;
      objects = (objects << 1) | (byte == OPEN ? 1 : 0);
      at = skipSpace(at + 1);
      if (load<u8>(at) != (byte == OPEN ? CLOSE : CLOSE_LIST)) {
        if (byte == OPEN) at = memberValue(at);
        if (at == 0) return 0;
        continue;
      }
      depth--;
      objects >>= 1;
      at++;
    } else {
      const value = byte == QUOTE ? stringEnd(at) : singleEnd(at);
      if (value == 0) return 0;
      const behind = <usize>(<u32>value);
      if (value >> 32 == NUMBER && isLongInteger(at, behind)) return 0;
      at = behind;
    }
    // The value is over; so may be what it is in.
    while (true) {
      if (depth == 0) return at;
      at = skipSpace(at);
      const next: u32 = load<u8>(at);
      if (next == COMMA) {
        at = skipSpace(at + 1);
        if ((objects & 1) == 1) at = memberValue(at);
        if (at == 0) return 0;
        break;
      }
      if (next != ((objects & 1) == 1 ? CLOSE : CLOSE_LIST)) return 0;
      depth--;
      objects >>= 1;
      at++;
    }
  }
}

/** The address of the value behind a member's name; 0: there is no name, or no colon. */
function memberValue(at: usize): usize {
  if (load<u8>(at) != QUOTE) return 0;
  const name = stringEnd(at);
  if (name == 0) return 0;
  const colon = skipSpace(<usize>(<u32>name));
  return load<u8>(colon) == COLON ? skipSpace(colon + 1) : 0;
}
