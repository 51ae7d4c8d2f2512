// Reads answers of a server that may lack anything.

import { own } from '../base/names.js';

/** A member of a value; undefined where there is none. */
export function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? own(value as Readonly<Record<string, unknown>>, name) : undefined;
}
