// Bytes of theta sketches.

import { ServiceError } from '../base/errors.js';
import { THETA_MAX, Theta } from './theta.js';

/**
 * Theta sketches as Apache DataSketches lays them out. Written: compact, ordered, version 3. Bytes, lowest first in
 * every number:
 *
 *    0  preamble in 8-byte words: 1 (empty or a single hash), 2 (every hash is kept), 3    1  version 3    2  family 3
 *    5  flags: 2 read-only, 4 empty, 8 compact, 16 ordered, 32 a single hash    6  u16 0x93cc, of the seed 9001
 *    8  u32 hashes  12 f32 1   16 u64 theta (preamble 3)   then hashes, u64, ascending; for a single one from 8 on
 *
 * Read as well:
 *
 *    version 1: always a preamble of 3, no seed; version 2: as version 3, no single hash
 *    version 4: 3 bits of a hash's distance from the one before, 4 bytes of their number; 8 u64 theta (preamble 2); then
 *               the number of hashes, and their distances packed one after another, the highest bit first
 *    family 2 (being filled): 4 log2 of the table; 16 u64 theta, 24 the table, whose free places are 0
 *
 * Empty sketches carry a seed or none.
 */
const COMPACT = 3;
const BEING_FILLED = 2;
const SEED_HASH = 0x93cc;
const EMPTY_FLAG = 4;

export function encodeThetaBytes(sketch: Theta): Uint8Array {
  const hashes = sketch.hashes();
  const words = sketch.isExact ? (hashes.length < 2 ? 1 : 2) : 3;
  const bytes = new Uint8Array((words + hashes.length) * 8);
  const view = new DataView(bytes.buffer);
  const flags = 2 | 8 | 16 | (words === 1 ? (hashes.length === 0 ? EMPTY_FLAG : 32) : 0);
  bytes.set([words, 3, COMPACT, 0, 0, flags]);
  view.setUint16(6, SEED_HASH, true);
  if (words > 1) {
    view.setUint32(8, hashes.length, true);
    view.setFloat32(12, 1, true);
  }
  if (words > 2) view.setBigInt64(16, sketch.theta, true);
  hashes.forEach((hash, index) => {
    view.setBigInt64((words + index) * 8, hash, true);
  });
  return bytes;
}

/** @param size  hashes that the sketch keeps from then on */
export function decodeThetaBytes(bytes: Uint8Array, size: number): Theta {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8) throw malformed();
  const [words = 0, version = 0, family = 0] = [(bytes[0] ?? 0) & 63, bytes[1], bytes[2]];
  if (version < 1 || version > 4 || words < 1 || words > 3 || bytes.length < words * 8) throw malformed();
  const isEmpty = version > 1 && ((bytes[5] ?? 0) & EMPTY_FLAG) !== 0;
  if (version > 1 && !isEmpty && view.getUint16(6, true) !== SEED_HASH) throw malformed();
  if (isEmpty) return new Theta(size);
  if (family === BEING_FILLED && words === 3) return readTable(view, size);
  if (family !== COMPACT || (version === 1 && words !== 3)) throw malformed();
  return version === 4 ? readPacked(view, words, size) : readCompact(view, words, size);
}

function readCompact(view: DataView, words: number, size: number): Theta {
  const count = words > 1 ? view.getUint32(8, true) : 1;
  return new Theta(size, words > 2 ? view.getBigInt64(16, true) : THETA_MAX, readHashes(view, words * 8, count));
}

function readTable(view: DataView, size: number): Theta {
  const places = 2 ** view.getUint8(4);
  return new Theta(
    size,
    view.getBigInt64(16, true),
    readHashes(view, 24, places).filter((hash) => hash !== 0n),
  );
}

function readHashes(view: DataView, start: number, count: number): bigint[] {
  if (view.byteLength < start + count * 8) throw malformed();
  return Array.from({ length: count }, (_, index) => view.getBigInt64(start + index * 8, true));
}

function readPacked(view: DataView, words: number, size: number): Theta {
  const width = view.getUint8(3);
  const countBytes = view.getUint8(4);
  let at = words * 8;
  if (words > 2 || width < 1 || width > 63 || countBytes > 4 || view.byteLength < at + countBytes) throw malformed();
  let count = 0;
  for (let byte = 0; byte < countBytes; byte++) count += view.getUint8(at++) * 2 ** (8 * byte);
  if (view.byteLength < at + Math.ceil((count * width) / 8)) throw malformed();
  const hashes: bigint[] = [];
  let [pending, pendingBits, hash] = [0n, 0, 0n];
  const mask = (1n << BigInt(width)) - 1n;
  for (let index = 0; index < count; index++) {
    while (pendingBits < width) {
      pending = (pending << 8n) | BigInt(view.getUint8(at++));
      pendingBits += 8;
    }
    pendingBits -= width;
    hash += (pending >> BigInt(pendingBits)) & mask;
    pending &= (1n << BigInt(pendingBits)) - 1n;
    hashes.push(hash);
  }
  return new Theta(size, words > 1 ? view.getBigInt64(8, true) : THETA_MAX, hashes);
}

function malformed(): ServiceError {
  return new ServiceError('query_invalid', 'a string that should hold a theta sketch does not');
}
