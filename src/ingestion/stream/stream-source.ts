// Reads where a stream is, from the `ioConfig` of a supervisor, a task or a sample.

import type { ObjectReader } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { type ConsumerProperties, parseConsumerProperties } from './consumer-properties.js';

/** A stream and how it is reached. */
export type StreamSource =
  | {
      readonly kind: 'kafka';
      /** A topic, or with `isPattern` a pattern of the names of topics. */
      readonly stream: string;
      readonly isPattern: boolean;
      readonly properties: ConsumerProperties;
    }
  | {
      readonly kind: 'kinesis';
      readonly stream: string;
      readonly endpoint: string;
      /** Pause between two requests for records of a shard. */
      readonly fetchDelayMs: number;
      readonly assumedRoleArn: string | null;
      readonly externalId: string | null;
    };

/** Keys of an `ioConfig` that say how a stream is reached. */
export const STREAM_SOURCE_KEYS: Readonly<Record<StreamKind, readonly string[]>> = {
  kafka: ['consumerProperties', 'pollTimeout', 'configOverrides', 'multiTopic'],
  kinesis: ['endpoint', 'region', 'fetchDelayMillis', 'recordsPerFetch', 'deaggregate', 'awsAssumedRoleArn', 'awsExternalId'],
};

const KINESIS_ENDPOINT = 'kinesis.us-east-1.amazonaws.com';

/** @param stream  its name, which stands in different places of the documents */
export function parseStreamSource(kind: StreamKind, fields: ObjectReader, stream: string): StreamSource {
  if (kind === 'kafka') {
    if (fields.has('configOverrides')) throw fields.unsupported('configOverrides', 'write the properties in consumerProperties');
    return {
      kind,
      stream,
      isPattern: fields.boolean('multiTopic', false),
      properties: parseConsumerProperties(fields.object('consumerProperties')),
    };
  }
  if (fields.boolean('deaggregate', true) === false) throw fields.unsupported('deaggregate', 'aggregated records are always taken apart');
  const region = fields.optionalString('region');
  return {
    kind,
    stream,
    endpoint: fields.optionalString('endpoint') ?? (region === undefined ? KINESIS_ENDPOINT : `kinesis.${region}.amazonaws.com`),
    fetchDelayMs: fields.optionalInteger('fetchDelayMillis', 0) ?? 0,
    assumedRoleArn: fields.optionalString('awsAssumedRoleArn') ?? null,
    externalId: fields.optionalString('awsExternalId') ?? null,
  };
}
