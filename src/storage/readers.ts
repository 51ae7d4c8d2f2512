// Readers of segment files by format version.

import { readAt, type SegmentFile } from './codecs/array-decoder.js';
import { checksum } from './codecs/checksum.js';
import { decompressInto } from './codecs/zstd.js';
import {
  arraysOf,
  corrupt,
  corruptBlock,
  decodeTrailer,
  type Footer,
  parseFooter,
  type StoredArray,
  storedColumns,
  TRAILER_BYTES,
  type Trailer,
} from './format.js';

/**
 * Verifies a segment file behind its header, every checksum of it, and gives its footer in the shape that the program works
 * with: an older version's reader translates it.
 * @throws ServiceError `segment_corrupt`
 */
export type Reader = (source: SegmentFile, fileBytes: number) => Footer;

/**
 * Readers by version of the format. A released version stays here for ever, with a golden segment in
 * `test/fixtures/segments` that proves it; the writer knows the newest one only.
 */
export const READERS: ReadonlyMap<number, Reader> = new Map([[1, readVersion1]]);

function readVersion1(source: SegmentFile, fileBytes: number): Footer {
  const trailer = decodeTrailer(source.file, readAt(source, fileBytes - TRAILER_BYTES, TRAILER_BYTES), fileBytes);
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
