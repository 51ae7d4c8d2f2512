import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { createLocalDeepStorage } from '../../src/storage/local-deep-storage.js';

const directory = mkdtempSync(join(tmpdir(), 'dolmen-deep-'));
const root = join(directory, 'deep');
mkdirSync(root);
const storage = createLocalDeepStorage(root);
const source = join(directory, 'source');

async function listed(): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path, sizeBytes, modifiedMs } of storage.list()) {
    assert.is(sizeBytes, statSync(join(root, path)).size);
    assert.is(modifiedMs, Math.floor(statSync(join(root, path)).mtimeMs));
    paths.push(path);
  }
  return paths.sort();
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    assert.instance(error, ServiceError);
    return (error as ServiceError).code;
  }
}

const test = suite('local deep storage');

/** Pushes one file with this content. */
async function push(content: string, key: string) {
  writeFileSync(source, content);
  const [spec] = await storage.push([{ localFile: source, key }]);
  assert.ok(spec !== undefined);
  return spec;
}

test('pushed files are listed, pulled and removed', async () => {
  const files = ['task 1/wiki/a.segment', 'b.segment'].map((key, at) => ({ localFile: `${source}-${at}`, key }));
  for (const { localFile } of files) writeFileSync(localFile, 'content');
  const specs = await storage.push(files);
  assert.equal(
    specs,
    files.map(({ key }) => ({ type: 'local', path: key })),
  );
  assert.equal(
    files.map(({ localFile }) => existsSync(localFile)),
    [false, false],
    'pushed files are moved',
  );
  const [spec = { type: '', path: '' }] = specs;
  assert.equal(await listed(), ['b.segment', 'task 1/wiki/a.segment']);
  const pulled = join(directory, 'pulled');
  await storage.pull(spec, pulled);
  assert.is(readFileSync(pulled, 'utf8'), 'content');

  writeFileSync(pulled, 'damaged');
  const again = join(directory, 'again');
  await storage.pull(spec, again);
  assert.is(readFileSync(again, 'utf8'), 'content', 'a pulled file is a copy of its own');

  await storage.remove(spec);
  await storage.remove(spec);
  assert.equal(await listed(), ['b.segment']);
});

test('pushing again replaces the file as a whole', async () => {
  await push('older', 'same');
  await push('newer', 'same');
  assert.is(readFileSync(join(root, 'same'), 'utf8'), 'newer');
  assert.equal(
    readdirSync(root).filter((name) => name.includes('tmp')),
    [],
  );
});

test('absent files', async () => {
  assert.is(await codeOf(storage.push([{ localFile: join(directory, 'absent'), key: 'x/y' }])), 'not_found');
  assert.is(await codeOf(storage.pull({ type: 'local', path: 'absent' }, join(directory, 'z'))), 'not_found');
  assert.is(await codeOf(storage.pull({ type: 's3', path: 'same' }, join(directory, 'z'))), 'unsupported');
  assert.equal(
    readdirSync(directory).filter((name) => name.includes('tmp') || name === 'z'),
    [],
  );
  const paths = [];
  for await (const { path } of createLocalDeepStorage(join(directory, 'never made')).list()) paths.push(path);
  assert.equal(paths, []);
});

for (const path of ['', '..', '../source', 'a/../../source', '/etc/passwd', 'a//b', './a', 'a/', 'a\0b', 'a\\..\\b']) {
  test(`a path cannot leave the directory: ${JSON.stringify(path)}`, async () => {
    const spec = { type: 'local', path };
    assert.is(await codeOf(push('content', path)), 'input_invalid');
    assert.is(await codeOf(storage.pull(spec, join(directory, 'out'))), 'input_invalid');
    assert.is(await codeOf(storage.remove(spec)), 'input_invalid');
    assert.is(readFileSync(source, 'utf8'), 'content');
  });
}

test.after(() => rmSync(directory, { recursive: true }));
test.run();
