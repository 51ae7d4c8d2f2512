// Opens the reader of a stream of any kind.

import { ServiceError } from '../../base/errors.js';
import { type KafkaReaderOptions, openKafkaReader } from './kafka-reader.js';
import type { StreamReader } from './stream-reader.js';
import type { StreamSource } from './stream-source.js';

export type StreamReaderOptions = KafkaReaderOptions;

/** @throws ServiceError `unavailable` when the stream cannot be reached, `unsupported` without its client */
export async function openStreamReader(source: StreamSource, options: StreamReaderOptions): Promise<StreamReader> {
  if (source.kind === 'kafka') return openKafkaReader(source, options);
  throw new ServiceError('unsupported', 'streams of Kinesis are not read yet');
}
