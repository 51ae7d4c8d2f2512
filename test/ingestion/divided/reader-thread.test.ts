import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ServiceError } from '../../../src/base/errors.js';
import { FAILPOINT_VARIABLE } from '../../../src/configuration/failpoint.js';
import { ReaderThread } from '../../../src/ingestion/batch/divided/reader-thread.js';
import { orderOf, settingOf } from './thread-order.js';

const ROWS = 30_000;

interface Context {
  folder: string;
  file: string;
}

const threads = suite<Context>('threads that read input');

threads.before((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-threads-'));
  context.file = path.join(context.folder, 'rows.csv');
  writeFileSync(context.file, `t,s,n,d\n${Array.from({ length: ROWS }, (_, row) => `${row},s ${row},${row},1`).join('\n')}\n`);
});

threads.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

threads('rows stay in the file of the thread, in runs of its share of the rows in memory', async ({ folder, file }) => {
  const thread = new ReaderThread(settingOf(file, path.join(folder, 'work'), { of: 3, number: 1 }), new AbortController().signal);
  try {
    const { chunks, counts, failure, began, ended } = await thread.read(orderOf(file), () => undefined);
    assert.is(failure, null);
    assert.is(counts.processed, ROWS);
    assert.equal([began, ended], [0, statSync(file).size]);
    const rows = chunks.flatMap(({ pieces }) => pieces.map(({ rows: { rowCount } }) => rowCount));
    // 9,000 rows for three threads, and at most a block more.
    assert.ok(Math.max(...rows) < 3000 + 2048, String(rows));
    const handed = await thread.finish();
    assert.is(statSync(handed.path).size, handed.sizeBytes);
  } finally {
    await thread.close();
  }
});

threads('a thread that ends fails what was asked of it, and what is asked afterwards', async ({ folder, file }) => {
  const thread = new ReaderThread(settingOf(file, folder, { of: 2, number: 1 }), new AbortController().signal);
  const asked = assertFails(
    thread.read(orderOf(file), () => undefined),
    /reading .*rows\.csv from byte 0 on, on a thread: the thread has ended/,
  );
  await thread.close();
  await asked;
  await assertFails(thread.finish(), /the thread has ended/);
});

threads('a thread that cannot start fails what was asked of it', async ({ folder, file }) => {
  const setting = { ...settingOf(file, folder, { of: 2, number: 1 }), spec: {} };
  const thread = new ReaderThread(setting, new AbortController().signal);
  await assertFails(
    thread.read(orderOf(file), () => undefined),
    /rows\.csv from byte 0 on, on a thread: .*spec/,
  );
  await thread.close();
});

threads('a thread that is cancelled', async ({ folder, file }) => {
  const cancelled = new AbortController();
  const thread = new ReaderThread(settingOf(file, folder, { of: 2, number: 1 }), cancelled.signal);
  const asked = assertFails(
    thread.read(orderOf(file), () => undefined),
    /^the task was cancelled$/,
  );
  cancelled.abort();
  await asked;
  await thread.close();
});

for (const [action, point] of [
  ['kill', 'task.read'],
  ['kill', 'task.spilled'],
  ['fill', 'task.spilled'],
  ['fill', 'task.read'],
] as const)
  threads(`${action} at ${point} reaches a thread`, ({ folder, file }) => {
    const armed = path.join(folder, 'failpoint');
    writeFileSync(armed, `${action} ${point}`);
    const program = fileURLToPath(new URL('./thread-program.js', import.meta.url));
    const work = path.join(folder, `${action} ${point}`);
    const { signal, stdout, stderr } = spawnSync(process.execPath, [program, file, work], {
      env: { ...process.env, [FAILPOINT_VARIABLE]: armed },
      encoding: 'utf8',
    });
    assert.not(existsSync(armed), stderr);
    if (action === 'kill') assert.is(signal, 'SIGKILL', stdout);
    else assert.match(stdout, /^resource_limit the disk is full/);
  });

async function assertFails(work: Promise<unknown>, message: RegExp): Promise<void> {
  const error = await work.then(
    () => assert.unreachable('it succeeds'),
    (failure: ServiceError) => failure,
  );
  assert.match(error?.message ?? '', message);
}

threads.run();
