// Reads the `splitHintSpec` of a task.

import type { ObjectReader } from '../../base/json-reader.js';

/** Largest input of a sub-task: bytes, and files or time chunks. */
export interface SplitHint {
  readonly maxBytes: number;
  readonly maxUnits: number;
}

const GIBIBYTE = 2 ** 30;
const UNITS_MAX = 1000;

/** `segments` and `maxSize` mean the same: each has the names of its source for files and chunks. */
export function parseSplitHint(fields: ObjectReader | undefined): SplitHint {
  if (fields === undefined) return { maxBytes: GIBIBYTE, maxUnits: UNITS_MAX };
  const type = fields.type(['maxSize', 'segments'], { otherwise: 'maxSize' });
  const [bytes, units] = type === 'maxSize' ? ['maxSplitSize', 'maxNumFiles'] : ['maxInputSegmentBytesPerTask', 'maxNumSegments'];
  fields.accept([bytes, units]);
  const maxBytes = fields.optionalBytes(bytes) ?? GIBIBYTE;
  if (maxBytes === 0) throw fields.mismatch(bytes, 'a number of bytes above 0');
  return { maxBytes, maxUnits: fields.optionalInteger(units, 1) ?? UNITS_MAX };
}
