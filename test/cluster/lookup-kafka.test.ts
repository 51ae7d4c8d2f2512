import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import { HIDDEN, withoutSecrets, withSecretsOf } from '../../src/cluster/lookups/secrets.js';

const kafka = suite('specs of lookups of Kafka');

/** A port that nobody answers at. */
const SERVERS = '127.0.0.1:1';
const factoryOf = (more: object = {}, properties: object = {}) => ({
  type: 'kafka',
  kafkaTopic: 'names',
  kafkaProperties: { 'bootstrap.servers': SERVERS, ...properties },
  ...more,
});

/** Why a lookup is not there. */
async function failureOf(lookupExtractorFactory: Readonly<Record<string, unknown>>): Promise<string> {
  const store = new LookupStore(lookupSettings({ passwordVariables: ['ALLOWED'] }));
  await store.replace({ l: { version: 'v', lookupExtractorFactory } });
  for (let tries = 0; tries < 1000 && store.failed()['l'] === undefined; tries++) await sleep(5);
  store.close();
  return store.failed()['l'] ?? 'none';
}

for (const [title, factory, says] of [
  ['without a topic', factoryOf({ kafkaTopic: undefined }), /kafkaTopic: /],
  ['with an empty topic', factoryOf({ kafkaTopic: '' }), /kafkaTopic: expected the name of a topic/],
  ['without properties', factoryOf({ kafkaProperties: undefined }), /kafkaProperties: /],
  ['without brokers', factoryOf({ kafkaProperties: {} }), /bootstrap\.servers: must name the brokers/],
  ['with a group', factoryOf({}, { 'group.id': 'g' }), /kafkaProperties\.group\.id: may not be set/],
  ['with a place to begin at', factoryOf({}, { 'auto.offset.reset': 'latest' }), /auto\.offset\.reset: may not be set/],
  ['with a property that is not on the list', factoryOf({}, { 'plugin.path': '/tmp' }), /unknown key "plugin\.path"/],
  ['with a file of certificates', factoryOf({}, { 'ssl.truststore.location': '/a' }), /ssl\.truststore\.location is not supported/],
  ['with a login module that is not read', factoryOf({}, { 'sasl.mechanism': 'GSSAPI' }), /sasl\.mechanism is not among/],
  ['with an unknown field', factoryOf({ topic: 'names' }), /unknown key "topic"/],
  ['with a time below 0', factoryOf({ connectTimeout: -1 }), /connectTimeout: /],
  ['with a flag that is none', factoryOf({ isOneToOne: 'perhaps' }), /isOneToOne: /],
  ['with a flag that is none, by its other name', factoryOf({ injective: 1 }), /injective: /],
  [
    'with a variable that the server does not allow',
    factoryOf({}, { 'sasl.password': { type: 'environment', variable: 'OTHER' } }),
    /the variable OTHER is not among svc\.ingestion\.passwordVariables/,
  ],
  ['whose broker does not answer', factoryOf({ isOneToOne: true, injective: false }), /127\.0\.0\.1:1: connecting: .*\(since 20/],
] as const)
  kafka(`a lookup ${title} says so`, async () => {
    assert.match(await failureOf(factory), says);
  });

const SECRET_PROPERTIES = {
  'sasl.jaas.config': 'a secret',
  'sasl.password': 'a secret',
  'ssl.keystore.key': 'a secret',
  'ssl.key.pem': 'a secret',
  'ssl.key.password': { type: 'default', password: 'a secret' },
  'druid.dynamic.config.provider': { type: 'mapString', config: { 'sasl.password': 'a secret' } },
};

for (const [name, value] of Object.entries(SECRET_PROPERTIES))
  kafka(`${name} is not shown, and stays for the same brokers alone`, () => {
    const stored = factoryOf({}, { [name]: value });
    const shown = withoutSecrets(stored);
    assert.not.match(JSON.stringify(shown), 'a secret');
    assert.match(JSON.stringify(shown), HIDDEN);
    assert.equal(withSecretsOf({ ...shown, kafkaTopic: 'others' }, stored, 'l'), { ...stored, kafkaTopic: 'others' });
    const properties = { ...(shown['kafkaProperties'] as object), 'bootstrap.servers': '127.0.0.1:2' };
    assert.throws(
      () => withSecretsOf({ ...shown, kafkaProperties: properties }, stored, 'l'),
      /a hidden value stands for the stored one only/,
    );
  });

kafka('names of variables are shown', () => {
  const provider = { type: 'environment', variables: { 'sasl.password': 'ALLOWED' } };
  const factory = factoryOf(
    {},
    { 'svc.dynamic.config.provider': provider, 'ssl.key.password': { type: 'environment', variable: 'ALLOWED' } },
  );
  assert.equal(withoutSecrets(factory), factory);
});

kafka.run();
