import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, sqlRows } from '../../bench/server.js';
import type { Cut, Link } from '../faults/link.js';
import { LinkedCluster, type ProcessName, type Target } from '../faults/linked-cluster.js';
import { type Service, startService } from '../services.js';
import { until } from './large-cluster.js';
import { PublishHistory } from './publish-history.js';
import { Publisher } from './publisher.js';

/*
 * Ways between processes, and between processes and the database, are cut in one direction or both while rows are published and read.
 * What clients see of each cut: every acknowledged publish, once and in order, and where it says so no error at all.
 * DOLMEN_PARTITIONS=1: all cuts; names of processes, as in `broker,router`: those from these; left out: some.
 */
interface Partition {
  readonly from: ProcessName;
  /** Undefined: the process alone, without all others and the database. */
  readonly to: Target | undefined;
  readonly cut: Cut;
  /** No query fails: what is cut off has a partner, or is not needed to answer. */
  readonly isUnseen: boolean;
  readonly seconds: number;
}

const PORT_OFFSET = 3_100;
const CHOSEN = process.env['DOLMEN_PARTITIONS'];
const CUTS: readonly Cut[] = ['sent', 'received', 'both'];
const each = (from: ProcessName, to: Target, isUnseen: boolean, seconds = 6): readonly Partition[] =>
  CUTS.map((cut) => ({ from, to, cut, isUnseen, seconds }));

const PARTITIONS: readonly Partition[] = [
  ...each('broker', 'historical 0', true),
  ...each('router', 'broker', false),
  ...each('broker', 'master 0', true),
  ...each('broker', 'master 1', true),
  ...each('master 0', 'historical 1', true),
  ...each('master 1', 'historical 1', true),
  ...each('historical 0', 'master 0', true),
  ...each('historical 0', 'master 1', true),
  ...each('master 0', 'worker', true),
  ...each('master 1', 'worker', true),
  ...each('worker', 'master 0', true),
  ...each('worker', 'master 1', true),
  ...each('master 0', 'database', true),
  ...each('master 1', 'database', true),
  ...each('historical 0', 'database', true, 10),
  ...each('worker', 'database', true, 10),
  ...each('broker', 'database', false, 10),
  ...each('router', 'database', false, 10),
  { from: 'historical 1', to: undefined, cut: 'both', isUnseen: true, seconds: 10 },
  { from: 'master 0', to: undefined, cut: 'both', isUnseen: true, seconds: 10 },
  { from: 'master 1', to: undefined, cut: 'both', isUnseen: true, seconds: 10 },
  { from: 'worker', to: undefined, cut: 'both', isUnseen: true, seconds: 10 },
];
/** One of each kind; of the two masters one leads. */
const FEW = PARTITIONS.filter(
  ({ from, to, cut }) =>
    (from === 'broker' && to === 'historical 0' && cut === 'received') ||
    (to === 'database' && from.startsWith('master') && cut === 'received') ||
    (from === 'worker' && to?.startsWith('master') && cut === 'received'),
);

function chosen(): readonly Partition[] {
  if (CHOSEN === undefined) return FEW;
  return CHOSEN === '1' ? PARTITIONS : PARTITIONS.filter(({ from }) => CHOSEN.split(',').includes(from));
}

async function run(postgresql: Service): Promise<void> {
  const cluster = await LinkedCluster.start(PORT_OFFSET, postgresql);
  const histories: PublishHistory[] = [];
  const beganMs = performance.now();
  try {
    const router = cluster.urlOf('router');
    const publisher = new Publisher(() => router);
    await until('a worker', async () => ((await callJson('GET', `${router}/svc/indexer/v1/workers`)) as unknown[]).length > 0);
    const rules = [{ type: 'loadForever', tieredReplicants: { _default_tier: 2 } }];
    await until('rules', () => callJson('POST', `${router}/svc/coordinator/v1/rules/_default`, rules).then(() => true));
    await publisher.publish();
    const published = { table: 'published', handedOver: () => publisher.handedOver };
    const addresses = [cluster.urlOf('broker'), router];
    /** Every client has an answer with all that was acknowledged, and both copies are there. */
    const isWhole = async (): Promise<boolean> => {
      const counts = await Promise.all(addresses.map((url) => sqlRows(url, 'SELECT COUNT(*) FROM published')));
      const query = 'SELECT MIN(num_replicas) FROM sys.segments WHERE is_active = 1';
      const [copies] = await sqlRows(router, query);
      return counts.every(([row]) => row?.[0] === publisher.acknowledged) && copies?.[0] === 2;
    };
    await until('all rows', isWhole);
    for (const url of addresses) histories.push(new PublishHistory(url, published, true));
    for (const partition of chosen()) {
      const { from, to, cut, isUnseen, seconds } = partition;
      const before = histories.map(({ answers, errors }) => ({ answers, errors }));
      for (const history of histories) history.slowestMs = 0;
      const links: readonly Link[] = to === undefined ? cluster.around(from) : [cluster.link(from, to)];
      const publishing = publisher.publish();
      for (const link of links) link.cut(cut);
      await sleep(seconds * 1000);
      for (const link of links) link.mend();
      await publishing;
      await publisher.publish();
      await until(`all rows after a cut from ${from} to ${to}`, isWhole);
      const told = histories.map(({ answers, errors, slowestMs }, at) => {
        const { answers: answersBefore = 0, errors: errorsBefore = 0 } = before[at] ?? {};
        return `${answers - answersBefore} answers (slowest ${(slowestMs / 1000).toFixed(1)} s), ${errors - errorsBefore} errors`;
      });
      const sides = to === undefined ? `${from} alone` : `${from} to ${to}, ${cut}`;
      console.log(`${((performance.now() - beganMs) / 1000).toFixed(0)} s: ${sides}, ${seconds} s: ${told.join('; ')}`);
      const errors = histories.map((history, at) => history.errors - (before[at]?.errors ?? 0));
      if (isUnseen) assert.equal(errors, [0, 0], `errors of queries while ${sides} is cut`);
    }
    for (const history of histories) await history.end();
    assert.equal(
      histories.flatMap(({ violations }) => violations),
      [],
      'what clients saw',
    );
    assert.ok(histories.every(({ answers }) => answers > 0));
  } catch (error) {
    console.log(cluster.output());
    throw error;
  } finally {
    await cluster.stop();
    for (const history of histories) await history.end();
  }
}

const test = suite('ways between processes that are cut');
const service = await startService('postgres');
if (service === undefined) test.skip('no PostgreSQL');
else test('every acknowledged publish is seen once and in order, and what has a partner is not missed', () => run(service));
test.after(async () => service?.stop());
test.run();
