import { pathToFileURL } from 'node:url';
import { type Service, startService } from '../../services.js';

export interface Message {
  readonly partition?: number;
  readonly value: string | null;
  readonly key?: string;
  readonly timestampMs?: number;
  readonly headers?: readonly (readonly [string, string])[];
}

/** A broker of Kafka for a test, with what writes to it: another client than ours. */
export interface TestKafka {
  readonly servers: string;
  readonly service: Service;
  createTopic(name: string, partitions: number, config?: Readonly<Record<string, string>>): Promise<void>;
  deleteTopic(name: string): Promise<void>;
  addPartitions(name: string, total: number): Promise<void>;
  /** Removes what lies before an offset of a partition. */
  forget(topic: string, partition: number, offset: number): Promise<void>;
  send(topic: string, messages: readonly Message[], compression?: 'gzip' | 'snappy' | 'lz4'): Promise<void>;
  sendInTransaction(topic: string, messages: readonly Message[], ending: 'commit' | 'abort'): Promise<void>;
  stop(): Promise<void>;
}

interface Sent {
  readonly topic: string;
  readonly partition: number;
  readonly value?: string;
  readonly key?: string;
  readonly timestamp?: bigint;
  readonly headers?: ReadonlyMap<string, string>;
}

interface Sender {
  send(options: { readonly messages: readonly Sent[]; readonly compression?: string }): Promise<unknown>;
}

interface Transaction extends Sender {
  commit(): Promise<void>;
  abort(): Promise<void>;
}

interface Producer extends Sender {
  beginTransaction(): Promise<Transaction>;
  close(): Promise<void>;
}

interface Admin {
  createTopics(options: object): Promise<unknown>;
  deleteTopics(options: object): Promise<void>;
  createPartitions(options: object): Promise<void>;
  deleteRecords(options: object): Promise<unknown>;
  close(): Promise<void>;
}

/** Parts of @platformatic/kafka that write. */
interface Library {
  readonly Admin: new (settings: object) => Admin;
  readonly Producer: new (settings: object) => Producer;
}

/** Text, as the serializers of the client take it; null stays null. */
const serializers = {
  key: (text?: string) => (text === undefined ? undefined : Buffer.from(text)),
  value: (text?: string) => (text === undefined ? undefined : Buffer.from(text)),
  headerKey: (text?: string) => Buffer.from(text ?? ''),
  headerValue: (text?: string) => Buffer.from(text ?? ''),
};

/** Starts a broker; undefined, with a printed reason, where it cannot be had. */
export async function startKafka(): Promise<TestKafka | undefined> {
  const service = await startService('kafka');
  if (service?.client === undefined) return undefined;
  const { Admin, Producer } = (await import(pathToFileURL(service.client).href)) as Library;
  const settings = { clientId: 'test', bootstrapBrokers: [service.uri], timeout: 20_000, connectTimeout: 20_000, requestTimeout: 30_000 };
  const admin = new Admin(settings);
  const producerOf = (options: object): Producer => new Producer({ ...settings, serializers, idempotent: true, ...options });
  const producer = producerOf({});
  let transactions: Producer | undefined;
  const sent = (topic: string, messages: readonly Message[]): Sent[] =>
    messages.map(({ partition = 0, value, key, timestampMs, headers }) => ({
      topic,
      partition,
      ...(value === null ? {} : { value }),
      ...(key === undefined ? {} : { key }),
      ...(timestampMs === undefined ? {} : { timestamp: BigInt(timestampMs) }),
      ...(headers === undefined ? {} : { headers: new Map(headers) }),
    }));
  return {
    servers: service.uri,
    service,
    async createTopic(name, partitions, config = {}) {
      const configs = Object.entries(config).map(([key, value]) => ({ name: key, value }));
      await admin.createTopics({ topics: [name], partitions, replicas: 1, configs });
    },
    deleteTopic: (name) => admin.deleteTopics({ topics: [name] }),
    addPartitions: (name, count) => admin.createPartitions({ topics: [{ name, count, assignments: [] }] }),
    async forget(name, partition, offset) {
      await admin.deleteRecords({ topics: [{ name, partitions: [{ partition, offset: BigInt(offset) }] }] });
    },
    async send(topic, messages, compression) {
      await producer.send({ messages: sent(topic, messages), ...(compression === undefined ? {} : { compression }) });
    },
    async sendInTransaction(topic, messages, ending) {
      transactions ??= producerOf({ transactionalId: 'test' });
      const transaction = await transactions.beginTransaction();
      await transaction.send({ messages: sent(topic, messages) });
      await (ending === 'commit' ? transaction.commit() : transaction.abort());
    },
    async stop() {
      await Promise.all([admin, producer, transactions].map((client) => client?.close()));
      await service.stop();
    },
  };
}
