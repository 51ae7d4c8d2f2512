import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FAILPOINTS } from '../../src/configuration/failpoints.js';
import { FailpointRun } from '../failpoints/failpoint-run.js';
import { runSteps } from '../failpoints/failpoint-steps.js';

const failpoints = suite('failpoints');

failpoints('a process that is killed at any point loses and doubles no row, and leaves no lock and no file', async () => {
  const run = new FailpointRun(27_500);
  try {
    await runSteps(run);
  } finally {
    await run.close();
  }
  assert.equal([...new Set(run.reached)].sort(), Object.keys(FAILPOINTS).sort());
});

failpoints.run();
