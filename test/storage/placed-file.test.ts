import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { placeFile } from '../../src/storage/deep/placed-file.js';

/** Writers of one file in a shared folder, which may have the same process id: each makes a whole file, and the last one stays. */
const placed = suite('placed files');

for (const writers of [1, 2, 5])
  placed(`${writers} at once`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dolmen-placed-'));
    try {
      let begun = 0;
      let allHaveBegun = () => {};
      const together = new Promise<void>((resolve) => {
        allHaveBegun = resolve;
      });
      const texts = Array.from({ length: writers }, (_, writer) => `${writer}`.repeat(1000));
      await Promise.all(
        texts.map((text) =>
          placeFile('the text', join(folder, 'file'), async (to) => {
            writeFileSync(to, text.slice(0, 500));
            if (++begun === writers) allHaveBegun();
            await together;
            writeFileSync(to, text.slice(500), { flag: 'a' });
          }),
        ),
      );
      assert.ok(texts.includes(readFileSync(join(folder, 'file'), 'utf8')));
      assert.equal(readdirSync(folder), ['file']);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

placed.run();
