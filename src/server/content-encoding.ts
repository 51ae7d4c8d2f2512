// Unpacks compressed request bodies.

import { createGunzip } from 'node:zlib';
import { ServiceError } from '../base/errors.js';

/**
 * The body of a request as it was before its sender packed it. It is unpacked piece by piece, and no further than it
 * may be.
 * @param encoding  the value of the header Content-Encoding
 * @param take      called with the bytes of each piece before it is kept; what it throws ends the unpacking
 * @throws ServiceError `body_too_large` once it has more bytes than `bytesMax`, however few were sent; `input_invalid` for
 *         what is not packed as it says; `content_type_unsupported`
 */
export async function unpacked(body: Buffer, encoding: string, bytesMax: number, take: (bytes: number) => void): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw new ServiceError('content_type_unsupported', `Content-Encoding: found ${name}, expected gzip or identity`);
  const gunzip = createGunzip();
  gunzip.end(body);
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  try {
    for await (const part of gunzip as AsyncIterable<Buffer>) {
      sizeBytes += part.length;
      if (sizeBytes > bytesMax)
        throw new ServiceError(
          'body_too_large',
          `the request body, unpacked, is larger than svc.server.http.maxRequestBytes (${bytesMax} bytes)`,
        );
      take(part.length);
      parts.push(part);
    }
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new ServiceError('input_invalid', `the body is not packed by gzip, as Content-Encoding says: ${message}`, error);
  }
  return Buffer.concat(parts);
}
