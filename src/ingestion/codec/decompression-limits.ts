// Limits of what compressed input may become.

import { ServiceError } from '../../base/errors.js';

/** From the properties `svc.ingestion.decompression.*`. */
export interface DecompressionLimits {
  /** Content of one file, or of all entries of one archive. */
  readonly maxBytes: number;
  /** Content for each stored byte, of what has more than `RATIO_FREE_BYTES`. */
  readonly maxRatio: number;
  /** Entries of an archive. */
  readonly maxEntries: number;
}

/** Content that may be any multiple of what is stored. */
const RATIO_FREE_BYTES = 1 << 30;

/** @throws ServiceError `resource_limit` for content that no honest file has */
export function checkExpansion(
  { maxBytes, maxRatio }: DecompressionLimits,
  { name, storedBytes, contentBytes }: { readonly name: string; readonly storedBytes: number; readonly contentBytes: number },
): void {
  if (contentBytes > maxBytes)
    throw new ServiceError(
      'resource_limit',
      `${name} has more content than svc.ingestion.decompression.maxBytes (${maxBytes} bytes), decompressed`,
    );
  if (contentBytes > RATIO_FREE_BYTES && contentBytes > storedBytes * maxRatio)
    throw new ServiceError(
      'resource_limit',
      `${name} becomes more than svc.ingestion.decompression.maxRatio (${maxRatio}) times as large, decompressed: ${contentBytes} bytes from ${storedBytes}`,
    );
}
