import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lineRanges, rangeOf } from '../../src/ingestion/source/line-range.js';
import type { InputEntity } from '../../src/ingestion/source/source-kind.js';

/** Parts of files of lines: every line is in one of them, whole. */
const ranges = suite<{ folder: string }>('line ranges');
ranges.before((context) => {
  context.folder = mkdtempSync(path.join(tmpdir(), 'dolmen-lines-'));
});
ranges.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

function entityOf(file: string, sizeBytes: number): InputEntity {
  return { name: file, sizeBytes, localFile: file, open: () => Promise.reject(new Error('read in parts')) };
}

async function textOf(entity: InputEntity): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await entity.open()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const texts: readonly { readonly name: string; readonly text: string }[] = [
  { name: 'lines of one byte', text: 'a\nb\nc\nd\ne\n' },
  { name: 'without a line feed at the end', text: 'aaaa\nbb\nc' },
  { name: 'a line that is longer than several parts', text: `a\n${'b'.repeat(40)}\nc\nd\n` },
  { name: 'one line', text: 'x'.repeat(30) },
  { name: 'nothing but line feeds', text: '\n'.repeat(12) },
  { name: 'line feeds of Windows, and an empty line', text: 'aa\r\n\r\nbbb\r\nc\r\n' },
  { name: 'lines across chunks of the file', text: `${'y'.repeat((1 << 20) - 2)}\nz\nzz\n${'w'.repeat(1 << 20)}\nlast` },
];
for (const { name, text } of texts)
  for (const bytesMin of [1, 2, 3, 7, 1 << 19])
    ranges(`${name}, parts of ${bytesMin} bytes and more`, async ({ folder }) => {
      if (text.length / bytesMin > 1000) return;
      const file = path.join(folder, 'lines');
      writeFileSync(file, text);
      const entity = entityOf(file, text.length);
      const parts = await lineRanges(entity, bytesMin);
      if (parts === null) return assert.ok(text.length < 2 * bytesMin);
      const read = await Promise.all(parts.map((part) => textOf(rangeOf(entity, part))));
      assert.is(read.join(''), text);
      for (const [at, part] of read.entries()) {
        const isLast = read.slice(at + 1).every((later) => later === '');
        assert.ok(part === '' || part.endsWith('\n') || isLast, `part ${at} ends within a line`);
      }
    });

ranges('a file that is compressed, or named so, is not divided', async ({ folder }) => {
  const gzip = path.join(folder, 'packed');
  writeFileSync(gzip, Buffer.concat([Buffer.of(0x1f, 0x8b, 8, 0), Buffer.alloc(100, 10)]));
  assert.is(await lineRanges(entityOf(gzip, 104), 10), null);
  for (const name of ['rows.gz', 'rows.ZIP', 'rows.zst']) {
    const file = path.join(folder, name);
    writeFileSync(file, 'a\n'.repeat(50));
    assert.is(await lineRanges(entityOf(file, 100), 10), null, name);
  }
});

ranges('a file that was changed since it was divided is refused', async ({ folder }) => {
  const file = path.join(folder, 'changing');
  writeFileSync(file, 'a\n'.repeat(50));
  const entity = entityOf(file, 100);
  const [first] = (await lineRanges(entity, 10)) ?? [];
  assert.ok(first);
  utimesSync(file, new Date(0), new Date(0));
  const message = await textOf(rangeOf(entity, first)).catch((error: Error) => error.message);
  assert.match(message, /was changed since it was divided/);
});

ranges.run();
