// Reads `consumerProperties` of Kafka: an allow list, with secrets by reference.

import { ServiceError } from '../../../base/errors.js';
import { describeValue } from '../../../base/json.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { type Password, parsePassword } from '../../source/password.js';
import { addressesOf } from './broker-connection.js';
import { LOGIN_MECHANISMS } from './broker-login.js';
import { loginLine } from './login-line.js';

/** Properties of a consumer; those of variables are looked up when a reader is opened. */
export interface ConsumerProperties {
  readonly bootstrapServers: string;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly values: ReadonlyMap<ConsumerProperty, Password>;
}

/** Values that a property accepts. */
type Accepted =
  | { readonly kind: 'text' | 'login' }
  | { readonly kind: 'integer'; readonly least: number }
  /** In letters of either case. */
  | { readonly kind: 'choice'; readonly of: readonly string[] };

const TEXT: Accepted = { kind: 'text' };
const COUNT: Accepted = { kind: 'integer', least: 0 };
const INTEGER_MAX = 2 ** 31 - 1;

/** Properties that are read, by the names of the Java client; of secrets a string or a provider. Certificates are given as PEM. */
const READ = {
  'client.id': TEXT,
  'client.rack': TEXT,
  'check.crcs': { kind: 'choice', of: ['true', 'false'] },
  'fetch.max.bytes': COUNT,
  'fetch.max.wait.ms': COUNT,
  'fetch.min.bytes': COUNT,
  'max.partition.fetch.bytes': COUNT,
  'request.timeout.ms': { kind: 'integer', least: 1 },
  'sasl.mechanism': { kind: 'choice', of: LOGIN_MECHANISMS },
  'security.protocol': { kind: 'choice', of: ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] },
  'ssl.cipher.suites': TEXT,
  'ssl.endpoint.identification.algorithm': { kind: 'choice', of: ['https', 'none', ''] },
  'sasl.username': TEXT,
  'sasl.password': TEXT,
  'sasl.jaas.config': { kind: 'login' },
  'ssl.truststore.certificates': TEXT,
  'ssl.keystore.certificate.chain': TEXT,
  'ssl.keystore.key': TEXT,
  'ssl.key.password': TEXT,
} as const satisfies Readonly<Record<string, Accepted>>;
export type ConsumerProperty = keyof typeof READ;

const ACCEPTED: ReadonlyMap<string, Accepted> = new Map(Object.entries(READ));
const SECRETS: ReadonlySet<string> = new Set([
  'sasl.username',
  'sasl.password',
  'sasl.jaas.config',
  'ssl.truststore.certificates',
  'ssl.keystore.certificate.chain',
  'ssl.keystore.key',
  'ssl.key.password',
]);

/** Other names of properties that are read, of librdkafka. */
const OTHER_NAMES: ReadonlyMap<string, ConsumerProperty> = new Map([
  ['sasl.mechanisms', 'sasl.mechanism'],
  ['ssl.ca.pem', 'ssl.truststore.certificates'],
  ['ssl.certificate.pem', 'ssl.keystore.certificate.chain'],
  ['ssl.key.pem', 'ssl.keystore.key'],
]);
const NAMES: readonly string[] = [...ACCEPTED.keys(), ...OTHER_NAMES.keys()];

/**
 * Properties with nothing left to do: no group is joined, offsets are assigned and stored with the rows; buffers are the system's, connections
 * stay while a stream is read, and pauses between two tries are ours.
 */
const INERT: readonly string[] = [
  'auto.commit.interval.ms',
  'auto.offset.reset',
  'connections.max.idle.ms',
  'enable.auto.commit',
  'group.id',
  'heartbeat.interval.ms',
  'max.poll.interval.ms',
  'max.poll.records',
  'metadata.max.age.ms',
  'receive.buffer.bytes',
  'reconnect.backoff.max.ms',
  'reconnect.backoff.ms',
  'retry.backoff.ms',
  'send.buffer.bytes',
  'session.timeout.ms',
];
const BYTES = 'org.apache.kafka.common.serialization.ByteArrayDeserializer';

/** Documented properties that are refused, and what to write instead. */
const REFUSED: ReadonlyMap<string, string> = new Map([
  ['ssl.truststore.location', 'write the certificates as PEM in ssl.truststore.certificates, which may name a variable'],
  ['ssl.truststore.password', 'PEM certificates have none'],
  ['ssl.keystore.location', 'write the certificate and key as PEM in ssl.keystore.certificate.chain and ssl.keystore.key'],
  ['ssl.keystore.password', 'write the key as PEM in ssl.keystore.key, and its password in ssl.key.password'],
  ['interceptor.classes', 'classes are not loaded'],
  ['partition.assignment.strategy', 'partitions are assigned by the supervisor'],
]);

const PROVIDERS = ['druid.dynamic.config.provider', 'svc.dynamic.config.provider'];

/** @throws ServiceError that names the property */
export function parseConsumerProperties(fields: ObjectReader): ConsumerProperties {
  const values = new Map<ConsumerProperty, Password>();
  for (const key of NAMES) add(values, fields, key);
  for (const key of ['key.deserializer', 'value.deserializer'])
    if (fields.has(key) && fields.string(key) !== BYTES) throw fields.unsupported(key, 'the input format reads the bytes of messages');
  for (const [key, instead] of REFUSED)
    if (fields.has(key)) throw new ServiceError('unsupported', `${fields.at(key)} is not supported; ${instead}`);
  for (const key of PROVIDERS) {
    const provider = fields.optionalObject(key);
    if (provider !== undefined) addProvided(values, provider);
  }
  // A secret may be the stars that stand for the stored one.
  for (const [name, value] of values) if (value.kind === 'written' && !SECRETS.has(name)) checkValue(name, value.text);
  const isolation = fields.choice('isolation.level', ['read_committed', 'read_uncommitted'], 'read_committed');
  const bootstrapServers = serversOf(fields);
  fields.ignore(...INERT);
  fields.accept([...NAMES, 'bootstrap.servers', 'isolation.level', 'key.deserializer', 'value.deserializer', ...PROVIDERS], INERT);
  return { bootstrapServers, isolation, values };
}

/** @throws ServiceError for a value that the property does not accept, which is not repeated: it may be a secret */
export function checkValue(name: ConsumerProperty, text: string): void {
  const accepted: Accepted = READ[name];
  if (accepted.kind === 'login') loginLine(text);
  if (accepted.kind === 'integer') {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    if (value >= accepted.least && value <= INTEGER_MAX) return;
    throw new ServiceError('input_invalid', `${name} must be an integer from ${accepted.least} to ${INTEGER_MAX}`);
  }
  if (accepted.kind === 'choice' && !accepted.of.some((each) => each.toLowerCase() === text.toLowerCase()))
    throw new ServiceError('unsupported', `${name} is not among ${accepted.of.filter((each) => each !== '').join(', ')}`);
}

function nameOf(key: string): ConsumerProperty | undefined {
  return ACCEPTED.has(key) ? (key as ConsumerProperty) : OTHER_NAMES.get(key);
}

function add(values: Map<ConsumerProperty, Password>, fields: ObjectReader, key: string): void {
  const name = nameOf(key);
  if (name === undefined) return;
  if (SECRETS.has(name)) {
    const password = parsePassword(fields, key);
    if (password !== null) values.set(name, password);
    return;
  }
  const value = fields.raw(key);
  if (value === undefined) return;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw fields.mismatch(key, 'a string or a number');
  values.set(name, { kind: 'written', text: String(value) });
}

/** A provider gives several properties at once: `{type: "environment", variables: {property: variable}}`, `{type: "mapString", config}`. */
function addProvided(values: Map<ConsumerProperty, Password>, provider: ObjectReader): void {
  const isMap = provider.type(['environment', 'mapString']) === 'mapString';
  provider.accept([isMap ? 'config' : 'variables']);
  const properties = provider.object(isMap ? 'config' : 'variables');
  for (const key of properties.keys()) {
    const name = nameOf(key);
    const refused = REFUSED.get(key);
    if (refused !== undefined) throw new ServiceError('unsupported', `${properties.at(key)} is not supported; ${refused}`);
    if (INERT.includes(key)) continue;
    if (name === undefined) throw properties.invalid(key, 'is not among the properties that are accepted');
    values.set(name, isMap ? { kind: 'written', text: properties.string(key) } : { kind: 'variable', name: properties.string(key) });
  }
}

function serversOf(fields: ObjectReader): string {
  const written = fields.raw('bootstrap.servers');
  const servers = Array.isArray(written) ? fields.strings('bootstrap.servers').join(',') : fields.optionalString('bootstrap.servers');
  if (servers === undefined || addressesOf(servers) === null)
    throw fields.invalid('bootstrap.servers', `must name the brokers, such as "localhost:9092"; found ${describeValue(written)}`);
  return servers;
}
