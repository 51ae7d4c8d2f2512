import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { openDeepStorage } from '../../src/storage/deep/open-deep-storage.js';
import { MEBIBYTE, type OpenedStore, STORES } from './stores.js';

const directory = mkdtempSync(join(tmpdir(), 'dolmen-files-'));
const source = join(directory, 'source');

/** Larger than two parts of an upload and a range of a download, with no two pieces alike. */
const LARGE = Buffer.concat(
  Array.from({ length: 13 * 1024 }, (_, at) => Buffer.alloc(1024, createHash('md5').update(String(at)).digest())),
).subarray(0, 12 * MEBIBYTE + 12_345);

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'none';
  } catch (error) {
    assert.instance(error, ServiceError, String(error));
    return (error as ServiceError).code;
  }
}

const collected = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all);
};

// All are open before the first suite is told to run: it would begin while the next one is waited for.
const stores: [string, OpenedStore | undefined][] = [];
for (const [name, open] of Object.entries(STORES)) stores.push([name, await open()]);
for (const [name, opened] of stores) {
  const store = suite(`deep storage (${name})`);
  if (opened !== undefined) {
    const { storage, reopen } = opened;

    const listed = async (): Promise<Record<string, number>> => {
      const sizes: [string, number][] = [];
      for await (const { path, sizeBytes, modifiedMs } of reopen().list()) {
        assert.ok(Math.abs(modifiedMs - Date.now()) < 3_600_000, 'times are instants');
        sizes.push([path, sizeBytes]);
      }
      return Object.fromEntries(sizes.sort(([a], [b]) => (a < b ? -1 : 1)));
    };

    /** Pushes one file with this content. */
    const push = async (content: string | Buffer, key: string) => {
      writeFileSync(source, content);
      const [spec] = await storage.push([{ localFile: source, key }]);
      assert.ok(spec !== undefined);
      return spec;
    };

    store('pushed files are listed, pulled and removed', async () => {
      const keys = ['task 1/wiki/a.segment', 'b.segment', 'ünï+%20&code/c=d?.segment'];
      const files = keys.map((key, at) => ({ localFile: `${source}-${at}`, key }));
      for (const { localFile, key } of files) writeFileSync(localFile, key);
      const specs = await storage.push(files);
      assert.equal(
        specs,
        keys.map((path) => ({ type: storage.type, path })),
      );
      assert.equal(
        files.map(({ localFile }) => existsSync(localFile)),
        [false, false, false],
        'pushed files are moved',
      );
      assert.equal(await listed(), Object.fromEntries([...keys].sort().map((key) => [key, Buffer.byteLength(key)])));
      const pulled = join(directory, 'pulled');
      for (const spec of specs) {
        await reopen().pull(spec, pulled);
        assert.is(readFileSync(pulled, 'utf8'), spec.path);
      }
      const [spec = { type: '', path: '' }] = specs;
      await storage.pull(spec, pulled);
      writeFileSync(pulled, 'damaged');
      const again = join(directory, 'again');
      await storage.pull(spec, again);
      assert.is(readFileSync(again, 'utf8'), spec.path, 'a pulled file is a copy of its own');
      for (const each of specs) {
        await storage.remove(each);
        await storage.remove(each);
      }
      assert.equal(await listed(), {});
    });

    store('files of any size come back byte for byte, as a whole and in parts', async () => {
      for (const size of [0, 1, 5 * MEBIBYTE, 5 * MEBIBYTE + 1, LARGE.length]) {
        const content = LARGE.subarray(0, size);
        const spec = await push(content, 'sizes/file');
        const pulled = join(directory, 'large');
        await storage.pull(spec, pulled);
        assert.ok(readFileSync(pulled).equals(content), `pulled, ${size} bytes`);
        assert.is(await reopen().size(spec), size);
        assert.ok((await collected(storage.read(spec))).equals(content), `read, ${size} bytes`);
      }
      const spec = { type: storage.type, path: 'sizes/file' };
      for (const [at, bytes] of [
        [0, 1],
        [0, 0],
        [12_345, 0],
        [LARGE.length - 7, 7],
        [3, LARGE.length - 3],
      ] as const)
        assert.ok((await collected(storage.read(spec, { at, bytes }))).equals(LARGE.subarray(at, at + bytes)), `${bytes} bytes at ${at}`);
      await storage.remove(spec);
    });

    store('pushing again replaces the file as a whole', async () => {
      const spec = await push('older', 'same');
      await push('newer', 'same');
      assert.is(String(await collected(reopen().read(spec))), 'newer');
      assert.equal(await listed(), { same: 5 });
    });

    store('many files go in at once', async () => {
      const files = Array.from({ length: 100 }, (_, at) => ({ localFile: `${source}-many-${at}`, key: `many/${at}` }));
      for (const { localFile, key } of files) writeFileSync(localFile, key);
      const specs = await storage.push(files);
      assert.equal(
        specs.map(({ path }) => path),
        files.map(({ key }) => key),
      );
      assert.is(Object.keys(await listed()).filter((path) => path.startsWith('many/')).length, 100);
      for (const spec of specs) await storage.remove(spec);
    });

    store('the record is none of the files, and is replaced as a whole', async () => {
      assert.is(await storage.readRecord(), undefined);
      const before = await listed();
      await storage.writeRecord('{"a":"ü"}');
      assert.is(await reopen().readRecord(), '{"a":"ü"}');
      await storage.writeRecord('{}');
      assert.is(await reopen().readRecord(), '{}');
      assert.equal(await listed(), before);
    });

    store('absent files', async () => {
      const absent = { type: storage.type, path: 'absent' };
      const target = join(directory, 'z');
      assert.is(await codeOf(storage.push([{ localFile: join(directory, 'absent'), key: 'x/y' }])), 'not_found');
      assert.is(await codeOf(storage.pull(absent, target)), 'not_found');
      assert.is(await codeOf(storage.size(absent)), 'not_found');
      assert.is(await codeOf(collected(storage.read(absent))), 'not_found');
      assert.is(await codeOf(collected(storage.read(absent, { at: 1, bytes: 2 }))), 'not_found');
      assert.is(await codeOf(storage.pull({ type: 'other', path: 'same' }, target)), 'unsupported');
      assert.equal(
        readdirSync(directory).filter((file) => file.includes('tmp') || file === 'z'),
        [],
      );
    });

    for (const path of ['', '..', '../source', 'a/../../source', '/etc/passwd', 'a//b', './a', 'a/', 'a\0b', 'a\\..\\b']) {
      store(`a path cannot leave the folder: ${JSON.stringify(path)}`, async () => {
        const spec = { type: storage.type, path };
        assert.is(await codeOf(push('content', path)), 'input_invalid');
        assert.is(await codeOf(storage.pull(spec, join(directory, 'out'))), 'input_invalid');
        assert.is(await codeOf(collected(storage.read(spec))), 'input_invalid');
        assert.is(await codeOf(storage.remove(spec)), 'input_invalid');
        assert.is(readFileSync(source, 'utf8'), 'content');
      });
    }
    store.after(() => opened.close());
    store.run();
  }
}

const places = suite('places of deep storage');

places('a folder that was never made is empty', async () => {
  const paths = [];
  const storage = openDeepStorage([{ type: 'local', directory: join(directory, 'never made') }]);
  for await (const { path } of storage.list()) paths.push(path);
  assert.equal(paths, []);
  assert.is(await storage.readRecord(), undefined);
});

places.after(() => rmSync(directory, { recursive: true }));
places.run();
