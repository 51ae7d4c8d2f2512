import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDolmen } from '../server.js';
import { type LoginFigures, measureLogins } from './logins.js';
import { measureOverhead, type OverheadFigures } from './overhead.js';

/**
 * The cost of users and rights, and what somebody learns who tries passwords. Processor time is of the server, over all its threads.
 *   --only overhead|logins --rounds N (5) --seconds N (2) --connections N (32) --json FILE
 */
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '32' },
    json: { type: 'string' },
  },
});

const SECRET = 'a secret';
/** Settings of a server with users, roles and an administrator. */
const USERS = [
  'svc.auth.authenticatorChain=["basic"]',
  `svc.auth.authenticator.basic.initialAdminPassword=${SECRET}`,
  'svc.auth.authenticator.basic.authorizerName=basic',
  'svc.auth.authorizers=["basic"]',
];
const ADMIN = { Authorization: `Basic ${Buffer.from(`admin:${SECRET}`).toString('base64')}` };

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-bench-security-'));
const isAsked = (name: string) => values.only === undefined || values.only === name;
const start = (name: string, portOffset: number, settings: readonly string[]) =>
  startDolmen({ dataDir: path.join(folder, name), portOffset, flags: settings.flatMap((each) => ['--property', each]) });

let overhead: OverheadFigures | undefined;
const logins: LoginFigures[] = [];
try {
  if (isAsked('overhead')) {
    const servers = [await start('open', 11_300, []), await start('closed', 11_400, USERS)] as const;
    try {
      overhead = await measureOverhead({
        open: { server: servers[0], headers: {} },
        closed: { server: servers[1], headers: ADMIN },
        rounds: Number(values.rounds),
        seconds: Number(values.seconds),
        connections: Number(values.connections),
      });
    } finally {
      for (const server of servers) await server.stop();
    }
  }
  if (isAsked('logins')) {
    const further = ['svc.auth.login.maxFailures=1000000', 'svc.auth.authenticator.basic.credentialIterations=1000'];
    for (const [name, attempts, settings] of [
      ['throttled', 100_000, []],
      ['each hashed', 8000, further],
    ] as const) {
      const server = await start(name.replace(' ', '-'), 11_500, [...USERS, ...settings]);
      try {
        logins.push(await measureLogins({ name, server, attempts, admin: ADMIN }));
      } finally {
        await server.stop();
      }
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

const goals = [
  ...(overhead === undefined ? [] : [{ name: 'processor time of SELECT 1 with users over without', found: overhead.ratio, most: 1.1 }]),
  ...logins.flatMap(({ name, byProcessor, byClock }) => [
    { name: `${name}: |t| by processor time`, found: Math.abs(byProcessor.t), most: 4.5 },
    { name: `${name}: |t| by the clock`, found: Math.abs(byClock.t), most: 4.5 },
  ]),
];
for (const { name, found, most } of goals) {
  process.stdout.write(`${found <= most ? 'met   ' : 'MISSED'} ${name}: ${found.toFixed(3)} (at most ${most})\n`);
  if (!(found <= most)) process.exitCode = 1;
}
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ overhead, logins, goals }, null, 2)}\n`);
