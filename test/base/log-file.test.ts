import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLog } from '../../src/base/log.js';
import { LogFile } from '../../src/base/log-file.js';

const logs = suite<{ folder: string; file: string }>('log file');
logs.before.each((context) => {
  context.folder = mkdtempSync(join(tmpdir(), 'dolmen-log-'));
  context.file = join(context.folder, 'log', 'd.log');
});
logs.after.each(({ folder }) => {
  chmodSync(folder, 0o755);
  rmSync(folder, { recursive: true, force: true });
});

logs('never takes more than its bound, and keeps the newest lines in order', ({ folder }) => {
  let round = 0;
  fc.assert(
    fc.property(
      fc.integer({ min: 50, max: 200 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }),
      (maxBytes, maxFiles, lengths) => {
        const file = join(folder, String(round++), 'd.log');
        const log = new LogFile({ file, maxBytes, maxFiles });
        const lines = lengths.map((length, at) => `${String(at).padStart(3, '0')} ${'x'.repeat(length)}\n`);
        for (const line of lines) log.write(line);
        log.close();
        const names = readdirSync(join(file, '..')).sort().reverse();
        // Oldest first: d.log.3, d.log.2, d.log.1, d.log.
        assert.ok(names.length <= maxFiles);
        const text = names.map((name) => readFileSync(join(file, '..', name), 'utf8'));
        for (const each of text) assert.ok(each.length <= maxBytes);
        const kept = text.join('');
        assert.ok(lines.join('').endsWith(kept));
        if (lines.length > 0) assert.ok(kept.includes(lines.at(-1) ?? ''), 'the last line is there');
      },
    ),
    { numRuns: 100 },
  );
});

logs('lines that cannot be written are counted and told of once they can be, and nothing is thrown', ({ folder, file }) => {
  // A file where the folder should be: nothing can be opened below it, whoever runs the test.
  writeFileSync(join(folder, 'log'), '');
  const log = openLog({ file, level: 'info', maxBytes: 1 << 20, maxFiles: 2 });
  log.info('lost');
  log.warn('lost as well');
  rmSync(join(folder, 'log'));
  log.info('written');
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  assert.is(lines.length, 2);
  assert.match(JSON.parse(lines[0] ?? '').msg, /^2 lines of this log could not be written: E/);
  assert.is(JSON.parse(lines[1] ?? '').msg, 'written');
});

logs('a full disk costs lines only', () => {
  if (!existsSync('/dev/full')) return void console.log('skipped: no /dev/full here');
  const log = openLog({ file: '/dev/full', level: 'info', maxBytes: 1 << 20, maxFiles: 2 });
  for (let line = 0; line < 10; line++) log.info('no space left');
  assert.ok(statSync('/dev/full').isCharacterDevice());
});

logs('a file that was removed or put aside by somebody else is made again', ({ file }) => {
  const log = new LogFile({ file, maxBytes: 20, maxFiles: 3 });
  log.write('first line\n');
  renameSync(file, `${file}.moved`);
  // It goes on in the file that was moved until that is full.
  log.write('second one\n');
  log.write('third line\n');
  log.close();
  assert.ok(readFileSync(file, 'utf8').endsWith('third line\n'));
  assert.ok(readFileSync(`${file}.moved`, 'utf8').startsWith('first line\n'));
});

logs.run();
