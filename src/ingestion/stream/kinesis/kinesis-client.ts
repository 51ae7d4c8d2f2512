// The only file that calls the client of Kinesis: lists shards, finds places in them, reads records.

import type { LookupAddress } from 'node:dns';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { createRequire } from 'node:module';
import type { GetRecordsCommandOutput, GetShardIteratorCommandInput, KinesisClient as SdkClient } from '@aws-sdk/client-kinesis';
import { ServiceError } from '../../../base/errors.js';
import type { EpochMs } from '../../../base/instant.js';
import { checkedLookup } from '../../../storage/s3/checked-lookup.js';
import type { StreamSource } from '../stream-source.js';

export type KinesisSource = Extract<StreamSource, { kind: 'kinesis' }>;

/** The key that requests are signed with; null: where the SDK of AWS looks for credentials. Plain data: it goes to the processes of tasks. */
export type KinesisCredentials = { readonly accessKeyId: string; readonly secretAccessKey: string } | null;

/** Parts of its process that reading Kinesis may use. */
export interface KinesisAccess {
  readonly credentials: KinesisCredentials;
  /** The addresses that may be connected to for the URL of an endpoint. @throws ServiceError `forbidden` */
  addressesOf(url: URL): Promise<readonly LookupAddress[]>;
}

export interface Shard {
  readonly id: string;
  /** Number before that of its first record. */
  readonly start: string;
}

/** Place in a shard that reading begins at. */
export type ShardPlace =
  | { readonly kind: 'at' | 'after'; readonly sequence: string }
  | { readonly kind: 'earliest' }
  | { readonly kind: 'time'; readonly timeMs: EpochMs };

export interface ShardRecord {
  readonly sequence: string;
  readonly partitionKey: string;
  readonly arrivedMs: EpochMs;
  readonly data: Uint8Array;
}

export interface ShardAnswer {
  readonly records: readonly ShardRecord[];
  /** Iterator with which the next call reads on; null: the shard is closed, and read to its end. */
  readonly next: string | null;
  /** Age of what comes next; 0: the end is reached. */
  readonly behindMs: number;
}

const CALL_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 64;
/** Requests that one call makes, with growing pauses, when the service cannot be reached or asks for fewer. */
const ATTEMPTS = 3;
/** Pages of a list of shards: a stream has 20,000 at most. */
const PAGES_MAX = 200;

/** Refusals of a caller: trying again changes nothing. */
const REFUSED = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'ExpiredTokenException',
  'IncompleteSignature',
  'InvalidClientTokenId',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'SignatureDoesNotMatch',
  'UnrecognizedClientException',
  'KMSAccessDeniedException',
  'KMSDisabledException',
  'KMSInvalidStateException',
  'KMSNotFoundException',
  'KMSOptInRequired',
  'ValidationException',
]);
const TOO_FAST = new Set([
  'ProvisionedThroughputExceededException',
  'LimitExceededException',
  'KMSThrottlingException',
  'ThrottlingException',
]);

/** The service asks for fewer calls. */
export class TooFast extends Error {}
/** The iterator is too old: another one is needed. */
export class IteratorExpired extends Error {}
/** The shard, or the number in it, is not there any more. */
export class ShardGone extends Error {}

export class KinesisClient {
  readonly #source: KinesisSource;
  readonly #sdk: typeof import('@aws-sdk/client-kinesis');
  readonly #client: SdkClient;

  constructor(source: KinesisSource, { credentials, addressesOf }: KinesisAccess) {
    const require = createRequire(import.meta.url);
    this.#source = source;
    this.#sdk = require('@aws-sdk/client-kinesis') as typeof import('@aws-sdk/client-kinesis');
    const { NodeHttpHandler } = require('@smithy/node-http-handler') as typeof import('@smithy/node-http-handler');
    const lookup = source.isOfAws ? {} : { lookup: checkedLookup(source.endpoint, addressesOf) };
    const agent = { keepAlive: true, maxSockets: CONNECTIONS_MAX, ...lookup };
    this.#client = new this.#sdk.KinesisClient({
      endpoint: source.endpoint,
      region: source.region,
      ...(credentials === null ? {} : { credentials }),
      maxAttempts: ATTEMPTS,
      requestHandler: new NodeHttpHandler({
        httpAgent: new HttpAgent(agent),
        httpsAgent: new HttpsAgent(agent),
        connectionTimeout: CALL_TIMEOUT_MS,
        requestTimeout: CALL_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      }),
    });
  }

  /** All shards that have records, or may get some. @throws ServiceError `not_found` for a stream that is not there */
  async shards(): Promise<readonly Shard[]> {
    const { stream } = this.#source;
    const shards = new Map<string, Shard>();
    let token: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const command = new this.#sdk.ListShardsCommand(token === undefined ? { StreamName: stream } : { NextToken: token });
      const answer = await this.#asked(`shards of ${stream}`, () => this.#client.send(command)).catch((error: unknown) => {
        throw error instanceof ShardGone ? new ServiceError('not_found', `${this.#source.endpoint}: there is no stream ${stream}`) : error;
      });
      for (const { ShardId: id, SequenceNumberRange: range } of answer.Shards ?? [])
        if (id !== undefined && range?.StartingSequenceNumber !== undefined) shards.set(id, { id, start: range.StartingSequenceNumber });
      token = answer.NextToken;
      if (token === undefined) return [...shards.values()];
    }
    throw new ServiceError('input_unreadable', `${this.#source.endpoint}: the list of shards of ${stream} has no end`);
  }

  /** @throws ShardGone; ServiceError */
  async iterator(shard: string, place: ShardPlace): Promise<string> {
    const command = new this.#sdk.GetShardIteratorCommand({ StreamName: this.#source.stream, ShardId: shard, ...placeInput(place) });
    const { ShardIterator: iterator } = await this.#asked(`shard ${shard}`, () => this.#client.send(command));
    if (iterator === undefined) throw this.#unreadable(`shard ${shard}: the answer has no iterator`);
    return iterator;
  }

  /** @throws TooFast, IteratorExpired, ShardGone; ServiceError */
  async records(shard: string, iterator: string, limit: number, signal: AbortSignal): Promise<ShardAnswer> {
    const command = new this.#sdk.GetRecordsCommand({ ShardIterator: iterator, Limit: limit });
    const answer = await this.#asked(`shard ${shard}`, () => this.#client.send(command, { abortSignal: signal }));
    return {
      records: (answer.Records ?? []).map((record) => this.#recordOf(shard, record)),
      next: answer.NextShardIterator ?? null,
      behindMs: answer.MillisBehindLatest ?? 0,
    };
  }

  close(): void {
    this.#client.destroy();
  }

  #recordOf(shard: string, record: NonNullable<GetRecordsCommandOutput['Records']>[number]): ShardRecord {
    const { SequenceNumber: sequence, Data: data, PartitionKey: partitionKey = '', ApproximateArrivalTimestamp: arrived } = record;
    if (sequence === undefined || data === undefined) throw this.#unreadable(`shard ${shard}: a record has no number or no data`);
    return { sequence, partitionKey, arrivedMs: arrived?.getTime() ?? 0, data };
  }

  async #asked<Answer>(what: string, call: () => Promise<Answer>): Promise<Answer> {
    try {
      return await call();
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      const { name, message } = error instanceof Error ? error : { name: '', message: String(error) };
      if (TOO_FAST.has(name)) throw new TooFast(message);
      if (name === 'ExpiredIteratorException') throw new IteratorExpired(message);
      if (name === 'ResourceNotFoundException' || name === 'InvalidArgumentException') throw new ShardGone(message);
      const text = `${this.#source.endpoint}: ${what}: ${message}`;
      throw new ServiceError(REFUSED.has(name) ? 'input_unreadable' : 'unavailable', text, error);
    }
  }

  #unreadable(text: string): ServiceError {
    return new ServiceError('input_unreadable', `${this.#source.endpoint}: ${text}`);
  }
}

function placeInput(place: ShardPlace): Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'StartingSequenceNumber' | 'Timestamp'> {
  switch (place.kind) {
    case 'at':
      return { ShardIteratorType: 'AT_SEQUENCE_NUMBER', StartingSequenceNumber: place.sequence };
    case 'after':
      return { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', StartingSequenceNumber: place.sequence };
    case 'earliest':
      return { ShardIteratorType: 'TRIM_HORIZON' };
    case 'time':
      return { ShardIteratorType: 'AT_TIMESTAMP', Timestamp: new Date(place.timeMs) };
  }
}
