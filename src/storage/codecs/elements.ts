// Typed arrays of column values.

import type { Physical } from '../../base/layout.js';

/** Values of a column in JavaScript's own memory. */
export type Elements = Uint8Array | Uint16Array | Uint32Array | BigInt64Array | Float32Array | Float64Array;

export function physicalOf(elements: Elements): Physical {
  if (elements instanceof Uint8Array) return 'U8';
  if (elements instanceof Uint16Array) return 'U16';
  if (elements instanceof Uint32Array) return 'U32';
  if (elements instanceof BigInt64Array) return 'I64';
  return elements instanceof Float32Array ? 'F32' : 'F64';
}
