// Interface to whatever runs jobs: the calling thread or a pool.

import type { Calls, Streams } from './jobs.js';
import type { StreamInput, StreamItem } from './stream-items.js';

/** A stream of frames being produced elsewhere, one per `next`. */
export interface OpenStream {
  /** null: the stream has ended. */
  next(input?: StreamInput): Promise<StreamItem | null>;
  /** Ends it early; harmless when it ended already. */
  close(): Promise<void>;
}

/** A place where work is done: a processing thread, or the calling one. */
export interface Executor {
  /** Calls and streams of this priority or a higher one that wait for an answer. */
  busy(priority: number): number;
  call<Name extends keyof Calls>(name: Name, request: Calls[Name]['request']): Promise<Calls[Name]['response']>;
  open<Name extends keyof Streams>(name: Name, request: Streams[Name]): OpenStream;
}
