import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../../services.js';

type Sdk = typeof import('@aws-sdk/client-kinesis');

export interface TestRecord {
  readonly key: string;
  readonly data: string | Uint8Array;
}

/** A server of Kinesis that runs for a test. */
export interface TestKinesis {
  readonly endpoint: string;
  createStream(name: string, shards: number): Promise<void>;
  /** Sends records in turn; returns the shard and number of each. */
  send(stream: string, records: readonly TestRecord[]): Promise<readonly { readonly shard: string; readonly sequence: string }[]>;
  split(stream: string, shard: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts one; undefined, with a printed reason, where it cannot be had. */
export async function startKinesis(): Promise<TestKinesis | undefined> {
  const service = await startService('kinesis');
  if (service === undefined) return undefined;
  const require = createRequire(import.meta.url);
  const sdk = require('@aws-sdk/client-kinesis') as Sdk;
  const { NodeHttpHandler } = require('@smithy/node-http-handler') as typeof import('@smithy/node-http-handler');
  const client = new sdk.KinesisClient({
    endpoint: service.uri,
    region: 'us-east-1',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: new NodeHttpHandler({}),
  });
  const untilActive = async (name: string): Promise<void> => {
    for (let tries = 0; tries < 600; tries++) {
      const { StreamDescriptionSummary: told } = await client.send(new sdk.DescribeStreamSummaryCommand({ StreamName: name }));
      if (told?.StreamStatus === 'ACTIVE') return;
      await sleep(50);
    }
    throw new Error(`the stream ${name} is not active`);
  };
  return {
    endpoint: service.uri,
    async createStream(name, shards) {
      await client.send(new sdk.CreateStreamCommand({ StreamName: name, ShardCount: shards }));
      await untilActive(name);
    },
    async send(stream, records) {
      const places: { shard: string; sequence: string }[] = [];
      for (const { key, data } of records) {
        const bytes = typeof data === 'string' ? Buffer.from(data) : data;
        const answer = await client.send(new sdk.PutRecordCommand({ StreamName: stream, PartitionKey: key, Data: bytes }));
        places.push({ shard: answer.ShardId ?? '', sequence: answer.SequenceNumber ?? '' });
      }
      return places;
    },
    async split(stream, shard) {
      const { Shards: shards = [] } = await client.send(new sdk.ListShardsCommand({ StreamName: stream }));
      const range = shards.find(({ ShardId: id }) => id === shard)?.HashKeyRange;
      const middle = (BigInt(range?.StartingHashKey ?? 0) + BigInt(range?.EndingHashKey ?? 0)) / 2n;
      await client.send(new sdk.SplitShardCommand({ StreamName: stream, ShardToSplit: shard, NewStartingHashKey: String(middle) }));
      await untilActive(stream);
    },
    async stop() {
      client.destroy();
      await service.stop();
    },
  };
}
