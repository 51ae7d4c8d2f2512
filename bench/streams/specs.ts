import type { Shape } from './shapes.js';

const NO_END = '9223372036854775807';

export const dataSchema = (dataSource: string, { dimensions, metrics = [], granularity = { rollup: false } }: Shape): object => ({
  dataSource,
  timestampSpec: { column: 't', format: 'millis' },
  dimensionsSpec: { dimensions },
  metricsSpec: metrics,
  granularitySpec: { segmentGranularity: 'day', ...granularity },
});

/** A task that reads the only partition of a topic from its beginning on. */
export const streamTask = (servers: string, topic: string, shape: Shape, dataSource = topic): object => ({
  type: 'index_kafka',
  dataSchema: dataSchema(dataSource, { ...shape, dimensions: [...shape.dimensions, ...(shape.beside?.dimensions ?? [])] }),
  ioConfig: {
    type: 'kafka',
    baseSequenceName: dataSource,
    startSequenceNumbers: { type: 'start', stream: topic, partitionSequenceNumberMap: { 0: 0 } },
    endSequenceNumbers: { type: 'end', stream: topic, partitionSequenceNumberMap: { 0: NO_END } },
    consumerProperties: { 'bootstrap.servers': servers },
    inputFormat: shape.beside?.inputFormat ?? shape.inputFormat,
  },
  tuningConfig: { type: 'kafka' },
});
