import { closeSync, fstatSync, openSync } from 'node:fs';
import { readAt } from '../codecs/array-decoder.js';
import { checksum } from '../codecs/checksum.js';
import { decompressInto } from '../codecs/zstd.js';
import { arraysOf, checkHeader, corrupt, corruptBlock, decodeTrailer, type Footer, HEADER_BYTES, parseFooter, TRAILER_BYTES } from '../format.js';

export interface VerifySegmentRequest {
  readonly file: string;
}

/**
 * Reads the whole file and compares every checksum.
 * @throws ServiceError `segment_corrupt` naming the file and what does not match; `not_found` when there is no file
 */
export function verifySegment({ file }: VerifySegmentRequest): Footer {
  const descriptor = openSync(file, 'r');
  try {
    const source = { file, descriptor };
    const fileBytes = fstatSync(descriptor).size;
    if (fileBytes < HEADER_BYTES + TRAILER_BYTES) throw corrupt(file, `${fileBytes} bytes are too few for a segment`);
    checkHeader(file, readAt(source, 0, HEADER_BYTES));
    const trailer = decodeTrailer(file, readAt(source, fileBytes - TRAILER_BYTES, TRAILER_BYTES), fileBytes);

    const frame = readAt(source, trailer.footerOffset, trailer.footerBytes);
    if (checksum(frame) !== trailer.footerChecksum) throw corrupt(file, 'the footer does not match its checksum');
    const json = Buffer.alloc(trailer.jsonBytes);
    if (decompressInto(json, frame) !== json.length) throw corrupt(file, 'the footer is shorter than the trailer says');
    const footer = parseFooter(file, json.toString('utf8'), trailer.footerOffset);

    for (const column of footer.columns) {
      for (const array of arraysOf(column)) {
        let at = array.start;
        array.bytes.forEach((bytes, block) => {
          if (checksum(readAt(source, at, bytes)) !== array.checksums[block]) {
            throw corruptBlock(file, column.name, `bytes ${at} to ${at + bytes}`, block, 'it does not match its checksum');
          }
          at += bytes;
        });
      }
    }
    return footer;
  } finally {
    closeSync(descriptor);
  }
}
