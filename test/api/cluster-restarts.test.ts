import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callAgain, waitForCount, waitForTask } from '../../bench/server.js';
import type { Role } from '../../src/configuration/properties.js';
import { createS3DeepStorage } from '../../src/storage/s3/s3-deep-storage.js';
import { type Service, startService } from '../services.js';
import { s3Place } from '../storage/stores.js';
import { type SixProcesses, startSix } from './six.js';
import { storeFlags } from './store-flags.js';

/** Six processes that share no file, over PostgreSQL and S3: each is restarted while a load is under way and a client asks all the time. */
const PORT_OFFSET = 20_600;
const ROLES: readonly Role[] = ['historical', 'broker', 'middleManager', 'overlord', 'coordinator', 'router'];

/** Adds a row to a day of its own; the sum tells which loads are in. */
const load = (turn: number): unknown => ({
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      appendToExisting: true,
      inputSource: { type: 'inline', data: `2024-01-0${turn + 1}T00:00:00Z,${2 ** turn}` },
      inputFormat: { type: 'csv', columns: ['time', 'value'] },
    },
    dataSchema: {
      dataSource: 'turns',
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'value' }] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

/** Answers of a client that asks until it is ended: sums, and the statuses of errors. */
function asking(url: string): { readonly sums: number[]; readonly errors: string[]; end(): Promise<void> } {
  const [sums, errors]: [number[], string[]] = [[], []];
  let isEnded = false;
  const one = async (): Promise<void> => {
    const answer = await fetch(`${url}/svc/v2/sql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'SELECT SUM("value") AS s FROM turns', context: { useCache: false, useResultLevelCache: false } }),
    }).catch(() => undefined);
    const text = await answer?.text().catch(() => '');
    if (answer === undefined) errors.push('no connection');
    else if (answer.status === 200) sums.push((JSON.parse(text ?? '') as { s: number }[])[0]?.s ?? 0);
    else errors.push(`${answer.status} ${text}`);
  };
  const turns = (async () => {
    for (; !isEnded; await sleep(20)) await one();
  })();
  return {
    sums,
    errors,
    end() {
      isEnded = true;
      return turns;
    },
  };
}

/** A process that is away is told as such, never by other rows. */
const RETRYABLE = /^(50[234]|no connection)/;

async function run(postgresql: Service, s3: Service): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-restarts-'));
  const six: SixProcesses = await startSix((role) => path.join(folder, role), PORT_OFFSET, storeFlags(postgresql, s3));
  const submit = async (turn: number): Promise<string> =>
    ((await callAgain('POST', `${six.url}/svc/indexer/v1/task`, load(turn))) as { readonly task: string }).task;
  try {
    await waitForTask(six.url, await submit(0));
    await waitForCount(six.url, 'turns', 1);
    for (const [index, role] of ROLES.entries()) {
      const client = asking(six.url);
      const task = await submit(index + 1);
      // Its segments come from S3 again.
      const code = await six.restart(role, () => rmSync(path.join(folder, role, 'segment-cache'), { recursive: true, force: true }));
      await waitForTask(six.url, task);
      await waitForCount(six.url, 'turns', index + 2);
      await client.end();
      const [before, after] = [2 ** (index + 1) - 1, 2 ** (index + 2) - 1];
      console.log(`${role}: ${client.sums.length} answers, ${client.errors.length} errors`);
      assert.is(code, 0, role);
      assert.equal(
        client.sums.filter((sum) => sum !== before && sum !== after),
        [],
        `answers over other rows while the ${role} was restarted`,
      );
      assert.equal(
        client.sums,
        [...client.sums].sort((a, b) => a - b),
        `rows that were there are gone again: ${role}`,
      );
      assert.equal(
        client.errors.filter((error) => !RETRYABLE.test(error)),
        [],
        role,
      );
    }
    const stored: string[] = [];
    for await (const { path: each } of createS3DeepStorage(s3Place(s3, 'segments')).list()) stored.push(each);
    assert.is(stored.length, ROLES.length + 1, stored.join('\n'));
    for (const role of ROLES)
      for (const name of ['metadata.sqlite', 'deep-storage']) assert.not.ok(existsSync(path.join(folder, role, name)), `${role}/${name}`);
    assert.equal(await six.stop(), [0, 0, 0, 0, 0, 0]);
  } catch (error) {
    await Promise.all(six.processes.map((each) => each.kill()));
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const restarts = suite('restarts of a cluster over PostgreSQL and S3');
const services = [await startService('postgres'), await startService('s3')];
const [postgresql, s3] = services;
if (postgresql === undefined || s3 === undefined) restarts.skip('restarts', () => undefined);
else restarts('no row is lost, none is answered that is not there, and none goes away', () => run(postgresql, s3));
restarts.after(async () => {
  for (const service of services) await service?.stop();
});
restarts.run();
