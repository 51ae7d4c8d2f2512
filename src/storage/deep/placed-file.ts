// Files that appear whole or not at all.

import { randomBytes } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { ServiceError } from '../../base/errors.js';

/** Makes `to` the file that `make` makes, whole or not at all for as long as the machine runs; `what` names what it is made from. */
export async function placeFile(what: string, to: string, make: (to: string) => Promise<void>): Promise<void> {
  // Containers that share the folder may have the same process ids.
  const temporary = `${to}.${randomBytes(8).toString('hex')}.tmp`;
  try {
    await make(temporary);
    await rename(temporary, to);
  } catch (error) {
    await rm(temporary, { force: true });
    if (isAbsent(error)) throw new ServiceError('not_found', `${what} does not exist`, error);
    throw error;
  }
}

export function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** The parts of a key: at least one, none of them empty, `.` or `..`, no separators of other systems or NUL within. */
export function partsOfKey(key: string): readonly string[] {
  const parts = key.split('/');
  const isPlain = (part: string): boolean => part !== '' && part !== '.' && part !== '..' && !part.includes('\0') && !part.includes('\\');
  if (!parts.every(isPlain))
    throw new ServiceError('input_invalid', `path in deep storage: found ${JSON.stringify(key)}, expected names joined by slashes`);
  return parts;
}
