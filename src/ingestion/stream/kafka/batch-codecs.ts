// Compressions of batches of records, by their numbers in Kafka.

import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import { ServiceError } from '../../../base/errors.js';
import { decompressFrames } from '../../../storage/codecs/zstd.js';
import { decodeLz4 } from '../../codec/lz4.js';
import { uncompressBlockNow } from '../../codec/snappy.js';

/** Bytes that a batch may become: brokers take in batches of a few megabytes, compressed. */
const BATCH_BYTES_MAX = 2 ** 28;
/** Head of blocks of snappy as the Java client frames them: magic 8, versions 8, then blocks of size 4 (big-endian) and bytes. */
const JAVA_SNAPPY = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0]);
const JAVA_SNAPPY_BYTES = 16;

const CODECS: ReadonlyMap<number, (bytes: Buffer) => Buffer> = new Map([
  [1, (bytes) => gunzipSync(bytes, { maxOutputLength: BATCH_BYTES_MAX })],
  [2, snappy],
  [3, lz4],
  [4, (bytes) => decompressFrames(bytes, BATCH_BYTES_MAX)],
]);

/** The records of a batch. @throws Error of the library for damaged ones, ServiceError `unsupported` for another compression */
export function decompressBatch(codec: number, bytes: Buffer): Buffer {
  const decompress = CODECS.get(codec);
  if (decompress === undefined)
    throw new ServiceError('unsupported', `messages are compressed by number ${codec}, which Kafka does not name`);
  return decompress(bytes);
}

function snappy(bytes: Buffer): Buffer {
  if (!bytes.subarray(0, JAVA_SNAPPY.length).equals(JAVA_SNAPPY)) return uncompressBlockNow(bytes, BATCH_BYTES_MAX);
  const pieces: Buffer[] = [];
  let left = BATCH_BYTES_MAX;
  for (let at = JAVA_SNAPPY_BYTES; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) throw new Error('a block of snappy is cut off');
    const piece = uncompressBlockNow(bytes.subarray(at + 4, end), left);
    pieces.push(piece);
    left -= piece.length;
    at = end;
  }
  return Buffer.concat(pieces);
}

function lz4(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  let isRead = false;
  let left = BATCH_BYTES_MAX;
  decodeLz4({
    read() {
      if (isRead) return undefined;
      isRead = true;
      return bytes;
    },
    write(piece) {
      left -= piece.length;
      if (left < 0) throw new Error(`it is larger than ${BATCH_BYTES_MAX} bytes, decompressed`);
      pieces.push(Buffer.from(piece));
    },
  });
  return Buffer.concat(pieces);
}
