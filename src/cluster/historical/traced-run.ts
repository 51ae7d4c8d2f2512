// Spans of the runs of a Historical.

import type { Tracer } from '../../model/tracing/span.js';
import { toServiceError } from '../rpc/message.js';
import type { RunPlanRequest } from '../rpc/services.js';

/** The same items; the span ends with them, or when their reader leaves. */
export async function* traced<Item>(
  tracer: Tracer,
  { queryId, plan, segmentIds, traceparent }: RunPlanRequest,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const span = tracer.begin(`historical ${plan.operator}`, traceparent);
  let errorCode: string | undefined;
  try {
    yield* items;
  } catch (error) {
    errorCode = toServiceError(error).code;
    throw error;
  } finally {
    span.end({ 'dolmen.query.id': queryId, 'dolmen.segments': String(segmentIds.length) }, errorCode);
  }
}
