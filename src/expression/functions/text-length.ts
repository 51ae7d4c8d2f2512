// Limit on the length of strings that expressions make.

import { ServiceError } from '../../base/errors.js';

/** Code units that a text made by an expression may have. */
export const TEXT_LENGTH_MAX = 1 << 22;

/** @throws ServiceError `resource_limit` naming the function; asked before the text is made */
export function refuseTextLength(name: string, length: number): void {
  if (length > TEXT_LENGTH_MAX)
    throw new ServiceError('resource_limit', `${name}: a string of ${length} characters; up to ${TEXT_LENGTH_MAX} are accepted`);
}
