// Entry module of a thread that decompresses one file.

import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { decodeBzip2 } from './bzip2.js';
import type { CodecName, CodecPort, CodecStart, FromCodec, ToCodec } from './codec-port.js';
import { decodeLz4 } from './lz4.js';
import { decodeSnappy } from './snappy.js';
import { decodeXz } from './xz.js';

const CODECS: Readonly<Record<CodecName, (port: CodecPort) => void | Promise<void>>> = {
  bzip2: decodeBzip2,
  xz: decodeXz,
  lz4: decodeLz4,
  snappy: decodeSnappy,
};

if (parentPort !== null) await decode(parentPort, workerData as CodecStart);

async function decode(port: MessagePort, { codec, answers }: CodecStart): Promise<void> {
  let answered = 0;
  const tell = (message: FromCodec): ToCodec => {
    port.postMessage(message, message.kind === 'made' ? [message.bytes.buffer as ArrayBuffer] : []);
    Atomics.wait(answers, 0, answered);
    answered++;
    return (receiveMessageOnPort(port)?.message ?? {}) as ToCodec;
  };
  try {
    await CODECS[codec]({
      read: () => tell({ kind: 'wants' }).bytes,
      write(bytes) {
        if (bytes.length > 0) tell({ kind: 'made', bytes: new Uint8Array(bytes) });
      },
    });
    port.postMessage({ kind: 'done' } satisfies FromCodec);
  } catch (error) {
    port.postMessage({ kind: 'failed', message: error instanceof Error ? error.message : String(error) } satisfies FromCodec);
  }
}
