// Lookups whose entries are the messages of a topic of Kafka.

import { TIMER_MS_MAX } from '../../base/clock/clock.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { parseConsumerProperties } from '../../ingestion/stream/kafka/consumer-properties.js';
import { openKafkaReader } from '../../ingestion/stream/kafka/kafka-reader.js';
import { FollowedTopic } from './followed-topic.js';
import type { LookupSettings, LookupSource } from './lookup-source.js';

/** Time between two looks at the topic, and least time between two states of a lookup. */
const LOOK_MS = 1000;
/** Properties that say where a group reads on: every process reads the whole topic, by itself. */
const OURS = ['group.id', 'auto.offset.reset'];

/** The source `kafka`: of each key the value of its last message. */
export function kafkaTopic(reader: ObjectReader, settings: LookupSettings): LookupSource {
  reader.accept(['kafkaTopic', 'kafkaProperties', 'connectTimeout', 'isOneToOne', 'injective']);
  reader.boolean('isOneToOne', false);
  reader.boolean('injective', false);
  const topic = reader.string('kafkaTopic');
  if (topic === '') throw reader.invalid('kafkaTopic', 'expected the name of a topic');
  const fields = reader.object('kafkaProperties');
  for (const key of OURS)
    if (fields.has(key)) throw fields.invalid(key, 'may not be set: a lookup joins no group and reads the topic from its beginning');
  const source = { kind: 'kafka', stream: topic, isPattern: false, properties: parseConsumerProperties(fields) } as const;
  const { sourceLimits, bytesMax, now } = settings;
  const topicRead = new FollowedTopic({
    open: () => openKafkaReader(source, { allowedVariables: sourceLimits.http.passwordVariables ?? [], now }),
    connectMs: reader.optionalInteger('connectTimeout', 0, TIMER_MS_MAX) || null,
    bytesMax,
  });
  return {
    isInline: false,
    goesOn: true,
    pollMs: LOOK_MS,
    jitterMs: 0,
    timeoutMs: null,
    maxHeapPercentage: 100,
    read: (_, signal) => topicRead.read(signal),
    close: () => topicRead.close(),
  };
}
