// Settings that a reader of Kafka is opened with: the values of consumer properties.

import { ServiceError } from '../../../base/errors.js';
import { passwordText } from '../../source/password.js';
import { addressesOf, type BrokerAddress } from './broker-connection.js';
import { LOGIN_MECHANISMS, type Login } from './broker-login.js';
import { type ConsumerProperties, type ConsumerProperty, checkValue } from './consumer-properties.js';
import { loginLine } from './login-line.js';

export interface ConsumerSettings {
  /** The brokers as they are written, for messages. */
  readonly servers: string;
  readonly addresses: readonly BrokerAddress[];
  readonly clientId: string;
  readonly rack: string;
  readonly timeoutMs: number;
  /** 1: messages of transactions that are committed, alone. */
  readonly isolation: 0 | 1;
  /** Whether checksums of batches are compared. */
  readonly checksBatches: boolean;
  readonly fetch: { readonly waitMs: number; readonly minBytes: number; readonly maxBytes: number; readonly maxBytesEach: number };
  /** null: no TLS. Certificates and keys are PEM. */
  readonly tls: {
    readonly ca?: string;
    readonly cert?: string;
    readonly key?: string;
    readonly passphrase?: string;
    readonly ciphers?: string;
    /** Whether certificates must be of the host that was asked for. */
    readonly checksHost: boolean;
  } | null;
  readonly login: Login | null;
}

/**
 * @param allowedVariables  see `passwordText`
 * @throws ServiceError `forbidden`, `input_unreadable` for a variable, `input_invalid`, `unsupported` for values
 */
export function consumerSettings(
  { bootstrapServers, isolation, values }: ConsumerProperties,
  allowedVariables: readonly string[],
): ConsumerSettings {
  const texts = new Map<ConsumerProperty, string>();
  for (const [name, password] of values) {
    const text = passwordText(password, allowedVariables);
    checkValue(name, text);
    texts.set(name, text);
  }
  const number = (name: ConsumerProperty, otherwise: number): number => Number(texts.get(name) ?? otherwise);
  const protocol = texts.get('security.protocol')?.toUpperCase() ?? 'PLAINTEXT';
  return {
    servers: bootstrapServers,
    addresses: addressesOf(bootstrapServers) ?? [],
    clientId: texts.get('client.id') ?? 'dolmen',
    rack: texts.get('client.rack') ?? '',
    timeoutMs: number('request.timeout.ms', 10_000),
    isolation: isolation === 'read_committed' ? 1 : 0,
    checksBatches: texts.get('check.crcs')?.toLowerCase() === 'true',
    fetch: {
      waitMs: number('fetch.max.wait.ms', 100),
      minBytes: number('fetch.min.bytes', 1),
      maxBytes: number('fetch.max.bytes', 2 ** 24),
      maxBytesEach: number('max.partition.fetch.bytes', 2 ** 22),
    },
    tls: protocol.endsWith('SSL') ? tlsOf(texts) : null,
    login: protocol.startsWith('SASL') ? loginOf(texts) : null,
  };
}

function tlsOf(texts: ReadonlyMap<ConsumerProperty, string>): NonNullable<ConsumerSettings['tls']> {
  const [ca, cert] = [texts.get('ssl.truststore.certificates'), texts.get('ssl.keystore.certificate.chain')];
  const [key, passphrase] = [texts.get('ssl.keystore.key'), texts.get('ssl.key.password')];
  const ciphers = texts.get('ssl.cipher.suites')?.replaceAll(',', ':');
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(ciphers === undefined ? {} : { ciphers }),
    checksHost: (texts.get('ssl.endpoint.identification.algorithm') ?? 'https').toLowerCase() === 'https',
  };
}

function loginOf(texts: ReadonlyMap<ConsumerProperty, string>): Login {
  const mechanism = LOGIN_MECHANISMS.find((each) => each === texts.get('sasl.mechanism')?.toUpperCase());
  if (mechanism === undefined)
    throw new ServiceError('input_invalid', `sasl.mechanism is missing; accepted: ${LOGIN_MECHANISMS.join(', ')}`);
  const line = texts.get('sasl.jaas.config');
  const [username, password] = line === undefined ? [texts.get('sasl.username'), texts.get('sasl.password')] : loginLine(line);
  if (username === undefined || password === undefined)
    throw new ServiceError('input_invalid', `${mechanism} needs sasl.username and sasl.password, or both in sasl.jaas.config`);
  return { mechanism, username, password };
}
