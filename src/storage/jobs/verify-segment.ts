import { fstatSync } from 'node:fs';
import { ServiceError } from '../../base/errors.js';
import { readAt, type SegmentFile } from '../codecs/array-decoder.js';
import { checksum } from '../codecs/checksum.js';
import { decompressInto } from '../codecs/zstd.js';
import {
  arraysOf,
  checkHeader,
  corrupt,
  corruptBlock,
  decodeTrailer,
  type Footer,
  HEADER_BYTES,
  parseFooter,
  type StoredArray,
  storedColumns,
  TRAILER_BYTES,
  type Trailer,
} from '../format.js';

/**
 * Reads the whole file and compares every checksum.
 * @throws ServiceError `segment_corrupt` naming the file and what does not match
 */
export function verifySegment(source: SegmentFile): Footer {
  try {
    return verify(source);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw corrupt(source.file, 'it cannot be read', error);
  }
}

function verify(source: SegmentFile): Footer {
  const { file, descriptor } = source;
  const fileBytes = fstatSync(descriptor).size;
  if (fileBytes < HEADER_BYTES + TRAILER_BYTES) throw corrupt(file, `${fileBytes} bytes are too few for a segment`);
  checkHeader(file, readAt(source, 0, HEADER_BYTES));
  const trailer = decodeTrailer(file, readAt(source, fileBytes - TRAILER_BYTES, TRAILER_BYTES), fileBytes);
  const footer = readFooter(source, trailer);
  for (const column of storedColumns(footer)) for (const array of arraysOf(column)) verifyBlocks(source, column.name, array);
  return footer;
}

function readFooter(source: SegmentFile, trailer: Trailer): Footer {
  const frame = readAt(source, trailer.footerOffset, trailer.footerBytes);
  if (checksum(frame) !== trailer.footerChecksum) throw corrupt(source.file, 'the footer does not match its checksum');
  const json = Buffer.alloc(trailer.jsonBytes);
  if (decompressInto(json, frame) !== json.length) throw corrupt(source.file, 'the footer is shorter than the trailer says');
  return parseFooter(source.file, json.toString('utf8'), trailer.footerOffset);
}

function verifyBlocks(source: SegmentFile, column: string, array: StoredArray): void {
  let at = array.start;
  array.bytes.forEach((bytes, block) => {
    if (checksum(readAt(source, at, bytes)) !== array.checksums[block]) {
      throw corruptBlock(source.file, column, `bytes ${at} to ${at + bytes}`, block, 'it does not match its checksum');
    }
    at += bytes;
  });
}
