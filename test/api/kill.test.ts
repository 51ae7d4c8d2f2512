import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { csvIngestion } from '../../bench/data/csv.js';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

/**
 * kill -9 of the whole process group, or SIGTERM, at seven moments of a REPLACE over many days, then a restart: the table is
 * all old or all new, never a mix, the task that was accepted succeeds, and once the cleanup ran no file lies in deep
 * storage that metadata does not name.
 */
const DAYS = 12;
const ROWS_PER_DAY = 4000;
const PORT_OFFSET = 20_800;
const kills = suite('kill -9 during a load');

const spec = (folder: string, file: string): unknown =>
  csvIngestion({
    ...{ folder, file, dataSource: 'chunks', segmentGranularity: 'day' },
    timestampSpec: { column: 'time', format: 'iso' },
    dimensions: ['name', { type: 'long', name: 'value' }],
  });

function writeRows(file: string, value: number): void {
  const lines = ['time,name,value'];
  for (let row = 0; row < DAYS * ROWS_PER_DAY; row++) {
    lines.push(`${new Date(Date.UTC(2024, 0, 1) + (row * 86_400_000) / ROWS_PER_DAY).toISOString()},name ${row % 997},${value}`);
  }
  writeFileSync(file, lines.join('\n'));
}

/** Deep storage holds one file per segment, wherever below its folder. */
function storedFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('_'))
    .map((entry) => entry.name);
}

kills('all old or all new, and nothing left behind', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-kill-'));
  const dataDir = path.join(folder, 'data');
  const input = path.join(dataDir, 'input');
  mkdirSync(input, { recursive: true });
  const total = DAYS * ROWS_PER_DAY;
  let server: DolmenProcess | undefined;
  try {
    server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--property', 'svc.coordinator.kill.orphanAge=PT0S'] });
    writeRows(path.join(input, 'rows-1.csv'), 1);
    const began = performance.now();
    await runTask(server.url, spec(input, 'rows-1.csv'));
    const durationMs = performance.now() - began;
    await waitForCount(server.url, 'chunks', total);
    let current = 1;
    let segments = DAYS;

    for (const [moment, [fraction, end]] of (
      [
        [0.1, 'kill'],
        [0.3, 'stop'],
        [0.45, 'kill'],
        [0.7, 'kill'],
        [0.8, 'stop'],
        [0.9, 'kill'],
        [1.05, 'kill'],
      ] as const
    ).entries()) {
      const next = current + 1;
      writeRows(path.join(input, `rows-${next}.csv`), next);
      const { task } = (await callJson('POST', `${server.url}/svc/indexer/v1/task`, spec(input, `rows-${next}.csv`))) as { task: string };
      // From the first moments of the task to about its end, where the publish lies.
      await new Promise((done) => setTimeout(done, durationMs * fraction));
      await server[end]();

      server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--property', 'svc.coordinator.kill.orphanAge=PT0S'] });
      await waitForCount(server.url, 'chunks', total);
      // The task was accepted, so it runs again unless it had published.
      const { url } = server;
      const statusOf = async () =>
        (await callJson('GET', `${url}/svc/indexer/v1/task/${task}/status`)) as { status: { statusCode: string; errorMsg: string | null } };
      const value = async () => {
        const [row] = await sqlRows(url, 'SELECT MIN("value"), MAX("value"), SUM("value") FROM chunks');
        const [min, max, sum] = row as [number, number, number];
        assert.equal([max, sum], [min, min * total], `moment ${moment}: a mix`);
        return min;
      };
      for (let { status } = await statusOf(); status.statusCode !== 'SUCCESS'; { status } = await statusOf()) {
        assert.is.not(status.statusCode, 'FAILED', `moment ${moment}: ${status.errorMsg}`);
        const seen = await value();
        assert.ok(seen === current || seen === next, `moment ${moment}: the value is ${seen}, neither ${current} nor ${next}`);
        await new Promise((done) => setTimeout(done, 50));
      }
      for (let attempt = 0; (await value()) !== next && attempt < 200; attempt++) await new Promise((done) => setTimeout(done, 50));
      assert.is(await value(), next, `moment ${moment}`);
      segments += DAYS;
      current = next;
    }
    // A kill within the publish itself leaves files of which nobody can say whether they were published.
    await callJson('POST', `${server.url}/svc/coordinator/v1/deepStorage/confirm`);

    // Replaced segments stay in deep storage, unused; everything else the killed tasks pushed must go.
    const storage = path.join(dataDir, 'deep-storage');
    for (let attempt = 0; storedFiles(storage).length !== segments && attempt < 100; attempt++)
      await new Promise((done) => setTimeout(done, 200));
    assert.is(storedFiles(storage).length, segments);
    assert.is(await server.stop(), 0);
  } finally {
    await server?.kill();
    rmSync(folder, { recursive: true, force: true });
  }
});

kills.run();
