import { mkdirSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { firstLog, logInFolder, logInStorage, taskLogFile } from '../../src/cluster/middlemanager/task-log.js';
import { createLocalDeepStorage } from '../../src/storage/deep/local-deep-storage.js';

const logs = suite<{ folder: string }>('logs of tasks');
logs.before((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-logs-'));
});
logs.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

/** Above the pieces in which files are read and looked through. */
const LONG = 'x'.repeat(300_000);

const LINES = [
  { written: '', offset: 0, read: '' },
  { written: '', offset: 2, read: '' },
  { written: '', offset: -2, read: '' },
  { written: 'a\nb\nc\n', offset: 0, read: 'a\nb\nc\n' },
  { written: 'a\nb\nc\n', offset: 1, read: 'b\nc\n' },
  { written: 'a\nb\nc\n', offset: 3, read: '' },
  { written: 'a\nb\nc\n', offset: 2_147_483_647, read: '' },
  { written: 'a\nb\nc\n', offset: -1, read: 'c\n' },
  { written: 'a\nb\nc\n', offset: -2, read: 'b\nc\n' },
  { written: 'a\nb\nc\n', offset: -3, read: 'a\nb\nc\n' },
  { written: 'a\nb\nc\n', offset: -2_147_483_647, read: 'a\nb\nc\n' },
  { written: 'a\nb\nhalf', offset: -1, read: 'half' },
  { written: 'a\nb\nhalf', offset: -2, read: 'b\nhalf' },
  { written: '\n\n\n', offset: -2, read: '\n\n' },
  { written: '\n\n\n', offset: 2, read: '\n' },
  { written: `${LONG}\n${LONG}\nend\n`, offset: 1, read: `${LONG}\nend\n` },
  { written: `${LONG}\n${LONG}\nend\n`, offset: -2, read: `${LONG}\nend\n` },
  { written: `${LONG}\n${LONG}\nend\n`, offset: -3, read: `${LONG}\n${LONG}\nend\n` },
  { written: `a\n${'é'.repeat(150_000)}\n`, offset: -1, read: `${'é'.repeat(150_000)}\n` },
  // The line feeds lie at either side of where pieces end.
  ...[262_143, 262_144, 262_145].flatMap((length) => [
    { written: `a\n${'y'.repeat(length)}\n`, offset: -1, read: `${'y'.repeat(length)}\n` },
    { written: `${'y'.repeat(length)}\nb\n`, offset: 1, read: 'b\n' },
  ]),
];

const PLACES = {
  folder: (folder: string, offset: number) => logInFolder(folder, 't', offset),
  storage: (folder: string, offset: number) => logInStorage(createLocalDeepStorage(folder), 't', offset),
};

const textOf = async (log: AsyncIterable<Uint8Array>): Promise<string> => {
  const pieces: Uint8Array[] = [];
  for await (const piece of log) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

const openFiles = (): number => readdirSync('/proc/self/fd').length;

for (const [place, read] of Object.entries(PLACES))
  for (const [at, { written, offset, read: expected }] of LINES.entries())
    logs(`${place}, ${at}: ${written.length} characters from ${offset}`, async ({ folder }) => {
      writeFileSync(taskLogFile(folder, 't'), written);
      const found = await textOf(read(folder, offset));
      assert.ok(found === expected, `${found.length} characters instead of ${expected.length}`);
    });

logs('a log of 1 GB is read in pieces of 64 KiB, and its file is closed when the reader leaves', async ({ folder }) => {
  const file = taskLogFile(folder, 'large');
  writeFileSync(file, '');
  truncateSync(file, 2 ** 30);
  const before = openFiles();
  let bytes = 0;
  for await (const piece of logInFolder(folder, 'large', 0)) {
    assert.ok(piece.length <= 65_536 && piece.buffer.byteLength <= 65_536);
    bytes += piece.length;
    if (bytes === 10 * 65_536) assert.is(openFiles(), before + 1);
    if (bytes > 2 ** 24) break;
  }
  assert.is(openFiles(), before);
});

const fails = (code: 'not_found' | 'unavailable', after: readonly string[] = []) =>
  async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of after) yield Buffer.from(piece);
    throw new ServiceError(code, 'told');
  };
const has = (...pieces: readonly string[]) =>
  async function* (): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece);
  };
const none = () => undefined;

for (const { name, places, found } of [
  { name: 'the first that has it', places: [has('a', 'b'), has('c')], found: 'ab' },
  { name: 'an empty log is one', places: [has(), has('c')], found: '' },
  { name: 'places without it are passed over', places: [fails('not_found'), none, has('c')], found: 'c' },
  { name: 'none has it', places: [fails('not_found'), none], found: 'not_found' },
  { name: 'a place that cannot be asked', places: [fails('unavailable'), has('c')], found: 'unavailable' },
  { name: 'no other place goes on with a log that has begun', places: [fails('not_found', ['a']), has('c')], found: 'not_found' },
])
  logs(name, async () => {
    const told = await textOf(firstLog('t', places)).catch((error: ServiceError) => error.code);
    assert.is(told, found);
  });

logs('a place that is no folder is an error of its own', async ({ folder }) => {
  mkdirSync(taskLogFile(folder, 'folder'));
  const told = await textOf(logInFolder(folder, 'folder', 0)).catch((error: unknown) => String(error));
  assert.match(told, 'EISDIR');
});

logs.run();
