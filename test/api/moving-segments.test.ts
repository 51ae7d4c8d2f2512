import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

/*
 * A Historical comes to a cluster whose segments all lie on another one: half of them move there, each with one copy before and after,
 * and every query meanwhile is answered over all rows.
 */
const PORT_OFFSET = 16_500;
const DAYS = 40;
const URL_OF_BROKER = `http://127.0.0.1:${8082 + PORT_OFFSET}`;
const URL_OF_MASTER = `http://127.0.0.1:${8081 + PORT_OFFSET}`;
const dayOf = (day: number): string => new Date(Date.UTC(2024, 0, 1 + day)).toISOString();

const load = {
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      inputSource: { type: 'inline', data: Array.from({ length: DAYS }, (_, day) => `${dayOf(day)},${day}`).join('\n') },
      inputFormat: { type: 'csv', columns: ['time', 'n'] },
    },
    dataSchema: {
      dataSource: 'moved',
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: [{ type: 'long', name: 'n' }] },
      granularitySpec: { segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
};

/** Number of segments by the port of their server; a segment with several copies counts for each. */
async function places(): Promise<ReadonlyMap<number, number>> {
  const query = "SELECT server, COUNT(*) FROM sys.server_segments WHERE segment_id LIKE 'moved%' GROUP BY 1";
  const rows = await sqlRows(URL_OF_BROKER, query);
  return new Map(rows.map(([server, count]) => [Number(String(server).split(':').at(-1)) - PORT_OFFSET, Number(count)]));
}

const moving = suite('segments that move to a new Historical');

moving('half of them do, and every answer is over all rows', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-moving-'));
  const processes: DolmenProcess[] = [];
  const start = async (roles: string, number: number): Promise<void> => {
    const shared = [
      `svc.metadata.file=${path.join(folder, 'metadata.sqlite')}`,
      `svc.storage.directory=${path.join(folder, 'deep-storage')}`,
      'svc.processing.numThreads=1',
    ];
    processes.push(
      await startDolmen({
        dataDir: path.join(folder, `process${number}`),
        portOffset: PORT_OFFSET + number,
        flags: ['--roles', roles, ...shared.flatMap((each) => ['--property', each])],
      }),
    );
  };
  try {
    await start('coordinator,overlord,middleManager,broker,historical', 0);
    await callJson('POST', `${URL_OF_MASTER}/svc/coordinator/v1/rules/moved`, [
      { type: 'loadForever', tieredReplicants: { _default_tier: 1 } },
    ]);
    await runTask(URL_OF_MASTER, load);
    const isOn = async (...counts: readonly number[]): Promise<void> => {
      for (let looks = 0; looks < 600; looks++, await sleep(100)) {
        const found = await places();
        if (counts.every((count, at) => (found.get(8083 + at) ?? 0) === count)) return;
      }
      assert.unreachable(`never ${counts.join(' and ')}: ${JSON.stringify([...(await places())])}`);
    };
    await isOn(DAYS, 0);
    // The Broker shows them a little later.
    await waitForCount(URL_OF_BROKER, 'moved', DAYS);
    let isEnded = false;
    let answers = 0;
    const asking = (async () => {
      for (; !isEnded; answers++) {
        const query = 'SELECT COUNT(*), SUM(n) FROM moved WHERE n >= 0';
        const context = { useCache: false, populateCache: false, useResultLevelCache: false };
        const answer = await callJson('POST', `${URL_OF_BROKER}/svc/v2/sql`, { query, resultFormat: 'array', context });
        assert.equal(answer, [[DAYS, (DAYS * (DAYS - 1)) / 2]]);
      }
    })();
    try {
      await start('historical', 1);
      await Promise.race([isOn(DAYS / 2, DAYS / 2), asking]);
    } finally {
      isEnded = true;
    }
    await asking;
    assert.ok(answers > 0);
    const metrics = await fetch(`${URL_OF_MASTER}/metrics`).then((answer) => answer.text());
    const moved = /^druid_segment_moved_count_total\{dataSource="moved",tier="_default_tier"\} (\d+)$/m.exec(metrics)?.[1];
    assert.is(Number(moved), DAYS / 2);
  } finally {
    for (const each of processes.reverse()) await each.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

moving.run();
