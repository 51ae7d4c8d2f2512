import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, sqlRows } from '../../bench/server.js';
import type { Role } from '../../src/configuration/properties.js';
import { startKafka, type TestKafka } from '../ingestion/stream/kafka.js';
import { type Service, startService } from '../services.js';
import { LargeCluster, type Member, until } from './large-cluster.js';
import { PublishHistory } from './publish-history.js';
import { Publisher } from './publisher.js';
import { storeFlags } from './store-flags.js';

/*
 * Twelve processes over PostgreSQL and S3: they load, compact and answer while processes are killed, one of each role at once but for
 * the Router, and the others go on. DOLMEN_LOSSES=1: one of each in turn, each started again, beside a stream of Kafka; so also of
 * some roles alone (DOLMEN_LOSSES=coordinator,router).
 */
const LOSSES = process.env['DOLMEN_LOSSES'];
const IN_TURN = LOSSES !== undefined;
const ROLES: readonly Role[] = ['historical', 'broker', 'middleManager', 'coordinator', 'overlord', 'router'];
const REPLICAS = { _default_tier: 2, hot: 1 };

const supervisor = (servers: string): unknown => ({
  type: 'kafka',
  spec: {
    dataSchema: {
      dataSource: 'streamed',
      timestampSpec: { column: 't', format: 'millis' },
      dimensionsSpec: { dimensions: [{ name: 'n', type: 'long' }] },
      granularitySpec: { segmentGranularity: 'day', queryGranularity: 'none', rollup: false },
    },
    ioConfig: {
      topic: 'streamed',
      inputFormat: { type: 'json' },
      consumerProperties: { 'bootstrap.servers': servers },
      useEarliestOffset: true,
      startDelay: 'PT0S',
      period: 'PT1S',
      taskDuration: 'PT20S',
    },
    tuningConfig: { type: 'kafka' },
  },
});

/** Address of an Overlord that is there, leader or not. */
const overlordOf = (cluster: LargeCluster): string => cluster.of('overlord').find(({ process }) => process !== undefined)?.url ?? '';

/** A stream that is written to until it is ended. */
class Sender {
  sent = 0;
  #isEnded = false;
  readonly #turns: Promise<void>;

  constructor(kafka: TestKafka) {
    this.#turns = this.#send(kafka);
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#turns;
  }

  async #send(kafka: TestKafka): Promise<void> {
    for (; !this.#isEnded; await sleep(500)) {
      const first = this.sent;
      this.sent += 20;
      await kafka.send(
        'streamed',
        Array.from({ length: 20 }, (_, at) => ({ value: JSON.stringify({ t: (first + at) * 1000, n: first + at }) })),
      );
    }
  }
}

const histories: PublishHistory[] = [];

async function run(postgresql: Service, s3: Service, kafka: TestKafka | undefined): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-large-cluster-'));
  let cluster: LargeCluster | undefined;
  let sender: Sender | undefined;
  const beganMs = Date.now();
  const tell = (what: string): void => console.log(`${((Date.now() - beganMs) / 1000).toFixed(0)} s: ${what}`);
  try {
    cluster = await LargeCluster.start(folder, storeFlags(postgresql, s3));
    tell('12 processes');
    await losses(cluster, kafka, tell, (began) => {
      sender = began;
    });
    const violations = histories.flatMap((history) => history.violations);
    assert.equal(violations, [], 'what clients saw');
    assert.equal([...new Set(await cluster.stop())], [0], 'exit codes');
    tell('stopped');
  } catch (error) {
    for (const { role, copy, process } of cluster?.members ?? []) console.log(`${role} ${copy}:\n${process?.output().slice(-1500)}`);
    throw error;
  } finally {
    await sender?.end();
    for (const history of histories) await history.end();
    await cluster?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function losses(
  cluster: LargeCluster,
  kafka: TestKafka | undefined,
  tell: (what: string) => void,
  began: (sender: Sender) => void,
): Promise<void> {
  const [router] = cluster.of('router');
  const url = router?.url ?? '';
  const publisher = new Publisher(() => overlordOf(cluster));
  const published = { table: 'published', handedOver: () => publisher.handedOver };
  await callJson('POST', `${url}/svc/coordinator/v1/rules/_default`, [{ type: 'loadForever', tieredReplicants: REPLICAS }]);
  await publisher.publish();
  const areSeen = (servers: readonly Member[], table: string, rows: () => number): Promise<void> =>
    until(`${table} on ${servers.length} servers`, async () => {
      const counts = await Promise.all(servers.map((server) => sqlRows(server.url, `SELECT COUNT(*) FROM "${table}"`)));
      const told = counts.map(([row]) => Number(row?.[0]));
      if (told.every((count) => count === rows())) return true;
      throw new Error(`${rows()} rows are ${told.join(' and ')}`);
    });
  const running = (role: Role): readonly Member[] => cluster.of(role).filter(({ process }) => process !== undefined);
  const seen = (): Promise<void> => areSeen([...running('broker'), ...running('router')], 'published', () => publisher.acknowledged);
  await seen();
  for (const [at, server] of [...cluster.of('broker'), ...cluster.of('router')].entries())
    histories.push(new PublishHistory(server.url, published, at < 2));
  let sender: Sender | undefined;
  if (kafka !== undefined) {
    await kafka.createTopic('streamed', 1);
    sender = new Sender(kafka);
    began(sender);
    const sent = sender;
    await callJson('POST', `${url}/svc/indexer/v1/supervisor`, supervisor(kafka.servers));
    const isShown = async (): Promise<boolean> =>
      (await Promise.all(cluster.of('broker').map((server) => sqlRows(server.url, 'SELECT COUNT(*) FROM streamed')))).length === 2;
    await until('rows of the stream', isShown);
    for (const [at, server] of [...cluster.of('broker'), ...cluster.of('router')].entries())
      histories.push(new PublishHistory(server.url, { table: 'streamed', handedOver: () => sent.sent }, at < 2));
  }
  const areReplicated = (): Promise<void> =>
    until('three replicas of every segment', async () => {
      const query = "SELECT COUNT(*), MIN(num_replicas) FROM sys.segments WHERE datasource = 'published' AND is_active = 1";
      const [row] = await sqlRows(url, query);
      return Number(row?.[0]) > 0 && Number(row?.[1]) === 3;
    });
  await publisher.publish();
  await areReplicated();
  await publisher.compact();
  tell('loaded and compacted');
  const victim = async (role: Role): Promise<Member> => {
    if (role === 'coordinator' || role === 'overlord') return cluster.leader(role);
    return cluster.of(role)[0] as Member;
  };
  /** The cluster goes on without some: it publishes, compacts, and shows. */
  const goesOn = async (): Promise<void> => {
    await publisher.publish();
    if (IN_TURN) await publisher.compact();
    await publisher.publish();
    await seen();
  };
  if (IN_TURN) {
    for (const role of LOSSES === '1' ? ROLES : ROLES.filter((each) => LOSSES?.split(',').includes(each))) {
      const member = await victim(role);
      // It is lost in the midst of a publish.
      const publishing = publisher.publish();
      await cluster.lose(member);
      if (role === 'broker') for (const history of histories) forgetStream(history, member);
      await publishing;
      await goesOn();
      tell(`without a ${role}`);
      await cluster.start(member);
      await cluster.untilBack(member);
      await areReplicated();
      await seen();
      tell(`with it: ${histories.map(({ answers, errors }) => `${answers} answers and ${errors} errors`).join(', ')}`);
    }
  } else {
    await areReplicated();
    const members: Member[] = [];
    for (const role of ROLES) if (role !== 'router') members.push(await victim(role));
    const publishing = publisher.publish();
    await Promise.all(members.map((member) => cluster.lose(member)));
    await publishing;
    await goesOn();
    tell(`without ${members.length}: ${histories.map(({ answers, errors }) => `${answers} answers and ${errors} errors`).join(', ')}`);
  }
  if (sender !== undefined) {
    await sender.end();
    const sent = sender;
    await areSeen([...running('broker'), ...running('router')], 'streamed', () => sent.sent);
    await callJson('POST', `${url}/svc/indexer/v1/supervisor/streamed/suspend`);
    await until('all of the stream published', async () => {
      const query = "SELECT SUM(num_rows) FROM sys.segments WHERE datasource = 'streamed' AND is_published = 1 AND is_active = 1";
      return Number((await sqlRows(url, query))[0]?.[0]) === sent.sent;
    });
    tell(`${sent.sent} rows of the stream`);
  }
  const answered = histories.map(({ answers }) => answers);
  await until('further answers', async () =>
    histories.every(({ answers, url: at }, each) => isAway(cluster, at) || answers > (answered[each] ?? 0)),
  );
  for (const history of histories) await history.end();
  tell(`${publisher.acknowledged} publishes, ${publisher.compactions} compactions`);
}

const isAway = (cluster: LargeCluster, url: string): boolean =>
  cluster.members.some((each) => each.url === url && each.process === undefined);

/** A Broker that starts knows nothing of what others have shown of rows that are not published (decision 36). */
function forgetStream(history: PublishHistory, { url }: Member): void {
  if (history.url === url && history.numbered.table === 'streamed') history.floor = 0;
}

const test = suite('a large cluster over PostgreSQL and S3');
const postgresql = await startService('postgres');
const s3 = await startService('s3');
const kafka = IN_TURN && postgresql !== undefined && s3 !== undefined ? await startKafka() : undefined;
if (postgresql === undefined || s3 === undefined) test.skip('a large cluster', () => undefined);
else test('goes on when processes are lost: every acknowledged publish is seen once, and in order', () => run(postgresql, s3, kafka));
test.after(async () => {
  await kafka?.stop();
  for (const service of [postgresql, s3]) await service?.stop();
});
test.run();
