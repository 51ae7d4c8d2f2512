import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { csvIngestion } from '../../bench/data/csv.js';
import { callJson, type DolmenProcess, runTask, sqlRows, startDolmen, waitForCount } from '../../bench/server.js';

/**
 * kill -9 of the whole process group at five moments of a REPLACE over many days, then a restart: the table is all
 * old or all new, never a mix, and once the cleanup ran no file lies in deep storage that metadata does not name.
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

    for (const [moment, fraction] of [0.1, 0.45, 0.7, 0.9, 1.05].entries()) {
      const next = current + 1;
      writeRows(path.join(input, `rows-${next}.csv`), next);
      await callJson('POST', `${server.url}/svc/indexer/v1/task`, spec(input, `rows-${next}.csv`));
      // From the first moments of the task to about its end, where the publish lies.
      await new Promise((done) => setTimeout(done, durationMs * fraction));
      await server.kill();

      server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: ['--property', 'svc.coordinator.kill.orphanAge=PT0S'] });
      await waitForCount(server.url, 'chunks', total);
      const [row] = await sqlRows(server.url, 'SELECT MIN("value"), MAX("value"), SUM("value") FROM chunks');
      const [min, max, sum] = row as [number, number, number];
      assert.ok(min === current || min === next, `moment ${moment}: the value is ${min}, neither ${current} nor ${next}`);
      assert.equal([max, sum], [min, min * total], `moment ${moment}: a mix`);
      if (min === next) segments += DAYS;
      current = min;
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
