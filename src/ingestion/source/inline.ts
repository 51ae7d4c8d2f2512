// The input source `inline`.

import { Buffer } from 'node:buffer';
import { Readable } from 'node:stream';
import { inputSourceKind } from './source-kind.js';

/** Rows that stand in the spec itself. */
export const INLINE = inputSourceKind({
  type: 'inline',
  parse(fields) {
    fields.accept(['data']);
    return Buffer.from(fields.string('data'), 'utf8');
  },
  entities: async (bytes) => [{ name: 'inline data', sizeBytes: bytes.length, localFile: null, open: async () => Readable.from([bytes]) }],
});
