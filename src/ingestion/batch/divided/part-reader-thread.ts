// Entry module of a thread that reads parts of files.

import { parentPort, workerData } from 'node:worker_threads';
import type { HandedFile } from '../../builder/chunk-store.js';
import type { ReadCounts } from '../../report/row-statistics.js';
import { failureOf, openPartReader, type PartOutput, type ReaderSetting, type ReadFailure, type ReadOrder } from './part-reader.js';

export type ToReader = { readonly kind: 'read'; readonly order: ReadOrder } | { readonly kind: 'finish' };

export type FromReader =
  | { readonly kind: 'counted'; readonly counts: ReadCounts }
  | { readonly kind: 'read'; readonly output: PartOutput }
  | { readonly kind: 'finished'; readonly file: HandedFile }
  | { readonly kind: 'failed'; readonly failure: ReadFailure };

const COUNTS_EVERY_MS = 200;

// Whoever started the thread ends it when the task is cancelled.
const reader = openPartReader(workerData as ReaderSetting, new AbortController().signal);
let toldMs = 0;

parentPort?.on('message', async (message: ToReader) => {
  try {
    if (message.kind === 'finish') answer({ kind: 'finished', file: await reader.finish() });
    else answer({ kind: 'read', output: await reader.read(message.order, tell) });
  } catch (error) {
    answer({ kind: 'failed', failure: failureOf(error) });
  }
});

function tell(counts: ReadCounts): void {
  const now = performance.now();
  if (now - toldMs < COUNTS_EVERY_MS) return;
  toldMs = now;
  answer({ kind: 'counted', counts });
}

function answer(message: FromReader): void {
  parentPort?.postMessage(message);
}
