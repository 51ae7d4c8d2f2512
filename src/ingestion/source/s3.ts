// The input source `s3`.

import { lookup } from 'node:dns/promises';
import { Readable } from 'node:stream';
import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { type S3Object, S3Objects } from '../../storage/s3/s3-client.js';
import type { S3Failure } from '../../storage/s3/s3-failures.js';
import { endpointUrl, type S3ClientSettings } from '../../storage/s3/s3-settings.js';
import { acceptWithInert, INERT_KEYS } from '../task-spec/inert-keys.js';
import { machineAddresses } from './http.js';
import { globMatcher } from './local.js';
import { type Password, parsePassword, passwordText } from './password.js';
import { type InputEntity, inputSourceKind, type SourceLimits } from './source-kind.js';
import { parseSystemFields, systemValues } from './system-fields.js';
import { UrlPolicy } from './url-policy.js';

interface S3Source {
  readonly objects: readonly S3Object[];
  readonly prefixes: readonly S3Object[];
  /** Matches whole keys; null: all. */
  readonly matches: ((key: string) => boolean) | null;
  readonly systemFields: ReturnType<typeof parseSystemFields>;
  readonly client: Omit<S3ClientSettings, 'credentials'>;
  readonly credentials: {
    readonly accessKeyId: Password;
    readonly secretAccessKey: Password;
    readonly sessionToken: Password | null;
  } | null;
}

const SYSTEM_FIELDS = ['__file_uri', '__file_bucket', '__file_path'] as const;
const OBJECTS_MAX = 1_000_000;

export const S3 = inputSourceKind<S3Source>({
  type: 's3',
  parse: parseS3Source,
  entities: s3Entities,
  only: ({ uris: _uris, prefixes: _prefixes, ...written }, names) => ({
    ...written,
    objects: names.map((name) => {
      const [, bucket, path] = /^s3:\/\/([^/]*)\/(.*)$/s.exec(name) ?? [];
      return { bucket, path };
    }),
  }),
});

function parseS3Source(fields: ObjectReader): S3Source {
  const named = ['uris', 'prefixes', 'objects'] as const;
  fields.accept([...named, 'objectGlob', 'systemFields', 'properties', 'endpointConfig', 'clientConfig', 'proxyConfig']);
  if (named.filter((key) => fields.array(key).length > 0).length !== 1)
    throw fields.invalid('', 'expected one of uris, prefixes and objects');
  if (fields.has('proxyConfig')) throw fields.unsupported('proxyConfig', 'S3 is connected to without a proxy');
  const glob = fields.optionalString('objectGlob');
  const credentials = credentialsOf(fields.optionalObject('properties'));
  const client = clientOf(fields.optionalObject('endpointConfig'), fields.optionalObject('clientConfig'));
  if (client.endpoint !== null && credentials === null)
    throw fields.invalid('properties', 'expected accessKeyId and secretAccessKey: those of the server go to AWS only');
  return {
    objects: [
      ...fields.strings('uris').map((uri) => located(fields, 'uris', uri)),
      ...fields.objects('objects').map((object) => {
        object.accept(['bucket', 'path']);
        return { bucket: object.string('bucket'), key: object.string('path') };
      }),
    ],
    prefixes: fields.strings('prefixes').map((uri) => located(fields, 'prefixes', uri)),
    matches: glob === undefined ? null : globMatcher(glob, { field: 'inputSource.objectGlob', crossesFolders: true }),
    systemFields: parseSystemFields(fields, SYSTEM_FIELDS),
    client,
    credentials,
  };
}

function located(fields: ObjectReader, key: string, uri: string): S3Object {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]+)\/?(.*)$/s.exec(uri) ?? [];
  if (bucket === '' || (key === 'uris' && path === '')) throw fields.invalid(key, `expected s3://bucket/path, found "${uri}"`);
  try {
    return { bucket, key: decodeURIComponent(path) };
  } catch {
    throw fields.invalid(key, `expected a URI, found "${uri}"`);
  }
}

function credentialsOf(properties: ObjectReader | undefined): S3Source['credentials'] {
  if (properties === undefined) return null;
  properties.accept(['accessKeyId', 'secretAccessKey', 'sessionToken', 'assumeRoleArn', 'assumeRoleExternalId']);
  for (const key of ['assumeRoleArn', 'assumeRoleExternalId'])
    if (properties.has(key)) throw properties.unsupported(key, 'give the accessKeyId, secretAccessKey and sessionToken of the role');
  const accessKeyId = parsePassword(properties, 'accessKeyId');
  const secretAccessKey = parsePassword(properties, 'secretAccessKey');
  const sessionToken = parsePassword(properties, 'sessionToken');
  if (accessKeyId !== null && secretAccessKey !== null) return { accessKeyId, secretAccessKey, sessionToken };
  if (accessKeyId !== null || secretAccessKey !== null || sessionToken !== null)
    throw properties.invalid('', 'expected both accessKeyId and secretAccessKey');
  return null;
}

function clientOf(endpointConfig: ObjectReader | undefined, clientConfig: ObjectReader | undefined): S3Source['client'] {
  endpointConfig?.accept(['url', 'signingRegion']);
  const keys = [
    'protocol',
    'enablePathStyleAccess',
    'forceGlobalBucketAccessEnabled',
    'crossRegionAccessEnabled',
    'connectionTimeout',
    'socketTimeout',
    'maxConnections',
  ];
  if (clientConfig !== undefined) acceptWithInert(clientConfig, keys, INERT_KEYS.s3Client);
  const written = endpointConfig?.optionalString('url');
  const endpoint = written === undefined ? null : endpointUrl(written, clientConfig?.optionalString('protocol') ?? 'https');
  if (endpointConfig !== undefined && endpoint === undefined)
    throw endpointConfig.invalid('url', `expected a host or an http or https URL, found "${written}"`);
  return {
    endpoint: endpoint ?? null,
    region: endpointConfig?.optionalString('signingRegion') ?? null,
    pathStyle: clientConfig?.boolean('enablePathStyleAccess', false) ?? false,
    crossRegion: clientConfig?.boolean('crossRegionAccessEnabled', clientConfig.boolean('forceGlobalBucketAccessEnabled', false)) ?? false,
    connectionTimeoutMs: clientConfig?.optionalInteger('connectionTimeout', 1) ?? 10_000,
    socketTimeoutMs: clientConfig?.optionalInteger('socketTimeout', 1) ?? 50_000,
    maxConnections: clientConfig?.optionalInteger('maxConnections', 1, 1000) ?? 50,
  };
}

async function s3Entities(source: S3Source, { http, peers, signal }: SourceLimits): Promise<readonly InputEntity[]> {
  const { client, credentials, systemFields } = source;
  const policy = new UrlPolicy({
    rules: http,
    peers,
    resolve: (host) => lookup(host, { all: true }),
    machineAddresses: machineAddresses(),
  });
  // An address that is written out is not looked up again.
  if (client.endpoint !== null) await policy.addressesOf(new URL(client.endpoint));
  const secret = (password: Password): string => passwordText(password, http.passwordVariables ?? []);
  const settings: S3ClientSettings = {
    ...client,
    credentials:
      credentials === null
        ? null
        : {
            accessKeyId: secret(credentials.accessKeyId),
            secretAccessKey: secret(credentials.secretAccessKey),
            ...(credentials.sessionToken === null ? {} : { sessionToken: secret(credentials.sessionToken) }),
          },
  };
  const reader = new S3Objects({ settings, addressesOf: (url) => policy.addressesOf(url), signal, failed: inputFailure });
  const found: (S3Object & { readonly sizeBytes: number | null })[] = source.objects.map((object) => ({ ...object, sizeBytes: null }));
  for (const { bucket, key } of source.prefixes) {
    for await (const object of reader.list(bucket, key)) {
      if (object.sizeBytes > 0) found.push(object);
      if (found.length > OBJECTS_MAX) throw new ServiceError('resource_limit', `the prefixes name more than ${OBJECTS_MAX} objects`);
    }
  }
  return found
    .filter(({ key }) => source.matches?.(key) ?? true)
    .map((object) => {
      const name = `s3://${object.bucket}/${object.key}`;
      return {
        name,
        sizeBytes: object.sizeBytes,
        localFile: null,
        systemFields: systemValues(systemFields, { __file_uri: name, __file_bucket: object.bucket, __file_path: object.key }),
        open: async () => Readable.from(reader.read(object), { objectMode: true }),
      };
    });
}

function inputFailure(name: string, failure: S3Failure, cause: unknown): ServiceError {
  if (failure.kind === 'cancelled') return new ServiceError('cancelled', 'the task was cancelled', cause);
  const reason = failure.kind === 'refused' ? `cannot be read: S3 answers ${failure.answer}` : REASONS[failure.kind];
  return new ServiceError('input_unreadable', `${name} ${reason}`, cause);
}

const REASONS: Readonly<Record<Exclude<S3Failure['kind'], 'refused' | 'cancelled'>, string>> = {
  absent: 'does not exist',
  changed: 'was changed while it was read',
  forbidden: 'cannot be read: S3 refuses these credentials',
  unreachable: 'cannot be read: there is no answer of S3, or it breaks off',
  unconfigured: 'cannot be read: there are no credentials or no region for S3',
};
