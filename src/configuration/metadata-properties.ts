// Rows of the table of properties that say where metadata are.

import { resolve } from 'node:path';
import { choice, flag, integer, optional, path, refused, secret, text } from './property.js';

const JAVA = 'it names a class of Java';
const NAMES = 'tables have fixed names; svc.metadata.postgres.dbTableSchema tells several stores of one database apart';

export const METADATA_PROPERTIES = {
  'svc.metadata.storage.type': choice(
    ['sqlite', 'postgresql'],
    'sqlite',
    'Database of metadata: a file, for processes of one machine, or PostgreSQL, for those of several.',
  ),
  'svc.metadata.file': path('metadata.sqlite', 'SQLite file with segments, tasks and rules.', resolve),
  'svc.metadata.storage.connector.connectURI': text('', 'Address of PostgreSQL: jdbc:postgresql://host:port/database.'),
  'svc.metadata.storage.connector.host': optional(text('', 'Host of PostgreSQL, when there is no connectURI.')),
  'svc.metadata.storage.connector.port': optional(integer({ min: 1, max: 65535 }, '', 'Port of PostgreSQL, when there is no connectURI.')),
  'svc.metadata.storage.connector.user': text('', 'User of PostgreSQL.'),
  'svc.metadata.storage.connector.password': secret('Its password.'),
  'svc.metadata.storage.connector.createTables': flag('true', 'Whether missing tables are made.'),
  'svc.metadata.postgres.dbTableSchema': text('public', 'Schema of the tables.'),
  'svc.metadata.postgres.ssl.useSSL': flag('false', 'Whether connections to PostgreSQL are encrypted.'),
  'svc.metadata.postgres.ssl.sslMode': optional(
    choice(
      ['disable', 'require', 'verify-ca', 'verify-full'],
      'disable',
      'What is checked of the certificate of PostgreSQL; nothing: verify-full with useSSL, else disable.',
    ),
  ),
  'svc.metadata.postgres.ssl.sslRootCert': optional(path('', 'Certificates that sign that of PostgreSQL, in PEM.', resolve)),
  'svc.metadata.postgres.ssl.sslCert': optional(path('', 'Certificate of this client, in PEM.', resolve)),
  'svc.metadata.postgres.ssl.sslKey': optional(path('', 'Its private key, in PEM.', resolve)),
  'svc.metadata.postgres.ssl.sslPassword': secret('Password of that key.'),
  'svc.metadata.postgres.ssl.sslFactory': refused(JAVA),
  'svc.metadata.postgres.ssl.sslFactoryArg': refused(JAVA),
  'svc.metadata.postgres.ssl.sslHostNameVerifier': refused(JAVA),
  'svc.metadata.postgres.ssl.sslPasswordCallback': refused(JAVA),
  'svc.metadata.storage.tables.base': refused(NAMES),
};
