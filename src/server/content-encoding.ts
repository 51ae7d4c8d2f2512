import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { ServiceError } from '../base/errors.js';

/**
 * The body of a request as it was before its sender packed it.
 * @param encoding  the value of the header Content-Encoding
 * @throws ServiceError `body_too_large` once it has more bytes than `bytesMax`, however few were sent; `input_invalid` for
 *         what is not packed as it says; `content_type_unsupported`
 */
export async function unpacked(body: Buffer, encoding: string, bytesMax: number): Promise<Buffer> {
  const name = encoding.trim().toLowerCase();
  if (name === '' || name === 'identity') return body;
  if (name !== 'gzip' && name !== 'x-gzip')
    throw new ServiceError('content_type_unsupported', `Content-Encoding: found ${name}, expected gzip or identity`);
  try {
    return await promisify(gunzip)(body, { maxOutputLength: bytesMax });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE')
      throw new ServiceError(
        'body_too_large',
        `the request body, unpacked, is larger than svc.server.http.maxRequestBytes (${bytesMax} bytes)`,
      );
    throw new ServiceError('input_invalid', `the body is not packed by gzip, as Content-Encoding says: ${message}`, error);
  }
}
