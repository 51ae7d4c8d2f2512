// Messages between the main thread and processing threads.

import { type ErrorCode, type ErrorDetails, ServiceError } from '../../base/errors.js';
import type { DataReference } from '../../base/sent-once.js';
import type { Frame } from '../../model/frame.js';
import type { SegmentData } from '../block/segment-data.js';
import type { StreamInput, StreamItem } from './stream-items.js';

/** Message to a processing thread. `id` names one call or stream for as long as it lasts. Higher priorities are done first. */
export type ToThread =
  | {
      readonly kind: 'call' | 'open';
      readonly id: number;
      readonly priority: number;
      /** About how long it takes alone. */
      readonly expectedMs: number;
      readonly name: string;
      readonly request: object;
      readonly data: DataReference<SegmentData> | null;
    }
  /** Asks for the next frame, and brings what the stream waits for. */
  | { readonly kind: 'next'; readonly id: number; readonly priority: number; readonly input: StreamInput }
  /** The rest of the stream is not wanted. */
  | { readonly kind: 'close'; readonly id: number; readonly priority: number }
  | { readonly kind: 'end'; readonly priority: number };

/** Every message to a thread but `end` is answered once. */
export type FromThread =
  /** The thread waits (`SIGNALS.room`) until columns have given way to an allocation of so many bytes, or cannot. */
  | { readonly kind: 'room'; readonly bytes: number }
  | { readonly id: number; readonly kind: 'value'; readonly value: unknown }
  | { readonly id: number; readonly kind: 'item'; readonly item: StreamItem | null }
  | { readonly id: number; readonly kind: 'error'; readonly error: PlainError };

export type Answer = Exclude<FromThread, { kind: 'room' }>;

/** i32 words that a thread shares with the thread that gives it work. */
export const SIGNALS = {
  /** Messages sent to it so far. */
  sent: 0,
  /** 0: nothing asked; then what became of the room that it asked for: 1 not known yet, 2 made, 3 there is none. */
  room: 1,
  bytes: 8,
} as const;

export const ROOM = { asked: 1, made: 2, none: 3 } as const;

/** An error as it crosses threads. */
export interface PlainError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly stack: string;
  readonly details: ErrorDetails | null;
}

export function toPlainError(error: unknown): PlainError {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  if (error instanceof ServiceError) return { code: error.code, message: error.message, stack, details: error.details };
  return { code: 'internal', message: error instanceof Error ? error.message : String(error), stack, details: null };
}

export function fromPlainError({ code, message, stack, details }: PlainError): ServiceError {
  return new ServiceError(code, message, code === 'internal' ? stack : undefined, details);
}

/** The arrays of a frame, which move instead of being copied. */
export function transferables(frame: Frame | null): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const add = (view: ArrayBufferView | null): void => {
    if (view !== null && view.buffer instanceof ArrayBuffer) buffers.add(view.buffer);
  };
  for (const column of frame?.columns ?? []) {
    if (column.kind === 'string' || column.kind === 'multi') add(column.ids);
    if (column.kind === 'multi') add(column.offsets);
    if (column.kind === 'long' || column.kind === 'double') {
      add(column.values);
      add(column.nulls);
    }
  }
  return [...buffers];
}
