import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { metadataSettings } from '../../src/cluster/metadata-settings.js';
import { Configuration } from '../../src/configuration/configuration.js';

/** Files of `conf/cluster`, as they are and with every line that is commented out. */
const FOLDER = fileURLToPath(new URL('../../../conf/cluster/', import.meta.url));
const examples = suite('the example of a cluster');
const MACHINES = {
  master: ['coordinator', 'overlord'],
  data: ['historical', 'middleManager'],
  query: ['router', 'broker'],
} as const;
const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-conf-'));

for (const [machine, roles] of Object.entries(MACHINES))
  for (const isWhole of [false, true])
    examples(`${machine}${isWhole ? ', with all that is commented out' : ''}`, () => {
      process.env['METADATA_PASSWORD'] = 'secret';
      const written = ['common', machine].map((name) => readFileSync(path.join(FOLDER, `${name}.properties`), 'utf8')).join('');
      const file = path.join(folder, 'runtime.properties');
      writeFileSync(file, isWhole ? written.replace(/^# (svc\.)/gm, '$1') : written);
      const configuration = Configuration.read({ environment: {}, flags: [], strict: true, file });
      assert.equal(configuration.warnings, []);
      assert.equal([...configuration.roles()].sort(), [...roles].sort());
      const settings = metadataSettings(configuration, 's');
      assert.ok(settings.type === 'postgresql');
      const { host, port, databaseName, user, password, tls } = settings.postgresql;
      assert.equal(
        { host, port, databaseName, user, password },
        { host: 'db.example.com', port: 5432, databaseName: 'dolmen', user: 'dolmen', password: 'secret' },
      );
      assert.is(tls?.mode, isWhole ? 'verified' : undefined);
    });

const REFUSED: readonly [string, Readonly<Record<string, string>>, RegExp][] = [
  ['no address', {}, /connector\.connectURI: found nothing, expected jdbc:postgresql/],
  ['several hosts', { 'storage.connector.connectURI': 'jdbc:postgresql://a,b/db' }, /connector\.connectURI: expected jdbc/],
  ['another database', { 'storage.connector.connectURI': 'jdbc:mysql://a/db' }, /connector\.connectURI: expected jdbc:postgresql/],
  [
    'other properties',
    { 'storage.connector.connectURI': 'jdbc:postgresql://a/db?targetServerType=any' },
    /the property targetservertype is not accepted/,
  ],
  [
    'an address twice',
    { 'storage.connector.connectURI': 'jdbc:postgresql://a/db', 'storage.connector.host': 'b' },
    /connector\.host: .* has the host/,
  ],
  ['no user', { 'storage.connector.host': 'a' }, /connector\.user: found nothing/],
  [
    'TLS and none',
    { 'storage.connector.host': 'a', 'storage.connector.user': 'u', 'postgres.ssl.useSSL': 'true', 'postgres.ssl.sslMode': 'disable' },
    /sslMode: found 'disable'/,
  ],
  ['TLS or not', { 'postgres.ssl.sslMode': 'prefer' }, /sslMode .* one of disable, require, verify-ca, verify-full/],
  ['a class of Java', { 'postgres.ssl.sslFactory': 'x.Y' }, /sslFactory .* expected nothing: it names a class of Java/],
];
for (const [title, properties, message] of REFUSED)
  examples(`refused: ${title}`, () => {
    const flags = Object.entries({ 'storage.type': 'postgresql', ...properties }).map(([name, value]) => `svc.metadata.${name}=${value}`);
    let thrown: unknown;
    try {
      metadataSettings(Configuration.read({ environment: {}, flags }), 's');
    } catch (error) {
      thrown = error;
    }
    assert.match(String(thrown), message);
  });

examples.after(() => rmSync(folder, { recursive: true }));
examples.run();
