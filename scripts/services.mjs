#!/usr/bin/env node
// Starts real services on free loopback ports, for tests and for people who try Dolmen with them; stops them by their process id.
import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { kafkaService } from './kafka-service.mjs';
import { ldapService } from './ldap-service.mjs';

const HELP = `npm run services -- NAME start|halt|stop|status|install [--folder FOLDER]

  postgres    PostgreSQL (Debian: postgresql), database "test"
  mariadb     MariaDB (Debian: mariadb-server-core, mariadb-client-core), database "test"
  ldap        OpenLDAP (Debian: slapd), by ldap, ldaps and StartTLS, with and without memberOf
  kafka       Apache Kafka, one broker in KRaft mode, by all four security protocols (jars of Maven and a client of npm, in build/kafka or $KAFKA_DIR; Java 17)

  s3          S3rver, with a bucket "test" (npm, in build/s3 or $S3_DIR)

  kinesis     kinesalite, a server of Kinesis in memory (npm, in build/kinesis or $KINESIS_DIR)

  start       starts it and prints how to connect, as JSON; one that runs already is told again, one that was halted goes on
  halt        ends it and keeps its folder
  stop        ends it and removes its folder
  status      prints how to connect; exits with 1 when it does not run
  install     installs what is missing of it: Debian packages (as root, with apt-get), jars (with Maven), a package of npm

  --folder    where its data and log lie (default: a folder of its own in that of temporary files)
`;

const USER = 'dolmen';
const PASSWORD = 'dolmen';
const DATABASE = 'test';
const READY_MS = 60_000;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const S3_FOLDER = process.env.S3_DIR ?? join(ROOT, 'build/s3');
const S3_PACKAGE = 's3rver@3.7.1';
const S3_PROGRAM = join(S3_FOLDER, 'node_modules/s3rver/bin/s3rver.js');
const KINESIS_FOLDER = process.env.KINESIS_DIR ?? join(ROOT, 'build/kinesis');
const KINESIS_PACKAGE = 'kinesalite@3.3.3';
const KINESIS_PROGRAM = join(KINESIS_FOLDER, 'node_modules/kinesalite/cli.js');
/** The only account that S3rver knows. */
const S3_ACCOUNT = 'S3RVER';

/** Each service: its Debian package, the programs it needs, how its data are made and how it is run. */
const SERVICES = {
  postgres: {
    packages: ['postgresql'],
    program: () => find('postgres', debianFolders('/usr/lib/postgresql')),
    account: 'postgres',
    uri: (port) => `jdbc:postgresql://127.0.0.1:${port}/${DATABASE}`,
    async prepare({ program, data, folder, run }) {
      const bin = join(program, '..');
      const secret = join(folder, 'password');
      writeFileSync(secret, PASSWORD, { mode: 0o644 });
      await run(join(bin, 'initdb'), [
        '-D',
        data,
        '-U',
        USER,
        '--auth=scram-sha-256',
        `--pwfile=${secret}`,
        '-E',
        'UTF8',
        '--no-locale',
        '--no-sync',
      ]);
      rmSync(secret);
      // A server in single-user mode needs no port to make the database.
      await run(program, ['--single', '-D', data, 'postgres'], `CREATE DATABASE ${DATABASE}\n`);
    },
    args: ({ data, port }) => ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', '', '-c', 'fsync=off', '-c', 'max_connections=200'],
    ready: /ready to accept connections/,
    stopSignal: 'SIGINT',
  },
  mariadb: {
    packages: ['mariadb-server-core', 'mariadb-client-core'],
    program: () => find('my_print_defaults', []) && find('mariadbd', ['/usr/sbin', '/usr/libexec']),
    account: 'mysql',
    uri: (port) => `jdbc:mariadb://127.0.0.1:${port}/${DATABASE}`,
    async prepare({ data, run }) {
      await run(find('mariadb-install-db', []), [
        '--no-defaults',
        `--datadir=${data}`,
        '--auth-root-authentication-method=normal',
        '--skip-test-db',
      ]);
      const setUp = `CREATE DATABASE ${DATABASE} CHARACTER SET utf8mb4;\nCREATE USER '${USER}'@'%' IDENTIFIED BY '${PASSWORD}';\nGRANT ALL ON *.* TO '${USER}'@'%';\n`;
      writeFileSync(join(data, 'set-up.sql'), setUp, { mode: 0o644 });
    },
    args: ({ data, port }) => [
      ...['--no-defaults', `--datadir=${data}`, `--port=${port}`, '--bind-address=127.0.0.1', `--socket=${join(data, 'socket')}`],
      ...[
        `--init-file=${join(data, 'set-up.sql')}`,
        '--skip-name-resolve',
        '--innodb-buffer-pool-size=32M',
        '--innodb-flush-log-at-trx-commit=0',
      ],
    ],
    ready: /ready for connections/,
    stopSignal: 'SIGTERM',
  },
  ldap: ldapService({ find, user: USER, password: PASSWORD, freePort }),
  kafka: kafkaService({ find, user: USER, password: PASSWORD, freePort, installTool }),
  s3: {
    packages: [],
    program: () => (existsSync(S3_PROGRAM) ? process.execPath : undefined),
    hint: 'npm run services -- s3 install',
    uri: (port) => `http://127.0.0.1:${port}`,
    async prepare() {},
    args: ({ data, port }) => [S3_PROGRAM, '-a', '127.0.0.1', '-p', String(port), '-d', data, '--silent', '--configure-bucket', DATABASE],
    ready: /^/,
    stopSignal: 'SIGTERM',
    fill: () => ({ user: S3_ACCOUNT, password: S3_ACCOUNT }),
    fetch: () => installTool(S3_FOLDER, S3_PACKAGE),
  },
  kinesis: {
    packages: [],
    program: () => (existsSync(KINESIS_PROGRAM) ? process.execPath : undefined),
    hint: 'npm run services -- kinesis install',
    uri: (port) => `http://127.0.0.1:${port}`,
    async prepare() {},
    args: ({ port }) => [join(ROOT, 'scripts/kinesis-server.mjs'), KINESIS_FOLDER, String(port)],
    ready: /^/,
    stopSignal: 'SIGTERM',
    fetch: () => installTool(KINESIS_FOLDER, KINESIS_PACKAGE),
  },
};

/** Installs a package of npm as a tool, which no part of the program depends on: it stands in no lock file, and nothing else of it is run. */
function installTool(folder, name) {
  rmSync(`${folder}.part`, { recursive: true, force: true });
  mkdirSync(`${folder}.part`, { recursive: true });
  writeFileSync(join(`${folder}.part`, 'package.json'), '{"private":true}\n');
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', name], {
    cwd: `${folder}.part`,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(`${folder}.part`, folder);
}

function debianFolders(root) {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort((left, right) => Number(right) - Number(left))
    .map((version) => join(root, version, 'bin'));
}

/** The path of a program; undefined when it is not there. */
function find(name, folders) {
  const all = [...folders, ...(process.env.PATH ?? '').split(delimiter)];
  return all.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** The account that a server runs under which refuses to run as root; undefined: that of this process. */
function accountOf(name) {
  if (userInfo().uid !== 0) return undefined;
  for (const account of [name, 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, account], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // There is no such account.
    }
  }
  return undefined;
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Address and account of a service that was started; undefined when there is none. */
function known(folder) {
  const file = join(folder, 'service.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The same of one that runs. */
function running(folder) {
  const service = known(folder);
  return service !== undefined && isRunning(service.pid) ? service : undefined;
}

async function start(name, folder) {
  const before = known(folder);
  if (before !== undefined && isRunning(before.pid)) return before;
  const kind = SERVICES[name];
  const program = kind.program();
  if (program === undefined) throw new Error(`${name} is not installed here (${kind.hint ?? `Debian: ${kind.packages.join(' ')}`})`);
  const account = kind.account === undefined ? undefined : accountOf(kind.account);
  const data = join(folder, 'data');
  const env = { PATH: process.env.PATH, HOME: data, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' };
  if (before !== undefined) return launch({ name, program, account, env, data, folder, port: before.port });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(data, { recursive: true, mode: 0o755 });
  chmodSync(folder, 0o755);
  chmodSync(data, 0o700);
  if (account !== undefined) chownSync(data, account.uid, account.gid);
  const run = async (command, args, input) => {
    const child = promisify(execFile)(command, args, { ...account, cwd: data, env });
    child.child.stdin.end(input ?? '');
    await child.catch((error) => {
      throw new Error(`${command} failed: ${error.stderr || error.stdout || error.message}`);
    });
  };
  const port = await freePort();
  await kind.prepare({ program, data, folder, port, run, account });
  return launch({ name, program, account, env, data, folder, port });
}

/** Runs the program over data that are there. */
async function launch({ name, program, account, env, data, folder, port }) {
  const kind = SERVICES[name];
  const logFile = join(folder, 'log');
  const log = openSync(logFile, 'a');
  // An earlier run said that it was ready as well.
  const { size: earlier } = fstatSync(log);
  const child = spawn(program, kind.args({ data, port }), { ...account, cwd: data, env, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  let ended = false;
  child.on('error', () => {
    ended = true;
  });
  child.on('exit', () => {
    ended = true;
  });
  const service = {
    name,
    pid: child.pid,
    host: '127.0.0.1',
    port,
    user: USER,
    password: PASSWORD,
    database: DATABASE,
    uri: kind.uri(port),
    folder,
  };
  const isReady = async () => kind.ready.test(readFileSync(logFile).subarray(earlier).toString()) && answers(port);
  for (const untilMs = Date.now() + READY_MS; !(await isReady()); ) {
    if (ended || Date.now() > untilMs) {
      if (!ended) process.kill(child.pid, 'SIGKILL');
      throw new Error(`${name} did not start:\n${readFileSync(logFile, 'utf8').slice(-2000)}`);
    }
    await sleep(50);
  }
  Object.assign(service, await kind.fill?.({ data, folder, port }));
  writeFileSync(join(folder, 'service.json'), `${JSON.stringify(service)}\n`);
  child.unref();
  return service;
}

async function halt(name, folder) {
  const service = running(folder);
  if (service === undefined) return;
  process.kill(service.pid, SERVICES[name].stopSignal);
  for (const untilMs = Date.now() + READY_MS; isRunning(service.pid); await sleep(50))
    if (Date.now() > untilMs) process.kill(service.pid, 'SIGKILL');
}

async function stop(name, folder) {
  await halt(name, folder);
  rmSync(folder, { recursive: true, force: true });
}

function install(name) {
  const { program, packages, fetch = () => undefined } = SERVICES[name];
  if (program() !== undefined) return;
  if (packages.some((each) => !isPackageInstalled(each))) installPackages(name, packages);
  if (program() === undefined) fetch();
}

function isPackageInstalled(name) {
  try {
    return execFileSync('dpkg', ['-s', name], { stdio: ['ignore', 'pipe', 'ignore'] }).includes('install ok installed');
  } catch {
    return false;
  }
}

function installPackages(name, packages) {
  if (userInfo().uid !== 0 || find('apt-get', []) === undefined)
    throw new Error(`${name} is not installed, and cannot be without root and apt-get`);
  const quiet = { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  execFileSync('apt-get', ['update', '-qq'], quiet);
  execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
}

async function main() {
  const options = { folder: { type: 'string' }, help: { type: 'boolean', short: 'h' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [name, verb = 'start'] = positionals;
  if (values.help || !Object.hasOwn(SERVICES, name ?? '') || !['start', 'halt', 'stop', 'status', 'install'].includes(verb)) {
    process.stdout.write(HELP);
    return values.help ? 0 : 2;
  }
  const folder = values.folder ?? join(tmpdir(), `dolmen-services-${userInfo().uid}`, name);
  if (verb === 'install') install(name);
  else if (verb === 'halt') await halt(name, folder);
  else if (verb === 'stop') await stop(name, folder);
  else {
    const service = verb === 'start' ? await start(name, folder) : running(folder);
    if (service === undefined) return 1;
    process.stdout.write(`${JSON.stringify(service)}\n`);
  }
  return 0;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  },
);
