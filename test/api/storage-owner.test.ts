import { copyFileSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { callJson, type DolmenProcess, runTask, startDolmen, waitForCount } from '../../bench/server.js';

/** A metadata file that is missing, or older than the segments, costs no segment file: real processes, real files. */
const PORT_OFFSET = 21_300;
const FLAGS = ['svc.coordinator.kill.orphanAge=PT1S', 'svc.coordinator.kill.orphanPeriod=PT0.3S'].flatMap((each) => ['--property', each]);
const owners = suite('a metadata file that lost publishes');

const spec = (dataSource: string): unknown => ({
  type: 'index_parallel',
  spec: {
    ioConfig: {
      type: 'index_parallel',
      inputSource: { type: 'inline', data: '2024-01-01T00:00:00Z,a' },
      inputFormat: { type: 'csv', columns: ['time', 'name'] },
    },
    dataSchema: {
      dataSource,
      timestampSpec: { column: 'time', format: 'iso' },
      dimensionsSpec: { dimensions: ['name'] },
      granularitySpec: { type: 'uniform', segmentGranularity: 'day', rollup: false },
    },
    tuningConfig: { type: 'index_parallel' },
  },
});

interface DeepStorageState {
  readonly state: string;
  readonly reason?: string;
  readonly keptFiles: number;
}

owners('every segment file stays until a person confirms', async () => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'dolmen-owner-'));
  const deepStorage = path.join(dataDir, 'deep-storage');
  const metadata = path.join(dataDir, 'metadata.sqlite');
  const segmentFiles = () =>
    readdirSync(deepStorage, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.startsWith('_'))
      .map((entry) => path.join(entry.parentPath, entry.name));
  const age = () => {
    for (const file of segmentFiles()) utimesSync(file, 1e9, 1e9);
  };
  const removeMetadata = () => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${metadata}${end}`, { force: true });
  };
  let server: DolmenProcess | undefined;
  const start = async (): Promise<DolmenProcess> => {
    server = await startDolmen({ dataDir, portOffset: PORT_OFFSET, flags: FLAGS });
    return server;
  };
  const stateOf = async (url: string): Promise<DeepStorageState> =>
    (await callJson('GET', `${url}/svc/coordinator/v1/deepStorage`)) as DeepStorageState;
  const afterCleanup = async (url: string): Promise<DeepStorageState> => {
    for (;;) {
      const state = await stateOf(url);
      if (state.keptFiles > 0) return state;
      await new Promise((done) => setTimeout(done, 200));
    }
  };
  try {
    const first = await start();
    await runTask(first.url, spec('seen'));
    await waitForCount(first.url, 'seen', 1);
    assert.is(await first.stop(), 0);
    copyFileSync(metadata, path.join(dataDir, 'backup'));

    const second = await start();
    assert.is((await stateOf(second.url)).state, 'confirmed');
    await runTask(second.url, spec('unseen'));
    await runTask(second.url, spec('unseen2'));
    assert.is(await second.stop(), 0);
    age();
    const all = segmentFiles();
    assert.is(all.length, 3);

    removeMetadata();
    copyFileSync(path.join(dataDir, 'backup'), metadata);
    const older = await start();
    await waitForCount(older.url, 'seen', 1);
    const { state, reason, keptFiles } = await afterCleanup(older.url);
    assert.is(state, 'unconfirmed');
    assert.match(reason ?? '', /older copy/);
    assert.is(keptFiles, 2);
    assert.equal(segmentFiles(), all);
    assert.is(await older.stop(), 0);

    removeMetadata();
    const empty = await start();
    assert.is((await afterCleanup(empty.url)).keptFiles, 3);
    assert.equal(segmentFiles(), all);
    await callJson('POST', `${empty.url}/svc/coordinator/v1/deepStorage/confirm`);
    assert.is((await stateOf(empty.url)).state, 'confirmed');
    assert.equal(segmentFiles(), []);
    assert.is(await empty.stop(), 0);
  } finally {
    await server?.kill();
    rmSync(dataDir, { recursive: true, force: true });
  }
});

owners.run();
