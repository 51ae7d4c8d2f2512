// Limits on the depth and size of JSON values.

import { ServiceError } from '../../base/errors.js';
import { stringifyJson } from '../../base/json.js';

/** Largest nesting depth of JSON; walking it takes stack. */
const DEPTH_MAX = 500;

/** Values in one JSON value that an expression puts together: parts are shared, and what shares them can grow exponentially. */
const VALUES_MAX = 1 << 20;

/**
 * The data, when it is no larger than what JSON may be.
 * @throws ServiceError `resource_limit` naming the function
 */
export function measured<Data>(name: string, data: Data): Data {
  let count = 0;
  const walk = (part: unknown, depth: number): void => {
    if (++count > VALUES_MAX) throw new ServiceError('resource_limit', `${name}: JSON of more than ${VALUES_MAX} values`);
    if (typeof part !== 'object' || part === null) return;
    if (depth === DEPTH_MAX) throw new ServiceError('resource_limit', `${name}: JSON nested deeper than ${DEPTH_MAX} levels`);
    for (const member of Object.values(part)) walk(member, depth + 1);
  };
  walk(data, 0);
  return data;
}

/** Whether no part of a JSON text is nested deeper than is accepted. */
export function isShallowJson(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length && text.length > DEPTH_MAX; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{') {
      if (++depth > DEPTH_MAX) return false;
    } else if (character === ']' || character === '}') depth--;
  }
  return true;
}

/** The text of JSON data; undefined when it is nested deeper than is accepted. */
export function shallowJsonText(data: unknown): string | undefined {
  try {
    const text = textOf(data);
    return isShallowJson(text) ? text : undefined;
  } catch (error) {
    // So deep that writing it takes more stack than there is.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Like `stringifyJson`, five times faster where the runtime's writer gives the same: it lacks 64-bit integers and writes infinity as null. */
function textOf(data: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(data);
    if (text?.includes('null') === false) return text;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  return stringifyJson(data);
}

/** Offset of the quote that ends the string starting at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
