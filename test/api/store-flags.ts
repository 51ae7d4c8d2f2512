import type { Service } from '../services.js';

/** Flags of processes that keep metadata in PostgreSQL, segments and logs in S3. */
export const storeFlags = (postgresql: Service, s3: Service): string[] =>
  Object.entries({
    'metadata.storage.type': 'postgresql',
    'metadata.storage.connector.connectURI': postgresql.uri,
    'metadata.storage.connector.user': postgresql.user,
    'metadata.storage.connector.password': postgresql.password,
    'storage.type': 's3',
    'storage.bucket': s3.database,
    'storage.baseKey': 'segments',
    's3.accessKey': s3.user,
    's3.secretKey': s3.password,
    's3.endpoint.url': s3.uri,
    's3.enablePathStyleAccess': 'true',
    'indexer.logs.type': 's3',
    'indexer.logs.s3Bucket': s3.database,
    'indexer.logs.s3Prefix': 'logs',
  }).flatMap(([name, value]) => ['--property', `svc.${name}=${value}`]);
