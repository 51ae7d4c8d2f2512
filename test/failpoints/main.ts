import { FAILPOINTS, type FailpointName } from '../../src/configuration/failpoints.js';
import { FailpointRun } from './failpoint-run.js';
import { runSteps } from './failpoint-steps.js';

/** Kills processes at every point so many times, each time over a folder of its own, and prints what was lost; ends with 1 if anything was. */
const PORT_OFFSET = 6_500;
const times = Number(process.argv[2] ?? 1);
const killed = new Map<FailpointName, number>();
const total = { lost: 0, doubled: 0, failures: 0 };
for (let time = 0; time < times; time++) {
  const run = new FailpointRun(PORT_OFFSET);
  const began = performance.now();
  let verdict = 'all as promised';
  try {
    await runSteps(run);
  } catch (error) {
    total.failures++;
    verdict = `not as promised: ${error instanceof Error ? error.stack : error}`;
  } finally {
    await run.close();
  }
  for (const name of run.reached) killed.set(name, (killed.get(name) ?? 0) + 1);
  total.lost += run.lost;
  total.doubled += run.doubled;
  console.log(`run ${time + 1} of ${times}: ${((performance.now() - began) / 1000).toFixed(0)} s, ${verdict}`);
}
for (const [name, [role, promise]] of Object.entries(FAILPOINTS))
  console.log(`${name.padEnd(24)} ${String(killed.get(name as FailpointName) ?? 0).padStart(3)} times  ${role.padEnd(14)} ${promise}`);
console.log(`${total.lost} rows lost, ${total.doubled} doubled, ${total.failures} of ${times} runs not as promised`);
process.exit(total.lost + total.doubled + total.failures === 0 ? 0 : 1);
