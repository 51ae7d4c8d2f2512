// Apache Kafka as a service of scripts/services.mjs: one broker in KRaft mode, open and by TLS, without a login and with one.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeCertificates } from './certificates.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = process.env.KAFKA_DIR ?? join(ROOT, 'build/kafka');
const JARS = join(FOLDER, 'lib');
/** Client that tests write messages with: another one than ours, a tool of no other use. */
const CLIENT_FOLDER = join(FOLDER, 'client');
const CLIENT_PACKAGE = '@platformatic/kafka@1.35.0';
const CLIENT = join(CLIENT_FOLDER, 'node_modules/@platformatic/kafka/dist/index.js');
/** Beside PLAINTEXT. The one of TLS without a login asks clients for a certificate. */
const SECURE = ['SSL', 'SASL_PLAINTEXT', 'SASL_SSL'];
const MODULES = 'org.apache.kafka.common.security';

export function kafkaService({ find, user, password, freePort, installTool }) {
  const portsFile = (data) => join(data, 'ports.json');
  return {
    packages: ['openjdk-17-jre-headless', 'maven', 'openssl'],
    program: () => (existsSync(JARS) && existsSync(CLIENT) ? find('java', []) : undefined),
    hint: 'npm run services -- kafka install',
    uri: (port) => `127.0.0.1:${port}`,
    async prepare({ program, data, folder, port, run }) {
      const certificates = makeCertificates(join(folder, 'certificates'));
      const ports = { PLAINTEXT: port };
      for (const protocol of [...SECURE, 'CONTROLLER']) ports[protocol] = await freePort();
      writeFileSync(portsFile(data), JSON.stringify(ports));
      const listeners = (protocols) => protocols.map((protocol) => `${protocol}://127.0.0.1:${ports[protocol]}`).join(',');
      const logins = ['sasl_plaintext', 'sasl_ssl'].flatMap((listener) => [
        [`listener.name.${listener}.plain.sasl.jaas.config`, `${MODULES}.plain.PlainLoginModule required user_${user}="${password}";`],
        [`listener.name.${listener}.scram-sha-256.sasl.jaas.config`, `${MODULES}.scram.ScramLoginModule required;`],
        [`listener.name.${listener}.scram-sha-512.sasl.jaas.config`, `${MODULES}.scram.ScramLoginModule required;`],
      ]);
      const properties = {
        'process.roles': 'broker,controller',
        'node.id': 1,
        'controller.quorum.voters': `1@127.0.0.1:${ports.CONTROLLER}`,
        listeners: listeners(['PLAINTEXT', ...SECURE, 'CONTROLLER']),
        'advertised.listeners': listeners(['PLAINTEXT', ...SECURE]),
        'controller.listener.names': 'CONTROLLER',
        'listener.security.protocol.map': ['PLAINTEXT', ...SECURE, 'CONTROLLER']
          .map((each) => `${each}:${each === 'CONTROLLER' ? 'PLAINTEXT' : each}`)
          .join(','),
        'ssl.keystore.type': 'PEM',
        'ssl.keystore.location': join(certificates, 'server.pem'),
        'ssl.truststore.type': 'PEM',
        'ssl.truststore.location': join(certificates, 'ca.pem'),
        'listener.name.ssl.ssl.client.auth': 'required',
        'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
        ...Object.fromEntries(logins),
        'num.network.threads': 1,
        'log.dirs': join(data, 'logs'),
        'offsets.topic.replication.factor': 1,
        'offsets.topic.num.partitions': 1,
        'transaction.state.log.replication.factor': 1,
        'transaction.state.log.min.isr': 1,
        'transaction.state.log.num.partitions': 1,
        'message.max.bytes': 16_000_000,
        'auto.create.topics.enable': false,
        'log.retention.check.interval.ms': 1000,
      };
      const lines = Object.entries(properties).map(([name, value]) => `${name}=${value}\n`);
      writeFileSync(join(data, 'server.properties'), lines.join(''));
      const users = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((hash) => ['--add-scram', `${hash}=[name=${user},password=${password}]`]);
      const tool = ['-cp', `${JARS}/*`, 'kafka.tools.StorageTool', 'format', '-t', 'ZG9sbWVuLXRlc3RpbmctMQ', ...users];
      await run(program, [...tool, '-c', join(data, 'server.properties')]);
    },
    args: ({ data }) => [
      ...['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-cp', `${JARS}/*`],
      ...['kafka.Kafka', join(data, 'server.properties')],
    ],
    ready: /^/,
    stopSignal: 'SIGTERM',
    fill({ data, folder }) {
      const ports = JSON.parse(readFileSync(portsFile(data), 'utf8'));
      const secureUris = Object.fromEntries(SECURE.map((protocol) => [protocol, `127.0.0.1:${ports[protocol]}`]));
      return { secureUris, certificates: join(folder, 'certificates'), client: CLIENT };
    },
    fetch() {
      if (!existsSync(CLIENT)) installTool(CLIENT_FOLDER, CLIENT_PACKAGE);
      if (existsSync(JARS)) return;
      rmSync(`${JARS}.part`, { recursive: true, force: true });
      const pom = join(ROOT, 'scripts/kafka/pom.xml');
      const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${JARS}.part`];
      execFileSync('mvn', args, { stdio: ['ignore', 'ignore', 'pipe'] });
      renameSync(`${JARS}.part`, JARS);
    },
  };
}
