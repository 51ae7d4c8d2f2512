import { readFileSync } from 'node:fs';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import { recordsOf } from '../../../src/ingestion/stream/message-block.js';
import { openStreamReader } from '../../../src/ingestion/stream/open-reader.js';
import type { StreamReader } from '../../../src/ingestion/stream/stream-reader.js';
import { parseStreamSource } from '../../../src/ingestion/stream/stream-source.js';
import { startKafka } from './kafka.js';

/** Compressions, restarts, TLS and logins with a real broker. */
const kafka = await startKafka();
const access = suite('access to Kafka');

function open(stream: string, properties: Readonly<Record<string, unknown>> = {}): Promise<StreamReader> {
  const consumerProperties = { 'bootstrap.servers': kafka?.servers, ...properties };
  const fields = new ObjectReader({ consumerProperties }, 'ioConfig', readContextOf('input_invalid', 'ioConfig'));
  const options = { kinesis: { credentials: null, addressesOf: async () => [] }, allowedVariables: [], now: Date.now };
  return openStreamReader(parseStreamSource('kafka', fields, stream), options);
}

/** Values of the messages of partition 0 until one offset; a stream that cannot be reached is asked again. */
async function valuesUntil(reader: StreamReader, from: number, end: number): Promise<readonly string[]> {
  await reader.assign(new Map([['0', { offset: String(from), isExclusive: false }]]));
  return readOn(reader, end);
}

async function readOn(reader: StreamReader, end: number): Promise<readonly string[]> {
  const values: string[] = [];
  let at = -1;
  for (let polls = 0; at < end; polls++) {
    assert.ok(polls < 600, `stands at ${at}`);
    try {
      const { blocks, positions } = await reader.poll({ maxRows: 1000, maxBytes: 1 << 20, timeoutMs: 100 });
      for (const { values: own } of recordsOf(blocks)) values.push(Buffer.from(own[0] ?? []).toString());
      at = Math.max(at, Number(positions.get('0') ?? -1));
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== 'unavailable') throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return values;
}

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `message ${at} `.repeat(1 + (at % 40)));

if (kafka === undefined) {
  access.skip('a broker', () => undefined);
} else {
  const { service } = kafka;
  const uris = service.secureUris ?? { SSL: '', SASL_PLAINTEXT: '', SASL_SSL: '' };
  const pem = (name: string): string => readFileSync(path.join(service.certificates ?? '', name), 'utf8');
  access.after(() => kafka.stop());

  for (const compression of ['gzip', 'snappy', 'lz4'] as const)
    access(`messages that a producer compressed by ${compression} are read`, async () => {
      const topic = `produced-${compression}`;
      await kafka.createTopic(topic, 1);
      const values = numbered(3000);
      await kafka.send(
        topic,
        values.map((value) => ({ value })),
        compression,
      );
      const reader = await open(topic, { 'check.crcs': 'true' });
      assert.equal(await valuesUntil(reader, 0, values.length), values);
      await reader.close();
    });

  for (const compression of ['gzip', 'snappy', 'lz4', 'zstd'])
    access(`messages that the broker compressed by ${compression} are read, from the middle of a batch as well`, async () => {
      const topic = `stored-${compression}`;
      await kafka.createTopic(topic, 1, { 'compression.type': compression });
      const values = [...numbered(3000), ...new Array<string>(20_000).fill('x')];
      await kafka.send(
        topic,
        values.map((value) => ({ value })),
      );
      const reader = await open(topic, { 'check.crcs': 'true' });
      assert.equal(await valuesUntil(reader, 0, values.length), values);
      assert.equal(await valuesUntil(reader, 1234, values.length), values.slice(1234));
      await reader.close();
    });

  access('messages go on where they were, and no one twice, after the broker was started again', async () => {
    await kafka.createTopic('restarted', 1);
    await kafka.send('restarted', [{ value: 'a' }, { value: 'b' }]);
    const reader = await open('restarted');
    assert.equal(await valuesUntil(reader, 0, 2), ['a', 'b']);
    await service.halt();
    const lost: unknown = await readOn(reader, 3).catch((error: unknown) => error);
    assert.match(String(lost), /stands at -1/);
    await service.resume();
    await kafka.send('restarted', [{ value: 'c' }]);
    assert.equal(await readOn(reader, 3), ['c']);
    assert.equal(await reader.latest(['0']), new Map([['0', '3']]));
    await reader.close();
  });

  const trust = { 'ssl.truststore.certificates': pem('ca.pem') };
  const own = { 'ssl.keystore.certificate.chain': pem('client-cert.pem'), 'ssl.keystore.key': pem('client-key.pem') };
  const line = (module: string, password: string): object => ({
    'sasl.jaas.config': `org.apache.kafka.common.security.${module} required username="${service.user}" password="${password}";`,
  });
  const secured = (protocol: keyof typeof uris, properties: object): Readonly<Record<string, unknown>> => ({
    'bootstrap.servers': uris[protocol],
    'security.protocol': protocol,
    ...properties,
  });
  const scram = (hash: string, password: string): object => ({
    'sasl.mechanism': `SCRAM-SHA-${hash}`,
    'sasl.username': service.user,
    'sasl.password': password,
  });

  const ways: readonly (readonly [name: string, properties: Readonly<Record<string, unknown>>])[] = [
    ['TLS with a certificate of the client', secured('SSL', { ...trust, ...own })],
    ['PLAIN', secured('SASL_PLAINTEXT', { 'sasl.mechanism': 'PLAIN', ...line('plain.PlainLoginModule', service.password) })],
    ['SCRAM-SHA-256', secured('SASL_PLAINTEXT', scram('256', service.password))],
    ['SCRAM-SHA-512 by TLS', secured('SASL_SSL', { ...trust, ...scram('512', service.password) })],
    [
      'PLAIN by TLS',
      { ...secured('SASL_SSL', { ...trust, 'sasl.mechanism': 'PLAIN', ...line('plain.PlainLoginModule', service.password) }) },
    ],
  ];
  access('messages are read by each way to reach a broker', async () => {
    await kafka.createTopic('secured', 1);
    await kafka.send('secured', [{ value: 'a' }, { value: 'b' }]);
    for (const [name, properties] of ways) {
      const reader = await open('secured', properties);
      assert.equal(await reader.partitions(), ['0'], name);
      assert.equal(await valuesUntil(reader, 0, 2), ['a', 'b'], name);
      await reader.close();
    }
  });

  const refused: readonly (readonly [name: string, properties: Readonly<Record<string, unknown>>, message: RegExp])[] = [
    [
      'a wrong password of PLAIN',
      secured('SASL_PLAINTEXT', { 'sasl.mechanism': 'PLAIN', ...line('plain.PlainLoginModule', 'x') }),
      /refuses the login/,
    ],
    ['a wrong password of SCRAM', secured('SASL_PLAINTEXT', scram('512', 'x')), /refuses the login/],
    ['no login', { 'bootstrap.servers': uris.SASL_PLAINTEXT }, /topics: the broker closed the connection/],
    [
      'a CA that is not trusted',
      secured('SSL', { ...own, 'ssl.truststore.certificates': pem('stranger-ca.pem') }),
      /connecting: .*certificate/,
    ],
    ['no certificate of the client', secured('SSL', trust), /connecting/],
    [
      'a certificate of another host',
      secured('SASL_SSL', {
        ...trust,
        ...scram('256', service.password),
        'bootstrap.servers': uris.SASL_SSL.replace('127.0.0.1', '127.0.0.2'),
      }),
      /connecting/,
    ],
    [
      'TLS with a port that has none',
      { 'bootstrap.servers': kafka.servers, 'security.protocol': 'SSL', 'request.timeout.ms': 2000 },
      /connecting/,
    ],
    ['a cipher that there is not', secured('SSL', { ...trust, ...own, 'ssl.cipher.suites': 'TLS_NONE' }), /connecting/],
  ];
  for (const [name, properties, message] of refused)
    access(`${name} ends in a refusal that names no secret`, async () => {
      const error: unknown = await open('secured', { 'request.timeout.ms': 5000, ...properties })
        .then((reader) => reader.partitions())
        .catch((fault: unknown) => fault);
      assert.match(String(error), message);
      assert.is((error as { readonly code?: unknown }).code, 'unavailable');
      assert.not.match(String(error), /PRIVATE KEY|password "|=x/);
    });
}

access.run();
