// The command `dolmen start`: from configuration to a listening server, and its orderly end.

import { mkdirSync } from 'node:fs';
import type { Log } from '../base/log.js';
import { checkSecurity } from '../cluster/access/checks.js';
import { Configuration } from '../configuration/configuration.js';
import { EXIT, type ExitCode } from './exit-codes.js';
import { openProcessing } from './open-processing.js';
import { style } from './style.js';
import { setV8Flags } from './v8-flags.js';

export interface StartOptions {
  readonly version: string;
  /** `name=value`, the strongest source of configuration. */
  readonly flags: readonly string[];
  readonly file: string | undefined;
  readonly strict: boolean;
  readonly sample: boolean;
}

/** `dolmen start`: resolves when the process was asked to end and everything is put away. */
export async function start(options: StartOptions): Promise<ExitCode> {
  setV8Flags();
  const configuration = Configuration.read({
    environment: process.env,
    flags: options.flags,
    strict: options.strict,
    ...(options.file === undefined ? {} : { file: options.file }),
  });
  for (const warning of configuration.warnings) process.stderr.write(`${style.bad('warning')}: ${warning}\n`);
  const open = checkSecurity(configuration);
  mkdirSync(configuration.get('svc.data.directory'), { recursive: true, mode: 0o700 });
  for (const directory of configuration.get('svc.ingestion.local.allowedDirectories')) mkdirSync(directory, { recursive: true });

  const ended = untilAskedToEnd();
  const processing = await openProcessing(configuration);
  try {
    const log = await openProcessLog(configuration);
    const [{ openRoles }, { listenForRoles }] = await Promise.all([import('./open-roles.js'), import('../server/role-servers.js')]);
    const roles = await openRoles({ configuration, processing, log, version: options.version });
    try {
      if (open !== undefined) process.stdout.write(`${open}\n`);
      const { gate, routesOf, statusRoutes, onRefused } = roles;
      const servers = await listenForRoles({ configuration, gate, log, routesOf, statusRoutes, onRefused });
      try {
        await roles.start();
        servers.ready();
        log.info('ready', { url: servers.url, roles: configuration.roles() });
        process.stdout.write(`ready ${servers.url}\n`);
        if (options.sample && configuration.roles().length === ROLE_COUNT_OF_SAMPLE)
          await showSample(servers.url, roles.processHeaders, configuration, ended);

        const signal = await ended;
        log.info('ending', { signal });
        // Who is impatient may ask a second time.
        process.once(signal, () => process.exit(EXIT.failed));
      } finally {
        await servers.close(configuration.get('svc.server.http.gracefulShutdownTimeout'));
      }
    } finally {
      await roles.stop();
    }
  } finally {
    await processing.close();
  }
  return EXIT.done;
}

/** The sample goes through all of them. */
const ROLE_COUNT_OF_SAMPLE = 6;

/** The log, and in it what would be heard of nowhere else. */
async function openProcessLog(configuration: Configuration): Promise<Log> {
  const { openLog } = await import('../base/log.js');
  const log = openLog({
    file: configuration.get('svc.log.file'),
    level: configuration.get('svc.log.level'),
    maxBytes: configuration.get('svc.log.maxBytes'),
    maxFiles: configuration.get('svc.log.maxFiles'),
  });
  // Failing output (a full disk, a closed pipe) must not end the server.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  // An unhandled rejection must not end the server; an uncaught exception leaves it in an unknown state.
  process.on('unhandledRejection', (error) => log.error('a failure that nobody waited for', { error }));
  process.on('uncaughtException', (error) => {
    log.error('an error that nobody caught', { error });
    process.stderr.write(`${style.bad('dolmen ends')}: ${error.stack ?? error.message}\n`);
    process.exit(EXIT.failed);
  });
  return log;
}

/** Shows the sample data; resolves when it is shown or the process is asked to end. */
async function showSample(
  url: string,
  headers: Readonly<Record<string, string>>,
  configuration: Configuration,
  ended: Promise<unknown>,
): Promise<void> {
  const { firstRun } = await import('./sample.js');
  const ending = new AbortController();
  const failure = await Promise.race([
    firstRun(url, headers, configuration.get('svc.data.directory'), ending.signal).then(
      () => undefined,
      (error: unknown) => error,
    ),
    ended.then(() => ending.abort()),
  ]);
  if (failure === undefined) return;
  process.stderr.write(
    `${style.bad('the sample data could not be loaded')}: ${failure instanceof Error ? failure.message : String(failure)}\n`,
  );
}

function untilAskedToEnd(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal));
  });
}
