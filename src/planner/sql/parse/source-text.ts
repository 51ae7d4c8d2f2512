// The text of a statement, for errors with line and column.

import { type ErrorCode, ServiceError } from '../../../base/errors.js';

/** The statement as the user sent it; every syntax node remembers its offset here, so that errors can point at it. */
export class SourceText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** `line 2, column 5` of an offset, both counted from 1. */
  position(at: number): string {
    let line = 1;
    let lineStart = 0;
    for (let next = this.text.indexOf('\n'); next >= 0 && next < at; next = this.text.indexOf('\n', next + 1)) {
      line++;
      lineStart = next + 1;
    }
    return `line ${line}, column ${Math.max(0, at - lineStart) + 1}`;
  }

  error(code: ErrorCode, at: number, message: string): ServiceError {
    return new ServiceError(code, `${this.position(at)}: ${message}`);
  }

  /** Understood, and refused by name. */
  unsupported(at: number, what: string): ServiceError {
    return this.error('unsupported', at, `${what} is not supported`);
  }
}
