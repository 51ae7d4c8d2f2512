import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  COLLECT_ALONE,
  COLLECT_LATER,
  COMPILE_FIRST,
  COMPILE_LATER,
  isGiven,
  OPTIMIZE_LATER,
  OPTIMIZE_NO_GIANTS,
  OPTIMIZE_SOONER,
} from '../../src/cli/v8-flags.js';

const flags = suite('flags of V8');

function textOf(file: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8');
}

/** Message of V8 when a flag is set while it runs. */
function complaint(flag: string): string {
  const { status, stderr } = spawnSync(process.execPath, ['-e', `require('node:v8').setFlagsFromString('${flag}')`], { encoding: 'utf8' });
  assert.is(status, 0);
  return stderr;
}

flags('are known to this V8, which complains of others only in words', () => {
  assert.not.equal(complaint('--no-flag-of-v8=1'), '');
  for (const flag of [OPTIMIZE_LATER, OPTIMIZE_SOONER, OPTIMIZE_NO_GIANTS, COMPILE_FIRST, COMPILE_LATER, COLLECT_LATER])
    assert.is(complaint(flag), '', flag);
});

flags('that V8 is started with stand where the program is started', () => {
  const [firstLine] = textOf('bin/dolmen.mjs').split('\n');
  assert.is(firstLine, `#!/usr/bin/env -S node ${COLLECT_ALONE}`);
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
  assert.is(scripts.start, `node ${COLLECT_ALONE} scripts/start.mjs`);
  assert.is(spawnSync(process.execPath, [COLLECT_ALONE, '-e', '']).status, 0);
});

flags('that node was started with stay, whichever way they were set', () => {
  for (const [flag, given, expected] of [
    [COMPILE_LATER, '--always-sparkplug', true],
    [COMPILE_FIRST, '--no-always-sparkplug', true],
    [OPTIMIZE_LATER, '--interrupt-budget=1000', true],
    [OPTIMIZE_LATER, '--interrupt-budget-for-feedback-allocation=1000', false],
    [COMPILE_FIRST, COLLECT_ALONE, false],
  ] as const)
    assert.is(isGiven(flag, [given]), expected, `${flag} beside ${given}`);
});

flags.run();
