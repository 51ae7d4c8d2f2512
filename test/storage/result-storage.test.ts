import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Frame } from '../../src/model/frame.js';
import { createLocalDeepStorage } from '../../src/storage/deep/local-deep-storage.js';
import { createResultStorage, ResultPage } from '../../src/storage/result-storage.js';

const folder = mkdtempSync(path.join(tmpdir(), 'dolmen-results-'));
const directory = path.join(folder, 'results');
const storage = createResultStorage(createLocalDeepStorage(directory));
const results = suite('results of statements in durable storage');

results.after(() => rmSync(folder, { recursive: true, force: true }));

const frameOf = (count: number): Frame => ({
  rowCount: count,
  columns: [
    { kind: 'long', name: 'n', values: BigInt64Array.from({ length: count }, (_, row) => BigInt(row)), nulls: null },
    { kind: 'string', name: 's', ids: new Uint32Array(count), dictionary: [null, 'ü "x"'] },
  ],
});

/** Writes a page of these frames; returns its local file. */
async function written(name: string, frames: readonly Frame[]): Promise<string> {
  const file = path.join(folder, name);
  const page = await ResultPage.open(file);
  for (const frame of frames) await page.add(frame);
  await page.finish();
  await page.close();
  assert.is(
    page.rowCount,
    frames.reduce((sum, { rowCount }) => sum + rowCount, 0),
  );
  assert.is(page.bytes, readFileSync(file).length);
  return file;
}

async function read(taskId: string, page: number, attempt = 1): Promise<Frame[]> {
  const frames: Frame[] = [];
  for await (const frame of storage.read({ taskId, attempt }, page)) frames.push(frame);
  return frames;
}

results('pages are read as they were written, whatever the name of their task and the size of their frames', async () => {
  // One frame is larger than what a file is read by at a time.
  const frames = [frameOf(3), frameOf(100_000), frameOf(0), frameOf(1)];
  for (const task of ['query-1', 'a name/with:odd characters?']) {
    await storage.push({ taskId: task, attempt: 1 }, 0, await written('first', frames));
    await storage.push({ taskId: task, attempt: 1 }, 1, await written('second', []));
    assert.equal(await read(task, 0), frames);
    assert.equal(await read(task, 1), []);
  }
});

results('a page that is not there, or not whole, is an error', async () => {
  const file = await written('cut', [frameOf(10)]);
  const length = readFileSync(file).length;
  for (const bytes of [0, 3, 4, length >> 1, length - 4, length - 1]) {
    await written('cut', [frameOf(10)]);
    truncateSync(file, bytes);
    await storage.push({ taskId: 'cut', attempt: 1 }, 0, file);
    assert.match(String(await read('cut', 0).catch(String)), /ends in the middle/);
  }
  assert.match(String(await read('cut', 1).catch(String)), /does not exist/);
  assert.match(String(await read('nobody', 0).catch(String)), /does not exist/);
});

results('pages are removed by their age', async () => {
  await storage.removeBefore(Date.now() + 60_000);
  await storage.push({ taskId: 'old', attempt: 1 }, 0, await written('page', [frameOf(1)]));
  await storage.removeBefore(Date.now() - 60_000);
  assert.is((await read('old', 0)).length, 1);
  await storage.removeBefore(Date.now() + 60_000);
  assert.match(String(await read('old', 0).catch(String)), /does not exist/);
  const left = readdirSync(directory, { recursive: true, withFileTypes: true });
  assert.not(left.some((each) => each.isFile()));
});

results('a run writes over no page of another one', async () => {
  await storage.push({ taskId: 'twice', attempt: 2 }, 0, await written('page', [frameOf(2)]));
  await storage.push({ taskId: 'twice', attempt: 1 }, 0, await written('page', [frameOf(1)]));
  assert.is((await read('twice', 0, 2))[0]?.rowCount, 2);
});

results.run();
