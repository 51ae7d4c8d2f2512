import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { COLLECT_LATER, OPTIMIZE_LATER, OPTIMIZE_NO_GIANTS, OPTIMIZE_SOONER } from '../../src/cli/v8-flags.js';

const flags = suite('flags of V8');

/** Message of V8 when a flag is set while it runs. */
function complaint(flag: string): string {
  const { status, stderr } = spawnSync(process.execPath, ['-e', `require('node:v8').setFlagsFromString('${flag}')`], { encoding: 'utf8' });
  assert.is(status, 0);
  return stderr;
}

flags('are known to this V8, which complains of others only in words', () => {
  assert.not.equal(complaint('--no-flag-of-v8=1'), '');
  for (const flag of [OPTIMIZE_LATER, OPTIMIZE_SOONER, OPTIMIZE_NO_GIANTS, COLLECT_LATER]) assert.is(complaint(flag), '', flag);
});

flags.run();
