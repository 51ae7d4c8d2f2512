// Kernels over documents.

import type { Address } from '../base/layout.js';

/** Kernels over documents, which are texts by reference as those of `TextKernels`: JSON without spaces, whose objects have each name once. */
export interface DocumentKernels {
  /**
   * Parts of documents at a path, as they are written; null where nothing is, or a null. `path` has a u32 for each step, `pathBytes` of them in all: with the
   * highest bit an element, by its index; without it a member, by the length of its name, whose bytes, as JSON has them between quotes, follow and
   * are filled up to whole words.
   */
  readonly documentPart: (texts: Address, n: number, path: Address, pathBytes: number, out: Address) => void;
  /** i64 number of the elements of each list; 1 of what is none, 0 of null. */
  readonly documentElements: (texts: Address, n: number, out: Address) => void;
}
