// Opens the reader of a stream of any kind.

import { type KafkaReaderOptions, openKafkaReader } from './kafka/kafka-reader.js';
import type { KinesisAccess } from './kinesis/kinesis-client.js';
import { openKinesisReader } from './kinesis/kinesis-reader.js';
import type { StreamReader } from './stream-reader.js';
import type { StreamSource } from './stream-source.js';

export interface StreamReaderOptions extends KafkaReaderOptions {
  readonly kinesis: KinesisAccess;
}

/** @throws ServiceError `unavailable` when the stream cannot be reached, `unsupported` without its client, `forbidden` by its address */
export async function openStreamReader(source: StreamSource, options: StreamReaderOptions): Promise<StreamReader> {
  return source.kind === 'kafka' ? openKafkaReader(source, options) : openKinesisReader(source, options.kinesis, options.now);
}
