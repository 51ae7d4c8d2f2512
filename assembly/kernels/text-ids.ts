import { isAligned } from './lanes';

// Texts of input to the ids of a dictionary that grows (src/kernels/text-id-contract.ts draws its table). Loads of 8 bytes may run past a text.

const BATCH: u32 = 128;

/** A step of the hash: two secret multipliers, and the high half folded down in between. */
@inline
function mixed(word: u64, first: u64, second: u64): u64 {
  let hash = word * first;
  hash = (hash ^ (hash >> 32)) * second;
  return hash ^ (hash >> 32);
}

/** The last bytes of a text, fewer than eight, with zeros behind. */
@inline
function lastBytes(at: usize, count: usize): u64 {
  return load<u64>(at) & (<u64>-1 >> (64 - (<u64>count << 3)));
}

@inline
function hashOfText(text: usize, length: usize, seed: u64, first: u64, second: u64): u32 {
  let hash = seed;
  const end = text + length;
  let at = text;
  for (; at + 8 <= end; at += 8) hash = mixed(hash ^ load<u64>(at), first, second);
  if (at < end) hash = mixed(hash ^ lastBytes(at, end - at), first, second);
  return <u32>mixed(hash ^ <u64>length, first, second);
}

@inline
function isSameText(a: usize, b: usize, length: usize): bool {
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) if (load<u64>(a + at) != load<u64>(b + at)) return false;
  return at == length || lastBytes(a + at, length - at) == lastBytes(b + at, length - at);
}

@inline
function rowAt(rows: usize, at: u32): usize {
  return rows == 0 ? <usize>at : <usize>load<u32>(rows + (<usize>at << 2));
}

export function textIds(bytes: usize, starts: usize, ends: usize, rows: usize, from: u32, count: u32, table: usize, ids: usize): u32 {
  assert(isAligned<u32>(starts) && isAligned<u32>(ends) && isAligned<u32>(rows) && isAligned<u64>(table) && isAligned<u32>(ids));
  for (let batch = from; batch < count; batch += BATCH) {
    const end = min(batch + BATCH, count);
    hashTexts(bytes, starts, ends, rows, batch, end, table, ids);
    touchSlots(batch, end, table, ids);
    const done = findTexts(bytes, starts, ends, rows, batch, end, table, ids);
    if (done < end) return done;
  }
  return count;
}

/** Hashes of the texts where their ids will be. */
function hashTexts(bytes: usize, starts: usize, ends: usize, rows: usize, from: u32, to: u32, table: usize, ids: usize): void {
  const seed = load<u64>(table, 32);
  const first = load<u64>(table, 40);
  const second = load<u64>(table, 48);
  for (let at = from; at < to; at++) {
    const place = rowAt(rows, at) << 2;
    const start = load<i32>(starts + place);
    const end = load<i32>(ends + place);
    const hash = end < 0 ? 0 : hashOfText(bytes + <usize>start, <usize>(end - start), seed, first, second);
    store<u32>(ids + (<usize>at << 2), hash);
  }
}

/** Reads the slots of the hashes, and the first bytes of their texts: the processor waits for all of them side by side, and no search for one after the other. */
function touchSlots(from: u32, to: u32, table: usize, ids: usize): void {
  const slots = <usize>load<u32>(table);
  const mask = load<u32>(table, 4) - 1;
  const arena = <usize>load<u32>(table, 8);
  let touched: u32 = 0;
  for (let at = from; at < to; at++) touched ^= load<u32>(slots + (<usize>(load<u32>(ids + (<usize>at << 2)) & mask) << 4));
  for (let at = from; at < to; at++)
    touched ^= load<u8>(arena + <usize>load<u32>(slots + (<usize>(load<u32>(ids + (<usize>at << 2)) & mask) << 4), 8));
  // Kept, or the compiler would leave out the reading.
  store<u32>(table, touched, 60);
}

function findTexts(bytes: usize, starts: usize, ends: usize, rows: usize, from: u32, to: u32, table: usize, ids: usize): u32 {
  const slots = <usize>load<u32>(table);
  const mask = load<u32>(table, 4) - 1;
  const arena = <usize>load<u32>(table, 8);
  for (let at = from; at < to; at++) {
    const place = rowAt(rows, at) << 2;
    const end = load<i32>(ends + place);
    const out = ids + (<usize>at << 2);
    if (end < 0) {
      store<u32>(out, 0);
      continue;
    }
    const start = load<i32>(starts + place);
    const text = bytes + <usize>start;
    const length = <u32>(end - start);
    const hash = load<u32>(out);
    let slot = slots + (<usize>(hash & mask) << 4);
    let id = load<u32>(slot, 4);
    while (id != 0) {
      if (load<u32>(slot) == hash && load<u32>(slot, 12) == length && isSameText(arena + <usize>load<u32>(slot, 8), text, length)) break;
      slot = slots + (((slot - slots) + 16) & ((<usize>mask << 4) | 15));
      id = load<u32>(slot, 4);
    }
    if (id == 0) {
      id = addText(text, length, hash, slot, table);
      if (id == 0) return at;
    }
    store<u32>(out, id);
  }
  return to;
}

/** 0: there is no room. */
function addText(text: usize, length: u32, hash: u32, slot: usize, table: usize): u32 {
  const id = load<u32>(table, 20);
  const used = load<u32>(table, 16);
  const hasRoom =
    <u64>used + length + 16 <= <u64>load<u32>(table, 12) && id + 1 < load<u32>(table, 28) && (<u64>id + 1) * 4 <= <u64>load<u32>(table, 4) * 3;
  if (!hasRoom) {
    store<u32>(table, length, 56);
    return 0;
  }
  const to = <usize>load<u32>(table, 8) + <usize>used;
  let at: usize = 0;
  for (; at + 8 <= <usize>length; at += 8) store<u64>(to + at, load<u64>(text + at));
  for (; at < <usize>length; at++) store<u8>(to + at, load<u8>(text + at));
  store<u32>(slot, hash);
  store<u32>(slot, id, 4);
  store<u32>(slot, used, 8);
  store<u32>(slot, length, 12);
  store<u32>(<usize>load<u32>(table, 24) + (<usize>(id + 1) << 2), used + length);
  store<u32>(table, used + length, 16);
  store<u32>(table, id + 1, 20);
  return id;
}

export function textIdSlots(slots: usize, capacity: u32, table: usize): void {
  assert(isAligned<u32>(slots) && isAligned<u64>(table));
  const end = slots + (<usize>capacity << 4);
  const to = <usize>load<u32>(table);
  const mask = (<usize>(load<u32>(table, 4) - 1) << 4) | 15;
  for (let from = slots; from < end; from += 16) {
    if (load<u32>(from, 4) == 0) continue;
    let at = (<usize>load<u32>(from) << 4) & mask;
    while (load<u32>(to + at, 4) != 0) at = (at + 16) & mask;
    store<u64>(to + at, load<u64>(from));
    store<u64>(to + at, load<u64>(from, 8), 8);
  }
}
