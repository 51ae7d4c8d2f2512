import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { ObjectReader, readContextOf } from '../../../src/base/json-reader.js';
import { parseConsumerProperties } from '../../../src/ingestion/stream/kafka/consumer-properties.js';
import { type ConsumerSettings, consumerSettings } from '../../../src/ingestion/stream/kafka/consumer-settings.js';

/**
 * Properties of consumers that would load code, start programs, read files of the server or send its secrets elsewhere: none reaches the client.
 */
const hostile = suite('hostile properties of consumers');

const SERVERS = { 'bootstrap.servers': 'kafka:9092' };
const ALLOWED_VARIABLES = ['KAFKA_PASSWORD'];
process.env['KAFKA_PASSWORD'] = 'a password';
process.env['DOLMEN_TEST_SECRET'] = 'another secret';

/** The settings of the client, or the code of the refusal. */
function outcomeOf(properties: unknown): ConsumerSettings | string {
  try {
    const fields = new ObjectReader(properties, 'consumerProperties', readContextOf('input_invalid', 'spec'));
    return consumerSettings(parseConsumerProperties(fields), ALLOWED_VARIABLES);
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

/** Names of properties of the Java client and of librdkafka, each of which is refused with every value. */
const NAMES: readonly string[] = [
  ...['interceptor.classes', 'metric.reporters', 'partition.assignment.strategy', 'security.providers', 'sasl.login.class'],
  ...['sasl.login.callback.handler.class', 'sasl.client.callback.handler.class', 'ssl.engine.factory.class', 'ssl.provider'],
  ...['sasl.oauthbearer.token.endpoint.url', 'sasl.oauthbearer.jwks.endpoint.url', 'sasl.oauthbearer.config', 'sasl.oauthbearer.method'],
  ...[
    'sasl.oauthbearer.client.id',
    'sasl.oauthbearer.client.secret',
    'sasl.oauthbearer.assertion.private.key.file',
    'enable.sasl.oauthbearer.unsecure.jwt',
  ],
  ...['sasl.kerberos.kinit.cmd', 'sasl.kerberos.keytab', 'sasl.kerberos.principal', 'sasl.kerberos.service.name'],
  ...['plugin.library.paths', 'ssl.engine.location', 'ssl.engine.id', 'ssl.providers', 'ssl.key.location', 'ssl.certificate.location'],
  ...[
    'ssl.ca.location',
    'ssl.crl.location',
    'ssl.keystore.location',
    'ssl.keystore.password',
    'ssl.truststore.location',
    'https.ca.location',
  ],
  ...[
    'https.ca.pem',
    'ssl.truststore.password',
    'enable.ssl.certificate.verification',
    'debug',
    'log_level',
    'log_cb',
    'stats_cb',
    'opaque',
  ],
  ...[
    'statistics.interval.ms',
    'rebalance_cb',
    'offset_commit_cb',
    'socket_cb',
    'open_cb',
    'connect_cb',
    'resolve_cb',
    'default_topic_conf',
  ],
  ...[
    'metadata.broker.list',
    'broker.version.fallback',
    'api.version.request',
    'group.protocol',
    'group.remote.assignor',
    'client.dns.lookup',
  ],
  ...['config.providers', 'config.providers.file.class', 'auto.include.jmx.reporter', 'kafka.metrics.reporters', 'event_cb'],
  ...['offset.store.path', 'offset.store.method', 'builtin.features', 'message.max.bytes', 'topic.blacklist', 'transactional.id'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    '',
    ' ',
    'bootstrap.servers ',
    'BOOTSTRAP.SERVERS',
    'sasl..password',
    'ssl.ca.pem\0',
    'client.id\n',
  ],
];
const VALUES: readonly unknown[] = ['/etc/passwd', 'com.sun.security.auth.module.JndiLoginModule', true];

/** Login lines of the Java client that name other modules, or hide one behind an accepted one. */
const MODULES: readonly string[] = [
  'com.sun.security.auth.module.JndiLoginModule',
  'com.sun.security.auth.module.LdapLoginModule',
  'com.sun.security.auth.module.Krb5LoginModule',
  'com.sun.security.auth.module.UnixLoginModule',
  'com.sun.security.auth.module.KeyStoreLoginModule',
  'org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule',
  'org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule',
  'evil.PlainLoginModuleX',
  'PlainLoginModule',
  '.PlainLoginModule',
  'a.b.PlainLoginModule x.JndiLoginModule',
  'a/b/PlainLoginModule',
];
const OPTIONS: readonly string[] = [
  ' required user.provider.url="ldap://evil/x" useFirstPass="true";',
  ' required username="a" password="b" user.provider.url="ldap://evil/x";',
  ' required;',
  ' username="a" password="b";',
  '',
];
const MECHANISMS: readonly string[] = ['GSSAPI', 'OAUTHBEARER', 'gssapi', 'EXTERNAL', 'PLAIN GSSAPI', 'GSSAPI,PLAIN', 'SCRAM-SHA-1', ''];
const PROVIDERS = ['druid.dynamic.config.provider', 'svc.dynamic.config.provider'];
const ODD_PROVIDERS: readonly unknown[] = [
  { type: 'file', path: '/etc/passwd' },
  { type: 'vault' },
  { type: 'mapString', config: { 'ssl.ca.location': '/etc/passwd' } },
  { type: 'mapString', config: { 'plugin.library.paths': '/tmp/x.so' } },
  { type: 'mapString', config: { 'sasl.jaas.config': 'com.sun.security.auth.module.JndiLoginModule required;' } },
  { type: 'mapString', config: { 'sasl.mechanism': 'GSSAPI' } },
  { type: 'mapString', config: { 'bootstrap.servers': 'evil:9092' } },
  { type: 'mapString', config: JSON.parse('{"__proto__": "x"}') },
  { type: 'environment', variables: { 'sasl.password': 'DOLMEN_TEST_SECRET' } },
  { type: 'environment', variables: { 'client.id': 'DOLMEN_TEST_SECRET' } },
  { type: 'environment', variables: { 'interceptor.classes': 'KAFKA_PASSWORD' } },
  { type: 'environment', variables: { 'sasl.mechanism': 'KAFKA_PASSWORD' } },
  { type: 'environment', config: {} },
  'environment',
  [],
];

function* cases(): Generator<object> {
  for (const name of NAMES) for (const value of VALUES) yield Object.fromEntries([...Object.entries(SERVERS), [name, value]]);
  for (const module of MODULES) for (const options of OPTIONS) yield { ...SERVERS, 'sasl.jaas.config': `${module}${options}` };
  for (const mechanism of MECHANISMS) for (const name of ['sasl.mechanism', 'sasl.mechanisms']) yield { ...SERVERS, [name]: mechanism };
  for (const name of PROVIDERS) for (const provider of ODD_PROVIDERS) yield { ...SERVERS, [name]: provider };
  for (const name of ['key.deserializer', 'value.deserializer']) yield { ...SERVERS, [name]: 'evil.Deserializer' };
  for (const name of ['sasl.password', 'ssl.key.pem', 'sasl.jaas.config', 'ssl.ca.pem'])
    for (const value of [{ type: 'environment', variable: 'DOLMEN_TEST_SECRET' }, { type: 'file', path: '/etc/passwd' }, 7, ['x']])
      yield { ...SERVERS, [name]: value };
}

const all = [...cases()];
hostile(`${all.length} sets of properties are refused`, () => {
  assert.ok(all.length >= 200, String(all.length));
  const taken = all.filter((properties) => typeof outcomeOf(properties) !== 'string');
  assert.equal(taken, []);
});

hostile('a secret of the server is not repeated in a refusal', () => {
  for (const properties of all)
    try {
      parseConsumerProperties(new ObjectReader(properties, 'consumerProperties', readContextOf('input_invalid', 'spec')));
    } catch (error) {
      assert.ok(!String(error).includes('another secret') && !String(error).includes('a password'), String(error));
    }
});

hostile('the properties that are accepted reach the client, and no others', () => {
  const found = outcomeOf({
    'bootstrap.servers': 'SASL_SSL://kafka:9093, [::1]:9094,other',
    'client.id': 'x',
    'security.protocol': 'SASL_SSL',
    'sasl.mechanism': 'scram-sha-512',
    'sasl.jaas.config': 'org.apache.kafka.common.security.scram.ScramLoginModule required username="u" password="p\\"q";',
    'ssl.truststore.certificates': { type: 'environment', variable: 'KAFKA_PASSWORD' },
    'ssl.endpoint.identification.algorithm': '',
    'fetch.max.bytes': 1000,
    'check.crcs': true,
    'group.id': 'ignored',
    'auto.offset.reset': 'ignored',
    'receive.buffer.bytes': 'ignored',
  });
  assert.equal(found, {
    servers: 'SASL_SSL://kafka:9093, [::1]:9094,other',
    addresses: [
      { host: 'kafka', port: 9093 },
      { host: '::1', port: 9094 },
      { host: 'other', port: 9092 },
    ],
    clientId: 'x',
    rack: '',
    timeoutMs: 10_000,
    isolation: 1,
    checksBatches: true,
    fetch: { waitMs: 100, minBytes: 1, maxBytes: 1000, maxBytesEach: 2 ** 22 },
    tls: { ca: 'a password', checksHost: false },
    login: { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'p"q' },
  });
});

const SECURE = { ...SERVERS, 'security.protocol': 'sasl_plaintext' };
const refusals: readonly (readonly [name: string, properties: object, message: RegExp])[] = [
  ['a size that is not a number', { ...SERVERS, 'fetch.max.bytes': 'many' }, /fetch\.max\.bytes must be an integer from 0/],
  ['a time below one', { ...SERVERS, 'request.timeout.ms': 0 }, /request\.timeout\.ms must be an integer from 1/],
  ['a size of more than 32 bits', { ...SERVERS, 'fetch.min.bytes': 2147483648 }, /fetch\.min\.bytes must be/],
  ['a protocol that there is not', { ...SERVERS, 'security.protocol': 'TLS' }, /security\.protocol is not among PLAINTEXT, SSL/],
  ['another check of hosts', { ...SERVERS, 'ssl.endpoint.identification.algorithm': 'ldaps' }, /is not among https, none/],
  ['a login without a mechanism', { ...SECURE, 'sasl.username': 'u', 'sasl.password': 'p' }, /sasl\.mechanism is missing/],
  ['a login without a password', { ...SECURE, 'sasl.mechanism': 'PLAIN', 'sasl.username': 'u' }, /PLAIN needs sasl\.username and/],
  ['no server', { 'bootstrap.servers': ' , ' }, /must name the brokers/],
  ['a server with a path', { 'bootstrap.servers': 'kafka:9092/x' }, /must name the brokers.*kafka:9092\/x/],
  ['a port of six digits', { 'bootstrap.servers': 'kafka:909200' }, /must name the brokers/],
];
for (const [name, properties, message] of refusals)
  hostile(`${name} is refused by name`, () => {
    const fields = new ObjectReader(properties, 'consumerProperties', readContextOf('input_invalid', 'spec'));
    assert.throws(() => consumerSettings(parseConsumerProperties(fields), ALLOWED_VARIABLES), message);
  });

hostile.run();
