import * as assert from 'uvu/assert';
import { ServiceError } from '../src/base/errors.js';

/** The error of a piece of work that is refused, by its code and its message; it fails the test that it is not. */
export function assertRefused(work: () => unknown, refused: { readonly code: string; readonly says: RegExp }): void {
  let result: unknown;
  try {
    result = work();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    assert.match(error.message, refused.says);
    assert.is(error.code, refused.code);
    return;
  }
  assert.unreachable(`it gave ${String(result)}`);
}
