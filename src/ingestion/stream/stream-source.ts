// Reads where a stream is, from the `ioConfig` of a supervisor, a task or a sample.

import type { ObjectReader } from '../../base/json-reader.js';
import type { StreamKind } from '../../model/stream/offsets.js';
import { endpointUrl } from '../../storage/s3/s3-settings.js';
import { type ConsumerProperties, parseConsumerProperties } from './kafka/consumer-properties.js';

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
      /** URL. */
      readonly endpoint: string;
      /** Whether its name is one of AWS, which anybody may connect to. */
      readonly isOfAws: boolean;
      /** Region that requests are signed for. */
      readonly region: string;
      /** Pause between two requests for records of a shard. */
      readonly fetchDelayMs: number;
      /** Records that one request asks for; null: as many as an answer may have. */
      readonly recordsPerFetch: number | null;
    };

/** Keys of an `ioConfig` that say how a stream is reached. */
export const STREAM_SOURCE_KEYS: Readonly<Record<StreamKind, readonly string[]>> = {
  kafka: ['consumerProperties', 'pollTimeout', 'configOverrides', 'multiTopic'],
  kinesis: ['endpoint', 'region', 'fetchDelayMillis', 'recordsPerFetch', 'deaggregate', 'awsAssumedRoleArn', 'awsExternalId'],
};

const KINESIS_REGION = 'us-east-1';
const AWS_HOST = /^[a-z0-9.-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws)$/;
const RECORDS_PER_FETCH_MAX = 10_000;

/** @param stream  its name, which stands in different places of the documents */
export function parseStreamSource(kind: StreamKind, fields: ObjectReader, stream: string): StreamSource {
  if (kind === 'kafka') {
    // Read by each task.
    fields.optionalInteger('pollTimeout', 0);
    if (fields.has('configOverrides')) throw fields.unsupported('configOverrides', 'write the properties in consumerProperties');
    return {
      kind,
      stream,
      isPattern: fields.boolean('multiTopic', false),
      properties: parseConsumerProperties(fields.object('consumerProperties')),
    };
  }
  if (fields.boolean('deaggregate', true) === false) throw fields.unsupported('deaggregate', 'aggregated records are always taken apart');
  for (const key of ['awsAssumedRoleArn', 'awsExternalId'])
    if (fields.has(key)) throw fields.unsupported(key, 'name the role in a profile of the AWS configuration that the server runs with');
  const region = fields.optionalString('region');
  const written = fields.optionalString('endpoint') ?? `kinesis.${region ?? KINESIS_REGION}.amazonaws.com`;
  const endpoint = endpointUrl(written, 'https');
  if (endpoint === undefined) throw fields.invalid('endpoint', `expected a host or an http or https URL, found "${written}"`);
  const { hostname } = new URL(endpoint);
  return {
    kind,
    stream,
    endpoint,
    isOfAws: AWS_HOST.test(hostname),
    region: region ?? /(?:^|\.)kinesis(?:-fips)?\.([a-z0-9-]+)\./.exec(hostname)?.[1] ?? KINESIS_REGION,
    fetchDelayMs: fields.optionalInteger('fetchDelayMillis', 0) ?? 0,
    recordsPerFetch: fields.optionalInteger('recordsPerFetch', 1, RECORDS_PER_FETCH_MAX) ?? null,
  };
}
