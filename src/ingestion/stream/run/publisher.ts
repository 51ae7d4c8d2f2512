// Publishes the sealed sequences of a streaming task, one after the other, and drops their rows once others serve them.

import { failpoint } from '../../../configuration/failpoint.js';
import type { StreamPosition } from '../../../model/stream/offsets.js';
import type { TaskContext } from '../../contract.js';
import type { LiveRows } from '../live/live-rows.js';
import type { Sequence } from './sequences.js';

export interface PublisherOptions {
  readonly context: TaskContext;
  readonly rows: LiveRows;
  readonly dataSource: string;
  readonly supervisorId: string;
  readonly handoffTimeoutMs: number;
  /** Positions of a sequence in its stream. */
  readonly bounds: (sequence: Sequence) => { readonly start: StreamPosition; readonly end: StreamPosition };
  /** Told of a sequence whose rows are about to be dropped. */
  readonly dropped: (sequence: Sequence) => void;
  /** Told of a sequence that is published, with the number of rows of its segments. */
  readonly published: (sequence: Sequence, segments: readonly { readonly rowCount: number }[]) => void;
}

export class SequencePublisher {
  readonly #options: PublisherOptions;
  /** Sequences are published in their order: each moves the stored offsets on from where the one before it ended. */
  #publishing: Promise<void> = Promise.resolve();
  readonly #handoffs: Promise<void>[] = [];
  #failure: { readonly error: unknown } | null = null;
  segmentCount = 0;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** The first error of a publish; the sequences behind it are not published. */
  get failure(): { readonly error: unknown } | null {
    return this.#failure;
  }

  add(sequence: Sequence): void {
    this.#publishing = this.#publishing.then(async () => {
      if (this.#failure !== null) return;
      try {
        const ids = await this.#publish(sequence);
        const handoff = this.#handOff(sequence, ids);
        // A task that fails before it waits for its handoffs tells its own error.
        handoff.catch(() => undefined);
        this.#handoffs.push(handoff);
      } catch (error) {
        this.#failure = { error };
      }
    });
  }

  /** Resolves when all is published and handed off; throws the first error. */
  async finish(): Promise<void> {
    await this.#publishing;
    await Promise.all(this.#handoffs);
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #publish(sequence: Sequence): Promise<readonly string[]> {
    const { context, rows, dataSource, supervisorId, bounds, published } = this.#options;
    failpoint('stream.sealed');
    const pushed = await rows.push(sequence.name, context.storage);
    failpoint('stream.pushed');
    const segments = [...pushed].map(([allocated, segment]) => ({ ...segment, allocated }));
    const stream = { supervisorId, sequence: sequence.name, ...bounds(sequence) };
    const ids = await context.publish({ taskId: context.taskId, dataSource, segments, mode: { kind: 'append' }, stream });
    failpoint('stream.published');
    rows.published(sequence.name);
    this.segmentCount += ids.length;
    published(sequence, segments);
    context.log(`published sequence ${sequence.name}: ${ids.length} segments`);
    return ids;
  }

  async #handOff(sequence: Sequence, ids: readonly string[]): Promise<void> {
    const { context, rows, handoffTimeoutMs } = this.#options;
    const isServed = ids.length === 0 || (await context.segments.served(ids, handoffTimeoutMs));
    if (!isServed)
      context.log(`segments of ${sequence.name} are not served by others after ${handoffTimeoutMs} ms (handoffConditionTimeout)`);
    await context.segments.seen();
    failpoint('stream.handedOff');
    this.#options.dropped(sequence);
    await rows.drop(sequence.name);
    failpoint('stream.dropped');
  }
}
