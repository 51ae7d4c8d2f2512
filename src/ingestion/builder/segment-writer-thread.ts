// Entry module of a thread that writes segments.

import { parentPort } from 'node:worker_threads';
import { ServiceError } from '../../base/errors.js';
import type { SegmentInput } from '../../storage/contract.js';
import { writeSegment } from '../../storage/segment-writer.js';
import type { FromWriter } from './segment-writers.js';

/** A thread of `SegmentWriters`: writes the segments it is sent, one after the other. */
parentPort?.on('message', async ({ file, input }: { readonly file: string; readonly input: SegmentInput }) => {
  parentPort?.postMessage(await write(file, input));
});

async function write(file: string, input: SegmentInput): Promise<FromWriter> {
  try {
    return { kind: 'written', written: await writeSegment(file, input) };
  } catch (error) {
    if (error instanceof ServiceError) return { kind: 'failed', code: error.code, message: error.message };
    return { kind: 'failed', code: 'internal', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}
