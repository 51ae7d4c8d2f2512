// Failures of S3: which of them may pass, and what the others mean.

import { setTimeout } from 'node:timers/promises';

/** Failure that further attempts do not change, or have not. */
export type S3Failure =
  | { readonly kind: 'cancelled' | 'changed' | 'absent' | 'forbidden' | 'unreachable' | 'unconfigured' }
  /** Another answer of S3. */
  | { readonly kind: 'refused'; readonly answer: string };

const PAUSE_MS = 100;
const PAUSE_MS_MAX = 5_000;
/** Answers below 500 that may pass: too many requests, a body that was damaged or cut off on its way, clocks that differ. */
const MAY_PASS: ReadonlySet<string> = new Set([
  'SlowDown',
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'BadDigest',
  'IncompleteBody',
  'InvalidDigest',
  'XAmzContentSHA256Mismatch',
  'OperationAborted',
  'ConditionalRequestConflict',
]);
const STATUS_MAY_PASS: ReadonlySet<number> = new Set([408, 425, 429]);

/** The meaning of an answer of S3 that will not change; undefined for what may pass. */
export function refusalOf(error: unknown): S3Failure | undefined {
  if (!(error instanceof Error)) return undefined;
  const status = (error as { readonly $metadata?: { readonly httpStatusCode?: number } }).$metadata?.httpStatusCode;
  if (status === undefined || status < 300)
    return /credential|region is missing/i.test(`${error.name} ${error.message}`) ? { kind: 'unconfigured' } : undefined;
  if (status >= 500 || STATUS_MAY_PASS.has(status) || MAY_PASS.has(error.name)) return undefined;
  if (status === 412) return { kind: 'changed' };
  // A bucket that is not there is no object that was removed.
  if (status === 404 && error.name !== 'NoSuchBucket') return { kind: 'absent' };
  if (status === 403) return { kind: 'forbidden' };
  return { kind: 'refused', answer: `${status} (${error.name})` };
}

/** Waits longer from attempt to attempt, for a part of the time by chance, so that many clients do not come back at once. */
export async function pauseBefore(attempt: number, signal?: AbortSignal): Promise<void> {
  const longest = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** attempt);
  const milliseconds = longest * (0.5 + Math.random() / 2);
  await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}
