#!/usr/bin/env node
// node scripts/certificates.mjs FOLDER    makes certificates for tests with openssl: a CA, a server and a client that it signs, and strangers.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const DAYS = '3650';
export const STORE_PASSWORD = 'store secret';

/**
 * Files: `ca.pem`; `server.pem` and `client.pem` with certificate and key, `server-cert.pem` and `server-key.pem` apart, `server.p12` under a password;
 * `other.pem` for the same server, of the same CA; `stranger-ca.pem` and `stranger.pem` of a CA that nobody trusts.
 */
export function makeCertificates(folder) {
  mkdirSync(folder, { recursive: true });
  const at = (name) => join(folder, name);
  const openssl = (...args) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  const authority = (name, subject) =>
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      DAYS,
      '-subj',
      `/CN=${subject}`,
      '-keyout',
      at(`${name}-key.pem`),
      '-out',
      at(`${name}.pem`),
    );
  const signed = (name, subject, by) => {
    openssl(
      'req',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-subj',
      `/CN=${subject}`,
      '-keyout',
      at(`${name}-key.pem`),
      '-out',
      at(`${name}.csr`),
    );
    writeFileSync(at(`${name}.ext`), 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n');
    openssl(
      'x509',
      '-req',
      '-in',
      at(`${name}.csr`),
      '-CA',
      at(`${by}.pem`),
      '-CAkey',
      at(`${by}-key.pem`),
      '-CAcreateserial',
      '-days',
      DAYS,
      '-extfile',
      at(`${name}.ext`),
      '-out',
      at(`${name}-cert.pem`),
    );
    writeFileSync(at(`${name}.pem`), readFileSync(at(`${name}-cert.pem`), 'utf8') + readFileSync(at(`${name}-key.pem`), 'utf8'));
  };
  authority('ca', 'Dolmen test CA');
  authority('stranger-ca', 'A CA that nobody trusts');
  signed('server', 'server', 'ca');
  signed('other', 'server', 'ca');
  signed('client', 'client', 'ca');
  signed('stranger', 'stranger', 'stranger-ca');
  openssl(
    'pkcs12',
    '-export',
    '-in',
    at('server-cert.pem'),
    '-inkey',
    at('server-key.pem'),
    '-passout',
    `pass:${STORE_PASSWORD}`,
    '-out',
    at('server.p12'),
  );
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    process.stderr.write('node scripts/certificates.mjs FOLDER\n');
    process.exitCode = 2;
  } else makeCertificates(folder);
}
