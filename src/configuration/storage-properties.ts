// Rows of the table of properties that are about where files are kept: segments, results of statements, logs of tasks.

import { resolve } from 'node:path';
import { bytes, choice, DAY_MS, flag, integer, MEBIBYTE, milliseconds, optional, path, secret, text } from './property.js';

const PART = { min: 5 * MEBIBYTE, max: 5 * 2 ** 30 };

/** Properties of deep storage, durable storage and S3. */
export const STORAGE_PROPERTIES = {
  'svc.storage.type': choice(['local', 's3'], 'local', 'Deep storage: a folder, or a bucket of S3.'),
  'svc.storage.directory': path('deep-storage', 'local: folder of the published segment files.', resolve),
  'svc.storage.bucket': text('', 's3: name of the bucket.'),
  'svc.storage.baseKey': text('', 's3: folder in the bucket; nothing: the bucket itself.'),
  'svc.storage.disableAcl': flag(
    'false',
    's3: whether objects are written without an ACL; otherwise the owner of the bucket gets full control.',
  ),
  'svc.storage.sse.type': optional(
    choice(['s3', 'kms', 'custom'], 's3', 's3: how the server encrypts objects; nothing: as the bucket says.'),
  ),
  'svc.storage.sse.kms.keyId': text('', 'kms: id of the key; nothing: the one that the account has for S3.'),
  'svc.storage.sse.custom.base64EncodedKey': secret('custom: the key, 256 bits in base 64.'),
  'svc.storage.transfer.minimumUploadPartSize': bytes(PART, '20MiB', 's3: size of the parts in which large files are uploaded.'),
  'svc.storage.transfer.multipartUploadThreshold': bytes(PART, '20MiB', 's3: size above which a file is uploaded in parts.'),
  'svc.s3.accessKey': secret('Id of the key that requests to S3 are signed with; nothing: where the SDK of AWS looks for credentials.'),
  'svc.s3.secretKey': secret('The key itself.'),
  'svc.kinesis.accessKey': secret(
    'Id of the key that requests to Kinesis are signed with; nothing: where the SDK of AWS looks for credentials.',
  ),
  'svc.kinesis.secretKey': secret('The key itself.'),
  'svc.s3.endpoint.url': text('', 'Address of S3, with or without its protocol; nothing: that of AWS.'),
  'svc.s3.endpoint.signingRegion': text('', 'Region that requests are signed for.'),
  'svc.s3.protocol': choice(['http', 'https'], 'https', 'Protocol of an endpoint that is written without one.'),
  'svc.s3.enablePathStyleAccess': flag('false', 'Whether the bucket is in the path of requests rather than in the name of the host.'),
  'svc.s3.crossRegionAccessEnabled': flag('false', 'Whether requests follow a bucket to its region.'),
  'svc.s3.connectionTimeout': milliseconds({ min: 1, max: DAY_MS }, 'PT10S', 'Time that connecting to S3 may take.'),
  'svc.s3.socketTimeout': milliseconds(
    { min: 1, max: DAY_MS },
    'PT50S',
    'Time without a byte after which a connection to S3 counts as broken.',
  ),
  'svc.s3.maxConnections': integer({ min: 1, max: 1000 }, '50', 'Connections to S3 at a time.'),
  'svc.msq.intermediate.storage.enable': flag(
    'true',
    'Whether statements may keep their results in durable storage (context key selectDestination: durableStorage).',
  ),
  'svc.msq.intermediate.storage.type': choice(['local', 's3'], 'local', 'Durable storage of results of statements.'),
  'svc.msq.intermediate.storage.basePath': path('query-results', 'local: folder of results of statements.', resolve),
  'svc.msq.intermediate.storage.bucket': text('', 's3: bucket of results of statements.'),
  'svc.msq.intermediate.storage.prefix': text('', 's3: folder of results of statements, apart from that of deep storage.'),
  'svc.msq.intermediate.storage.cleaner.durationToRetain': milliseconds(
    { min: 1000, max: 10 ** 13 },
    '21600000',
    'Time after which results of statements are removed.',
  ),
  'svc.indexer.logs.type': choice(['file', 's3'], 'file', 'Logs of ended tasks: they stay in the folder, or go to a bucket of S3.'),
  'svc.indexer.logs.directory': path('task-logs', 'Folder of logs of tasks; with s3, of those that run.', resolve),
  'svc.indexer.logs.s3Bucket': text('', 's3: bucket of logs of ended tasks.'),
  'svc.indexer.logs.s3Prefix': text('', 's3: folder of logs, apart from those of segments and results.'),
  'svc.indexer.logs.disableAcl': flag('false', 's3: whether logs are written without an ACL.'),
  'svc.export.storage.baseDir': path('exports', 'Folder below which INSERT INTO EXTERN(local(…)) writes its files.', resolve),
} as const;
