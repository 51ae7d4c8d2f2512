// Reads `consumerProperties` of Kafka: an allow list, with secrets by reference.

import { ServiceError } from '../../base/errors.js';
import { describeValue } from '../../base/json.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { type Password, parsePassword, passwordText } from '../source/password.js';

/** Properties of a consumer by the names of our client; those of variables are looked up when a consumer is opened. */
export interface ConsumerProperties {
  readonly bootstrapServers: string;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly values: ReadonlyMap<string, Password>;
}

/** Properties of the Java client, by their names in librdkafka. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['client.id', 'client.id'],
  ['client.rack', 'client.rack'],
  ['check.crcs', 'check.crcs'],
  ['connections.max.idle.ms', 'connections.max.idle.ms'],
  ['fetch.max.bytes', 'fetch.max.bytes'],
  ['fetch.max.wait.ms', 'fetch.wait.max.ms'],
  ['fetch.min.bytes', 'fetch.min.bytes'],
  ['max.partition.fetch.bytes', 'max.partition.fetch.bytes'],
  ['metadata.max.age.ms', 'metadata.max.age.ms'],
  ['receive.buffer.bytes', 'socket.receive.buffer.bytes'],
  ['send.buffer.bytes', 'socket.send.buffer.bytes'],
  ['reconnect.backoff.ms', 'reconnect.backoff.ms'],
  ['reconnect.backoff.max.ms', 'reconnect.backoff.max.ms'],
  ['request.timeout.ms', 'socket.timeout.ms'],
  ['retry.backoff.ms', 'retry.backoff.ms'],
  ['sasl.mechanism', 'sasl.mechanisms'],
  ['sasl.mechanisms', 'sasl.mechanisms'],
  ['security.protocol', 'security.protocol'],
  ['ssl.cipher.suites', 'ssl.cipher.suites'],
  ['ssl.endpoint.identification.algorithm', 'ssl.endpoint.identification.algorithm'],
]);

/** Properties that may be secrets: a string, or a provider. Certificates are given as PEM, in the property itself or a variable. */
const SECRET: ReadonlyMap<string, string> = new Map([
  ['sasl.username', 'sasl.username'],
  ['sasl.password', 'sasl.password'],
  ['sasl.jaas.config', 'sasl.jaas.config'],
  ['ssl.truststore.certificates', 'ssl.ca.pem'],
  ['ssl.ca.pem', 'ssl.ca.pem'],
  ['ssl.keystore.certificate.chain', 'ssl.certificate.pem'],
  ['ssl.certificate.pem', 'ssl.certificate.pem'],
  ['ssl.keystore.key', 'ssl.key.pem'],
  ['ssl.key.pem', 'ssl.key.pem'],
  ['ssl.key.password', 'ssl.key.password'],
]);

/** Properties with nothing left to do: no group is joined, offsets are assigned and stored with the rows. */
const INERT: readonly string[] = [
  'auto.commit.interval.ms',
  'auto.offset.reset',
  'enable.auto.commit',
  'group.id',
  'heartbeat.interval.ms',
  'max.poll.interval.ms',
  'max.poll.records',
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

/** Ways to log in with a name and a password; others would start programs, or load code. */
const MECHANISMS: readonly string[] = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'];

/** @throws ServiceError that names the property */
export function parseConsumerProperties(fields: ObjectReader): ConsumerProperties {
  const values = new Map<string, Password>();
  for (const key of [...PLAIN.keys(), ...SECRET.keys()]) add(values, fields, key);
  for (const key of ['key.deserializer', 'value.deserializer'])
    if (fields.has(key) && fields.string(key) !== BYTES) throw fields.unsupported(key, 'the input format reads the bytes of messages');
  for (const [key, instead] of REFUSED)
    if (fields.has(key)) throw new ServiceError('unsupported', `${fields.at(key)} is not supported; ${instead}`);
  for (const key of PROVIDERS) {
    const provider = fields.optionalObject(key);
    if (provider !== undefined) addProvided(values, provider);
  }
  for (const [name, value] of values) if (value.kind === 'written') checkValue(name, value.text);
  const isolation = fields.choice('isolation.level', ['read_committed', 'read_uncommitted'], 'read_committed');
  const bootstrapServers = serversOf(fields);
  fields.ignore(...INERT);
  fields.accept(
    [...PLAIN.keys(), ...SECRET.keys(), 'bootstrap.servers', 'isolation.level', 'key.deserializer', 'value.deserializer', ...PROVIDERS],
    INERT,
  );
  return { bootstrapServers, isolation, values };
}

/** @throws ServiceError `unsupported` for a value that the client must not be given */
function checkValue(name: string, text: string): void {
  if (name === 'sasl.mechanisms' && !MECHANISMS.includes(text.toUpperCase()))
    throw new ServiceError('unsupported', `sasl.mechanism is not among ${MECHANISMS.join(', ')}`);
}

function add(values: Map<string, Password>, fields: ObjectReader, key: string): void {
  const secret = SECRET.get(key);
  if (secret !== undefined) {
    const password = parsePassword(fields, key);
    if (password !== null) values.set(secret, password);
    return;
  }
  const value = fields.raw(key);
  if (value === undefined) return;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
    throw fields.mismatch(key, 'a string or a number');
  values.set(PLAIN.get(key) ?? key, { kind: 'written', text: String(value) });
}

/** A provider gives several properties at once: `{type: "environment", variables: {property: variable}}`, `{type: "mapString", config}`. */
function addProvided(values: Map<string, Password>, provider: ObjectReader): void {
  const isMap = provider.type(['environment', 'mapString']) === 'mapString';
  provider.accept([isMap ? 'config' : 'variables']);
  const properties = provider.object(isMap ? 'config' : 'variables');
  for (const key of properties.keys()) {
    const name = PLAIN.get(key) ?? SECRET.get(key);
    const refused = REFUSED.get(key);
    if (refused !== undefined) throw new ServiceError('unsupported', `${properties.at(key)} is not supported; ${refused}`);
    if (name === undefined) throw properties.invalid(key, 'is not among the properties that are accepted');
    values.set(name, isMap ? { kind: 'written', text: properties.string(key) } : { kind: 'variable', name: properties.string(key) });
  }
}

function serversOf(fields: ObjectReader): string {
  const written = fields.raw('bootstrap.servers');
  const servers = Array.isArray(written) ? fields.strings('bootstrap.servers').join(',') : fields.optionalString('bootstrap.servers');
  if (servers === undefined || servers.trim() === '')
    throw fields.invalid('bootstrap.servers', `must name the brokers, such as "localhost:9092"; found ${describeValue(written)}`);
  return servers;
}

const JAAS = /^\s*(?:\w+\.)+(Plain|Scram)LoginModule\s+(?:required|requisite|sufficient|optional)\b([\s\S]*?);?\s*$/;

/**
 * The configuration of a consumer of librdkafka.
 * @param allowedVariables  see `passwordText`
 * @throws ServiceError `forbidden`, `input_unreadable` for a variable, `unsupported` for a login module
 */
export function consumerConfiguration(
  { bootstrapServers, isolation, values }: ConsumerProperties,
  allowedVariables: readonly string[],
): Map<string, string> {
  const configuration = new Map([
    ['bootstrap.servers', bootstrapServers],
    ['isolation.level', isolation],
  ]);
  for (const [name, password] of values) {
    const text = passwordText(password, allowedVariables);
    checkValue(name, text);
    if (name === 'sasl.jaas.config') addLogin(configuration, text);
    else if (name === 'security.protocol') configuration.set(name, text.toLowerCase());
    else if (name === 'ssl.endpoint.identification.algorithm') configuration.set(name, text === '' ? 'none' : text);
    else configuration.set(name, text);
  }
  return configuration;
}

/** Takes name and password out of the login line of the Java client. */
function addLogin(configuration: Map<string, string>, text: string): void {
  const options = JAAS.exec(text)?.[2];
  const option = (name: string): string | undefined => {
    const found = new RegExp(`\\b${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|'((?:[^'\\\\]|\\\\.)*)')`).exec(options ?? '');
    return (found?.[1] ?? found?.[2])?.replace(/\\(.)/g, '$1');
  };
  const [username, password] = [option('username'), option('password')];
  if (username === undefined || password === undefined)
    throw new ServiceError(
      'unsupported',
      'sasl.jaas.config: only PlainLoginModule and ScramLoginModule with username and password are read',
    );
  configuration.set('sasl.username', username);
  configuration.set('sasl.password', password);
}
