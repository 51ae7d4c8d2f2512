// Interface for values that sketches hash by id.

import type { Address } from '../../../base/layout.js';
import type { Murmur3 } from '../../../sketch/murmur3.js';
import type { Block } from '../../block/context.js';

/** A hash of a string's UTF-8 bytes, or of the string itself. */
export type TextHash = Pick<Murmur3, 'hash' | 'hashText'>;

/** Hashes the code units of strings, lower byte first; bytes of UTF-8 are decoded before. */
export function utf16Hash(hash: Murmur3): TextHash {
  const hashText = (text: string): void => hash.hashText(text, 'utf16le');
  return { hashText, hash: ({ buffer, byteOffset, byteLength }) => hashText(Buffer.from(buffer, byteOffset, byteLength).toString()) };
}

/** Values of a segment by id. `gather` gives the ids of rows in pieces of at most a block. */
export interface IdSource {
  gather(block: Block, rows: Address, groups: Address, n: number, visit: (ids: Address, groups: Address, n: number) => void): void;
  /** Hashes what an id stands for; false when it is null. */
  hash(id: number, hash: TextHash): boolean;
}
