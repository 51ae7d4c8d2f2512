// Runs of a Historical as spans, and as lines of its log where they fail.

import type { ErrorCode } from '../../base/errors.js';
import type { Tracer } from '../../model/tracing/span.js';
import { toServiceError } from '../rpc/message.js';
import type { RunPlanRequest } from '../rpc/services.js';

/** A run that failed, as its query has it. */
export interface FailedRun {
  readonly queryId: string;
  readonly segments: number;
  readonly code: ErrorCode;
  readonly message: string;
  /** With its stack, where the fault is ours. */
  readonly error?: unknown;
}

export interface RunWatchers {
  /** Told of each run; left out: nobody listens. */
  readonly tracer?: Tracer | undefined;
  /** Told of each run that failed, but not because its query was given up; left out: nobody listens. */
  readonly runFailed?: ((run: FailedRun) => void) | undefined;
}

/** The same items; who watches is told when they end, or when their reader leaves. */
export async function* watched<Item>(
  { tracer, runFailed }: RunWatchers,
  { queryId, plan, segmentIds, traceparent }: RunPlanRequest,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const span = tracer?.begin(`historical ${plan.operator}`, traceparent);
  let errorCode: ErrorCode | undefined;
  try {
    yield* items;
  } catch (error) {
    const { code, message } = toServiceError(error);
    errorCode = code;
    const facts = { queryId, segments: segmentIds.length, code, message };
    if (code !== 'cancelled') runFailed?.(code === 'internal' ? { ...facts, error } : facts);
    throw error;
  } finally {
    span?.end({ 'dolmen.query.id': queryId, 'dolmen.segments': String(segmentIds.length) }, errorCode);
  }
}
