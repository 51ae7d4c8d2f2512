import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { claimSpillFolder } from '../../../src/execution/spill/spill-folder.js';

test('folders of dead processes are removed; those of live ones and other folders stay', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-spill-folder-'));
  try {
    const names = ['11-abc', '22-def', `${process.pid}-0a`, 'notes', '33-other things'];
    for (const name of names) {
      mkdirSync(path.join(directory, name));
      writeFileSync(path.join(directory, name, 'file'), 'x');
    }
    const own = claimSpillFolder(directory, (pid) => pid === 22);
    assert.equal(readdirSync(directory).sort(), ['22-def', '33-other things', 'notes']);
    assert.is(path.dirname(own), directory);
    assert.match(path.basename(own), new RegExp(`^${process.pid}-[0-9a-f]{12}$`));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('the process itself lives', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'dolmen-spill-folder-'));
  try {
    mkdirSync(path.join(directory, `${process.ppid}-00`));
    claimSpillFolder(directory);
    assert.equal(readdirSync(directory), [`${process.ppid}-00`]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test.run();
