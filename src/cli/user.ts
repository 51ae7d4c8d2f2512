// The command `dolmen user add`: makes a user in the metadata store, before the server asks who is there.

import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { ServiceError } from '../base/errors.js';
import { makeUser } from '../cluster/access/initial-access.js';
import { PasswordHasher } from '../cluster/access/password-hash.js';
import { metadataSettings } from '../cluster/metadata-settings.js';
import { Configuration } from '../configuration/configuration.js';
import { migrate } from '../metadata/migrations.js';
import { openDatabase } from '../metadata/open-database.js';
import { EXIT, type ExitCode } from './exit-codes.js';

export interface UserAddOptions {
  readonly flags: readonly string[];
  readonly file: string | undefined;
  /** Default: the first authenticator that keeps its users in the metadata store. */
  readonly authenticator: string | undefined;
  readonly authorizer: string | undefined;
  readonly role: string;
}

const DEFAULT_NAME = 'basic';

/** @throws ServiceError `input_invalid` when there is such a user, or no password */
export async function userAdd(user: string, options: UserAddOptions): Promise<ExitCode> {
  const configuration = Configuration.read({
    environment: process.env,
    flags: options.flags,
    ...(options.file === undefined ? {} : { file: options.file }),
  });
  const found = configuration
    .named('svc.auth.authenticator')
    .find((each) => each.type === 'basic' && each['credentialsValidator.type'] === 'metadata');
  const authenticator = options.authenticator ?? found?.name ?? DEFAULT_NAME;
  const authorizer =
    options.authorizer ?? configuration.named('svc.auth.authorizer').find(({ type }) => type === 'basic')?.name ?? DEFAULT_NAME;
  const password = await readPassword();
  const settings = metadataSettings(configuration, 'user');
  if (settings.type === 'sqlite') mkdirSync(dirname(settings.file), { recursive: true, mode: 0o700 });
  const database = await openDatabase(settings);
  try {
    await migrate(database);
    const credentials = await new PasswordHasher(1).hash(password, found?.credentialIterations ?? DEFAULT_ITERATIONS);
    await makeUser(database, { user, authenticator, authorizer, role: options.role, credentials });
  } finally {
    await database.close();
  }
  process.stdout.write(`${user} is there, with the role ${options.role}; a server that runs knows it within a minute\n`);
  if (found === undefined) process.stdout.write(configurationHint(authenticator, authorizer));
  return EXIT.done;
}

const DEFAULT_ITERATIONS = 10_000;

/** The variable DOLMEN_PASSWORD, or the first line of standard input. */
async function readPassword(): Promise<string> {
  const given = process.env['DOLMEN_PASSWORD'];
  if (given !== undefined && given !== '') return given;
  if (process.stdin.isTTY) process.stderr.write('password (it will be seen): ');
  const lines = createInterface({ input: process.stdin });
  for await (const line of lines) {
    lines.close();
    if (line !== '') return line;
    break;
  }
  throw new ServiceError('input_invalid', 'password: found nothing, expected the variable DOLMEN_PASSWORD or a line of standard input');
}

function configurationHint(authenticator: string, authorizer: string): string {
  return `
The server does not ask for it yet. In a file for --config:

svc.auth.authenticatorChain=["${authenticator}"]
svc.auth.authenticator.${authenticator}.type=basic
svc.auth.authenticator.${authenticator}.authorizerName=${authorizer}
svc.auth.authorizers=["${authorizer}"]
svc.auth.authorizer.${authorizer}.type=basic
`;
}
