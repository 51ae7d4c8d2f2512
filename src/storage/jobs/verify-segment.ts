// Storage job: verifies the checksums of a segment file.

import { fstatSync } from 'node:fs';
import { ServiceError } from '../../base/errors.js';
import { readAt, type SegmentFile } from '../codecs/array-decoder.js';
import { corrupt, type Footer, HEADER_BYTES, readVersion, TRAILER_BYTES } from '../format.js';
import { READERS } from '../readers.js';

/**
 * Reads the whole file and compares every checksum.
 * @throws ServiceError `segment_corrupt` naming the file and what does not match, also for a version without a reader
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
  const version = readVersion(file, readAt(source, 0, HEADER_BYTES));
  const reader = READERS.get(version);
  if (reader === undefined) {
    const versions = [...READERS.keys()];
    const readable = versions.length === 1 ? `version ${versions[0]}` : `versions ${versions.join(', ')}`;
    throw corrupt(file, `it has format version ${version}; this program reads ${readable}`);
  }
  return reader(source, fileBytes);
}
