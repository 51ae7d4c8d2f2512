// Connections to the brokers of a cluster of Kafka, and what readers ask them for.

import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { TIMER_MS_MAX } from '../../../base/clock/clock.js';
import { ServiceError } from '../../../base/errors.js';
import { type BrokerAddress, type BrokerConnection, openConnection } from './broker-connection.js';
import { logIn } from './broker-login.js';
import type { ConsumerSettings } from './consumer-settings.js';
import {
  apiVersions,
  type BrokerRequest,
  type ClusterMetadata,
  type FetchAnswer,
  type FetchPlace,
  type FoundOffset,
  fetchRecords,
  listOffsets,
  metadata,
  type PartitionOfTopic,
  REQUEST_KINDS,
} from './requests.js';

/** Code of brokers for an offset that a partition does not have. */
export const OUT_OF_RANGE = 1;

/** Faults that another look at who leads a partition may end. */
export const PASSING_FAULTS: ReadonlySet<number> = new Set([3, 5, 6, 7, 8, 9, 13, 56, 72, 74, 75, 78, 100, 103]);

const UNSUPPORTED_VERSION = 35;
const NOT_ALLOWED = 29;
/** Share of the time of a login after which the connection is made anew. */
const LOGIN_SHARE = 0.8;

/** Who leads partitions. */
export interface Leaders {
  /** -1: nobody just now. */
  of(place: PartitionOfTopic): number;
  /** Brokers do not know the partition. */
  missing(place: PartitionOfTopic): boolean;
}

/** One connection for messages and one for all else with each broker, opened when they are needed. */
export class KafkaClient {
  readonly #settings: ConsumerSettings;
  readonly #connections = new Map<string, Promise<Opened>>();
  #brokers: ReadonlyMap<number, BrokerAddress> = new Map();
  #isClosed = false;

  constructor(settings: ConsumerSettings) {
    this.#settings = settings;
  }

  get settings(): ConsumerSettings {
    return this.#settings;
  }

  /** Finds a broker that answers. @throws ServiceError `unavailable`, `unsupported` for brokers of other versions than ours */
  async connect(): Promise<void> {
    const { errorCode, kinds } = await this.#ask('connecting', null, apiVersions());
    for (const { key, version } of Object.values(REQUEST_KINDS)) {
      const known = kinds.find((kind) => kind.key === key);
      const isLogin = key === REQUEST_KINDS.saslHandshake.key || key === REQUEST_KINDS.saslAuthenticate.key;
      if (isLogin && this.#settings.login === null) continue;
      if (errorCode === UNSUPPORTED_VERSION || known === undefined || known.least > version || known.most < version)
        throw new ServiceError(
          'unsupported',
          `${this.#settings.servers}: its brokers do not answer version ${version} of request ${key}; those of Kafka 2.3 to 4 do`,
        );
    }
  }

  /**
   * Topics that brokers know, and who leads their partitions.
   * @param topics  null: all that this login may see
   * @throws ServiceError `unavailable` for one of `topics` that the broker refuses to tell of
   */
  async metadata(topics: readonly string[] | null): Promise<ClusterMetadata> {
    const found = await this.#ask('topics', null, metadata(topics));
    this.#brokers = new Map(found.brokers.map(({ id, host, port }) => [id, { host, port }]));
    const refused = topics === null ? undefined : found.topics.find(({ errorCode }) => errorCode !== 0 && !PASSING_FAULTS.has(errorCode));
    if (refused === undefined) return found;
    const { name, errorCode } = refused;
    const reason = errorCode === NOT_ALLOWED ? 'this login may not describe it' : `the broker refuses with code ${errorCode}`;
    throw new ServiceError('unavailable', `${this.#settings.servers}: topic ${name}: ${reason}`);
  }

  /** The brokers that lead the partitions of topics. */
  async leaders(topics: readonly string[]): Promise<Leaders> {
    const { topics: found } = await this.metadata(topics);
    const leaders = new Map(
      found.flatMap(({ name, partitions }) => partitions.map(({ partition, leader }) => [`${name}:${partition}`, leader] as const)),
    );
    return {
      of: ({ topic, partition }) => leaders.get(`${topic}:${partition}`) ?? -1,
      missing: ({ topic, partition }) => !leaders.has(`${topic}:${partition}`),
    };
  }

  /** Offsets at the beginning (-2) or end (-1) of partitions that a broker leads. */
  async offsets(broker: number, places: readonly PartitionOfTopic[], time: -1 | -2, isolation: number): Promise<readonly FoundOffset[]> {
    return this.#ask('offsets', broker, listOffsets(places, time, isolation));
  }

  /** Messages behind offsets of partitions that a broker leads, once there are any, or after the time that the properties name. */
  async fetch(broker: number, places: readonly FetchPlace[]): Promise<Omit<FetchAnswer, 'errorCode'>> {
    const { fetch, rack, isolation } = this.#settings;
    const { errorCode, ...answer } = await this.#ask('messages', broker, fetchRecords(places, { ...fetch, rack, isolation }));
    if (errorCode !== 0)
      throw new ServiceError('unavailable', `${this.#settings.servers}: messages: the broker refuses with code ${errorCode}`);
    return answer;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#connections.values()];
    this.#connections.clear();
    for (const opening of open) opening.then(({ connection }) => connection.close()).catch(() => undefined);
    await Promise.allSettled(open);
  }

  /** @param broker  null: any */
  async #ask<Value>(what: string, broker: number | null, request: BrokerRequest<Value>): Promise<Value> {
    const { servers, timeoutMs, fetch } = this.#settings;
    try {
      const connection = await this.#connection(`${broker ?? 'any'} ${request.kind === 'fetch'}`, broker);
      return await connection.ask(request, Math.min(TIMER_MS_MAX, timeoutMs + (request.kind === 'fetch' ? fetch.waitMs : 0)));
    } catch (error) {
      throw new ServiceError('unavailable', `${servers}: ${what}: ${reasonOf(error)}`, error);
    }
  }

  async #connection(key: string, broker: number | null): Promise<BrokerConnection> {
    for (;;) {
      const before = this.#connections.get(key);
      if (before === undefined) break;
      const known = await before.catch(() => undefined);
      if (known?.connection.isOpen === true && performance.now() < known.untilMs) return known.connection;
      // Others may wait for the same; the first of them opens another one for all.
      if (this.#connections.get(key) !== before) continue;
      known?.connection.close();
      this.#connections.delete(key);
    }
    const opening = this.#open(broker);
    this.#connections.set(key, opening);
    return (await opening).connection;
  }

  async #open(broker: number | null): Promise<Opened> {
    const known = broker === null ? [...this.#brokers.values()] : [this.#brokers.get(broker)].filter((each) => each !== undefined);
    const addresses = [...(broker === null ? this.#settings.addresses : []), ...known];
    let failure: unknown = new Error(`broker ${broker} is not among those that are known`);
    for (const address of addresses) {
      if (this.#isClosed) throw new Error('the reader is closed');
      try {
        return await this.#openAt(address);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async #openAt(address: BrokerAddress): Promise<Opened> {
    const { clientId, timeoutMs, tls, login } = this.#settings;
    const connection = await openConnection({ ...address, clientId, timeoutMs, tls: tls && tlsOptions(tls, address.host) });
    try {
      const lifetimeMs = login === null ? 0 : await logIn((request) => connection.ask(request, timeoutMs), login);
      if (this.#isClosed) throw new Error('the reader is closed');
      return { connection, untilMs: lifetimeMs === 0 ? Infinity : performance.now() + lifetimeMs * LOGIN_SHARE };
    } catch (error) {
      connection.close();
      throw error;
    }
  }
}

interface Opened {
  readonly connection: BrokerConnection;
  /** Until then it is logged in. */
  readonly untilMs: number;
}

function tlsOptions({ checksHost, ...options }: NonNullable<ConsumerSettings['tls']>, host: string): ConnectionOptions {
  return {
    ...options,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(checksHost ? {} : { checkServerIdentity: () => undefined }),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { errors } = error as { readonly errors?: readonly unknown[] };
  // None of several addresses of a name could be reached.
  if (error.message === '' && errors !== undefined) return reasonOf(errors[0]);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
