import { createRequire } from 'node:module';
import { startService } from '../../services.js';

interface Fault {
  readonly message: string;
}

type Done = (error: Fault | null | undefined) => void;

interface Client {
  connect(options: object, done: Done): void;
  disconnect(done: Done): void;
}

interface Producer extends Client {
  setPollInterval(ms: number): void;
  produce(
    topic: string,
    partition: number,
    value: Buffer | null,
    key?: Buffer | null,
    timestamp?: number | null,
    opaque?: unknown,
    headers?: readonly object[],
  ): void;
  flush(ms: number, done: Done): void;
  initTransactions(ms: number, done: Done): void;
  beginTransaction(done: Done): void;
  commitTransaction(ms: number, done: Done): void;
  abortTransaction(ms: number, done: Done): void;
}

interface Admin {
  createTopic(topic: object, timeoutMs: number, done: Done): void;
  deleteTopic(topic: string, timeoutMs: number, done: Done): void;
  createPartitions(topic: string, total: number, timeoutMs: number, done: Done): void;
  deleteRecords(places: readonly object[], options: object, done: Done): void;
  disconnect(): void;
}

interface Library {
  readonly Producer: new (settings: object) => Producer;
  readonly AdminClient: { create(settings: object): Admin };
}

export interface Message {
  readonly partition?: number;
  readonly value: string | null;
  readonly key?: string;
  readonly timestampMs?: number;
  readonly headers?: readonly (readonly [string, string])[];
}

const settle = (call: (done: Done) => void): Promise<void> =>
  new Promise((resolve, reject) => call((error) => (error === null || error === undefined ? resolve() : reject(new Error(error.message)))));

/** A broker of Kafka for a test, with what writes to it. */
export interface TestKafka {
  readonly servers: string;
  createTopic(name: string, partitions: number, config?: Readonly<Record<string, string>>): Promise<void>;
  deleteTopic(name: string): Promise<void>;
  addPartitions(name: string, total: number): Promise<void>;
  /** Removes what lies before an offset of a partition. */
  forget(topic: string, partition: number, offset: number): Promise<void>;
  send(topic: string, messages: readonly Message[]): Promise<void>;
  sendInTransaction(topic: string, messages: readonly Message[], ending: 'commit' | 'abort'): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a broker; undefined, with a printed reason, where it cannot be had. */
export async function startKafka(): Promise<TestKafka | undefined> {
  let library: Library;
  try {
    library = createRequire(import.meta.url)('@confluentinc/kafka-javascript') as Library;
  } catch {
    console.log('skipped: the client of Kafka, an optional package, is not installed (npm run services -- kafka install, npm ci)');
    return undefined;
  }
  const service = await startService('kafka');
  if (service === undefined) return undefined;
  const settings = { 'bootstrap.servers': service.uri, log_level: 2 };
  const admin = library.AdminClient.create(settings);
  const producer = new library.Producer({ ...settings, 'enable.idempotence': true, 'linger.ms': 1, 'message.max.bytes': 15_000_000 });
  producer.setPollInterval(10);
  await settle((done) => producer.connect({}, done));
  let transactions: Producer | undefined;
  const produce = (by: Producer, topic: string, messages: readonly Message[]): void => {
    for (const { partition = 0, value, key, timestampMs, headers } of messages)
      by.produce(
        topic,
        partition,
        value === null ? null : Buffer.from(value),
        key === undefined ? null : Buffer.from(key),
        timestampMs ?? null,
        undefined,
        headers?.map(([name, text]) => ({ [name]: text })),
      );
  };
  return {
    servers: service.uri,
    createTopic: (topic, num_partitions, config = {}) =>
      settle((done) => admin.createTopic({ topic, num_partitions, replication_factor: 1, config }, 10_000, done)),
    deleteTopic: (topic) => settle((done) => admin.deleteTopic(topic, 10_000, done)),
    addPartitions: (topic, total) => settle((done) => admin.createPartitions(topic, total, 10_000, done)),
    forget: (topic, partition, offset) => settle((done) => admin.deleteRecords([{ topic, partition, offset }], { timeout: 10_000 }, done)),
    async send(topic, messages) {
      produce(producer, topic, messages);
      await settle((done) => producer.flush(20_000, done));
    },
    async sendInTransaction(topic, messages, ending) {
      if (transactions === undefined) {
        const by = new library.Producer({ ...settings, 'transactional.id': 'test' });
        by.setPollInterval(10);
        await settle((done) => by.connect({}, done));
        await settle((done) => by.initTransactions(20_000, done));
        transactions = by;
      }
      const by = transactions;
      await settle((done) => by.beginTransaction(done));
      produce(by, topic, messages);
      await settle((done) => by.flush(20_000, done));
      await settle((done) => (ending === 'commit' ? by.commitTransaction(20_000, done) : by.abortTransaction(20_000, done)));
    },
    async stop() {
      for (const each of [producer, transactions]) if (each !== undefined) await settle((done) => each.disconnect(done));
      admin.disconnect();
      await service.stop();
    },
  };
}
