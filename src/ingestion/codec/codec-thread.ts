// Decompresses on a thread of its own what libraries decompress in long turns.

import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CodecName, CodecStart, FromCodec, ToCodec } from './codec-port.js';

/** Usual time for one piece; no file may keep a library busy for ever. */
const PIECE_MS_MAX = 120_000;
const HEAP_MEGABYTES = 256;

/**
 * The content of a compressed file; one piece is made ahead of the reader.
 * @param chunks  not changed; each is copied to the thread
 * @param pieceMsMax  time for one piece
 * @throws Error of the library
 */
export async function* decodedOnThread(
  codec: CodecName,
  chunks: AsyncIterable<Uint8Array>,
  pieceMsMax = PIECE_MS_MAX,
): AsyncGenerator<Uint8Array> {
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const workerData: CodecStart = { codec, answers };
  const worker = new Worker(new URL('./codec-worker.js', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
  });
  const input = chunks[Symbol.asyncIterator]();
  const answer = (message: ToCodec): Promise<FromCodec> => {
    const told = messageOf(worker, pieceMsMax);
    // A reader that leaves early does not wait for it.
    told.catch(() => undefined);
    worker.postMessage(message, message.bytes === undefined ? [] : [message.bytes.buffer as ArrayBuffer]);
    Atomics.add(answers, 0, 1);
    Atomics.notify(answers, 0);
    return told;
  };
  try {
    let told = await messageOf(worker, pieceMsMax);
    for (;;) {
      if (told.kind === 'done') return;
      if (told.kind === 'failed') throw new Error(told.message);
      if (told.kind === 'made') {
        const next = answer({});
        yield told.bytes;
        told = await next;
      } else {
        const { done = false, value } = await input.next();
        told = await answer(done ? {} : { bytes: new Uint8Array(value) });
      }
    }
  } finally {
    await worker.terminate();
    await input.return?.();
  }
}

async function messageOf(worker: Worker, pieceMsMax: number): Promise<FromCodec> {
  try {
    const [message] = (await once(worker, 'message', { signal: AbortSignal.timeout(pieceMsMax) })) as [FromCodec];
    return message;
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError')
      throw new Error(`one piece takes longer than ${pieceMsMax / 1000} s`, { cause: error });
    throw error;
  }
}
