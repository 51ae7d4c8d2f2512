import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PostgresqlMembership } from '../../src/cluster/membership/postgresql-store.js';
import type { Database } from '../../src/metadata/database.js';
import type { Leader } from '../../src/metadata/leadership.js';
import { migrate } from '../../src/metadata/migrations.js';
import { openPostgresql } from '../../src/metadata/postgresql/database.js';
import { postgresqlSettings } from '../metadata/fixture.js';
import { startService } from '../services.js';

/* Candidates over PostgreSQL that begin to lead, give up and fall silent at the worst moments. */
const SHORT_MS = 300;
/** Lease that does not run out while a test does something else, on a slow machine either. */
const LONG_MS = 5000;
const ROLE = 'overlord';
const service = await startService('postgres');
const tests = suite('elections over PostgreSQL');

interface Process {
  readonly host: string;
  /** Name under which the database lists its connections. */
  readonly name: string;
  readonly membership: PostgresqlMembership;
  readonly database: Database;
  /** Awaited by its transactions before they begin, and after they have ended. */
  before: Promise<void>;
  after: Promise<void>;
  /** Transactions that it has begun. */
  begun: number;
  /** Length of the leases that it asks for. */
  leaseMs: number;
  stand(heldEpoch?: number | null): ReturnType<PostgresqlMembership['stand']>;
  leave(): Promise<void>;
}

if (service === undefined) tests.skip('no PostgreSQL');
else {
  let schemas = 0;
  /** Opens the gates of a test that has failed. */
  const closed: (() => void)[] = [];
  /** Processes over a schema of their own. */
  const withProcesses = async (work: (a: Process, b: Process, other: Process) => Promise<void>): Promise<void> => {
    const schema = `elections_${schemas++}`;
    const processes: Process[] = [];
    for (const name of ['a', 'b', 'c']) {
      const settings = { ...postgresqlSettings(service, schema), applicationName: `dolmen ${schema} ${name}` };
      const database = await openPostgresql(settings);
      if (name === 'a') await migrate(database);
      const process: Process = {
        host: `${name}:1`,
        name: settings.applicationName,
        database,
        before: Promise.resolve(),
        after: Promise.resolve(),
        begun: 0,
        leaseMs: SHORT_MS,
        membership: new PostgresqlMembership(settings, {
          faults: database.faults,
          transaction: async (transaction) => {
            process.begun++;
            await process.before;
            const result = await database.transaction(transaction);
            await process.after;
            return result;
          },
        }),
        stand: (heldEpoch = null) => process.membership.stand({ role: ROLE, host: process.host, heldEpoch, leaseMs: process.leaseMs }),
        async leave() {
          await process.membership.disconnect();
          await database.close();
        },
      };
      await process.membership.prepare();
      processes.push(process);
    }
    try {
      await work(...(processes as [Process, Process, Process]));
    } finally {
      for (const open of closed.splice(0)) open();
      for (const each of processes) await each.leave();
    }
  };
  /** A promise that a test fulfils. */
  const held = (): { readonly gate: Promise<void>; open(): void } => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    closed.push(open);
    return { gate, open };
  };
  /** Stands, and has got the lock when this resolves to what it will be told. */
  const locked = async (process: Process): Promise<{ readonly told: Promise<Leader> }> => {
    const told = process.stand();
    while (process.begun === 0) await sleep(5);
    return { told };
  };
  /** Stands again and again, as the beats of a process do, until it leads or a time is over; its last leader. */
  const standing = async (process: Process, forMs: number): Promise<Leader> => {
    for (const untilMs = performance.now() + forMs; ; await sleep(SHORT_MS / 10)) {
      const leader = await process.stand();
      if (leader.host === process.host || performance.now() > untilMs) return leader;
    }
  };
  /** One leads, and the other one sees that it renews its lease. */
  const lead = async (leader: Process, other: Process): Promise<void> => {
    leader.leaseMs = LONG_MS;
    assert.is((await leader.stand()).host, leader.host);
    for (let turn = 0; turn < 3; turn++) {
      await leader.stand(1);
      assert.is((await other.stand()).host, leader.host);
    }
  };
  /** Resolves when the transaction that a process has begun waits in the database, as another one sees it there. */
  const waiting = async ({ name }: Process, { database }: Process): Promise<void> => {
    const query = "SELECT 1 FROM pg_stat_activity WHERE application_name = ? AND wait_event_type = 'Lock'";
    while ((await database.rows(query, [name])).length === 0) await sleep(5);
  };
  const told = ({ epoch, host }: Leader): string => `${host} ${epoch}`;
  /** The session of its transactions in the database: another one when it was ended. */
  const sessionOf = (process: Process): Promise<unknown> =>
    process.database.transaction((queries) => queries.rows('SELECT pg_backend_pid() AS pid'));

  tests('one that has the lock and not yet the lease goes on while another stands', () =>
    withProcesses(async (a, b) => {
      const { gate, open } = held();
      a.before = gate;
      const began = await locked(a);
      b.leaseMs = LONG_MS;
      for (let turn = 0; turn < 5; turn++) assert.is(told(await b.stand()), ' 0');
      open();
      assert.is(told(await began.told), 'a:1 1');
    }),
  );

  tests('one that waits for the transaction of another process goes on, however long that is', () =>
    withProcesses(async (a, b, other) => {
      const { gate, open } = held();
      const { gate: holds, open: hold } = held();
      const transaction = other.database.transaction(() => {
        hold();
        return gate;
      });
      await holds;
      const began = await locked(a);
      await waiting(a, other);
      assert.is(told(await standing(b, 6 * SHORT_MS)), ' 0');
      open();
      await transaction;
      assert.is(told(await began.told), 'a:1 1');
    }),
  );

  tests('one that is paused before it takes the lease is passed over, and takes none when it wakes', () =>
    withProcesses(async (a, b) => {
      const { gate, open } = held();
      a.before = gate;
      const began = await locked(a);
      assert.is(told(await standing(b, 60_000)), 'b:1 1');
      open();
      assert.is(told(await began.told), 'b:1 1');
      assert.is(told(await b.stand(1)), 'b:1 1');
    }),
  );

  tests('a leader that is paused is replaced as soon as its lease has run out', () =>
    withProcesses(async (a, b) => {
      await lead(a, b);
      for (let leads = false; !leads; ) {
        const nowMs = b.membership.now();
        const leader = await b.stand();
        leads = leader.host === b.host;
        assert.ok(leads || leader.expiresMs > nowMs, 'the other one has not been replaced though its lease had run out');
      }
      assert.is(told(await a.stand(1)), 'b:1 2');
    }),
  );

  tests('one that gives up is not taken for one that is paused', () =>
    withProcesses(async (a, b) => {
      await lead(a, b);
      const session = await sessionOf(a);
      const { gate, open } = held();
      a.after = gate;
      const givenUp = a.membership.giveUp(ROLE, 1);
      assert.is(told(await standing(b, 60_000)), 'b:1 2');
      open();
      await givenUp;
      assert.equal(await sessionOf(a), session);
      assert.is(told(await b.stand(2)), 'b:1 2');
    }),
  );
  tests.after(() => service.stop());
}
tests.run();
