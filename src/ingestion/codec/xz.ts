// The only file that calls xz-decompress.

import { createRequire } from 'node:module';
import { ReadableStream } from 'node:stream/web';
import { own } from '../../base/names.js';
import type { CodecPort } from './codec-port.js';

interface Library {
  readonly XzReadableStream: new (compressed: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

/** Codes of the library (those of XZ Embedded), where they say more than that the data are damaged. */
const REASONS: Readonly<Record<string, string>> = {
  2: 'its kind of checksum is not supported; CRC32 and CRC64 are',
  3: 'there is not memory enough',
  4: 'its dictionary is larger than 64 MiB: compress it with xz -9 or below',
  6: 'it has filters or a checksum (SHA-256) that are not supported; LZMA2 with CRC32 or CRC64 is',
  7: 'its data are damaged',
  8: 'the file ends too early, or goes on behind its end',
};

/** Streams one after the other, with a dictionary of at most 64 MiB. Checksums are checked. */
export async function decodeXz(port: CodecPort): Promise<void> {
  const { XzReadableStream } = createRequire(import.meta.url)('xz-decompress') as Library;
  const compressed = new ReadableStream<Uint8Array>({
    pull(controller) {
      const bytes = port.read();
      if (bytes === undefined) controller.close();
      else controller.enqueue(bytes);
    },
  });
  try {
    for await (const bytes of new XzReadableStream(compressed)) port.write(bytes);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(own(REASONS, /error code (\d+)$/.exec(message)?.[1] ?? '') ?? message, { cause: error });
  }
}
