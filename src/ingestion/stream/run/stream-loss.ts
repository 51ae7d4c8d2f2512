// Tells of a stream that does not have what a task was to read next: a topic that was deleted, or offsets that are gone.

import { ServiceError } from '../../../base/errors.js';
import type { TaskContext } from '../../contract.js';
import { OffsetsGone } from '../stream-reader.js';
import type { StreamTaskSpec } from '../stream-task.js';

export class StreamLoss {
  readonly #error: ServiceError;
  /** Time until which the supervisor may set the end of the last sequence; null: it was not asked yet. */
  waitsUntilMs: number | null = null;

  private constructor(error: ServiceError) {
    this.#error = error;
  }

  /** The loss that an error of a reader tells; null: the stream cannot be reached for a while, or the error is no one's of a stream. */
  static of(error: unknown): StreamLoss | null {
    return error instanceof ServiceError && (error.code === 'not_found' || error instanceof OffsetsGone) ? new StreamLoss(error) : null;
  }

  get message(): string {
    return this.#error.message;
  }

  /** Tells the supervisor of offsets that are gone, once what was read before them is published; returns the reason for which the task ends. */
  async tell({ supervisorId, tuning, io }: StreamTaskSpec, { taskId, stream, log }: TaskContext): Promise<ServiceError> {
    if (this.#error instanceof OffsetsGone) {
      const { offsets } = this.#error;
      if (tuning.resetOffsetAutomatically) log(`${this.message}; they are forgotten (resetOffsetAutomatically)`);
      await stream
        .offsetsLost({ supervisorId, taskId, lost: { ...io.start, offsets, exclusive: new Set() } })
        .catch((error: unknown) => log(`the supervisor was not told: ${String(error)}`));
    }
    return new ServiceError(this.#error.code, `${this.message}; what the task has read before is published`, this.#error);
  }
}
