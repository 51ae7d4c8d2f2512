import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { caseCount } from '../case-count.js';
import type { Variant } from './cluster.js';
import { type Outcome, simulate } from './simulation.js';

// `npm test -- simulation` runs the seeds from 1 on; `SIMULATION_SEED=7 npm test -- simulation` the seventh alone, `=201-2000` a stretch.

const only = process.env['SIMULATION_SEED'];
const [from = 1, to = from] = only === undefined ? [1, caseCount(200)] : only.split('-').map(Number);
const seeds = Array.from({ length: to - from + 1 }, (_, at) => from + at);
/** Lines of the trace that a failure prints; a seed of its own prints them all. */
const LINES = seeds.length > 1 ? 60 : Number.POSITIVE_INFINITY;

const simulation = suite('simulation of the control plane');

simulation('no seed breaks a promise', async () => {
  let [publishes, answered, faults] = [0, 0, 0];
  for (const seed of seeds) {
    const outcome = await simulate(seed);
    if (outcome.violations.length > 0) assert.unreachable(describe(seed, outcome));
    publishes += outcome.publishes;
    answered += outcome.queries.answered;
    faults += outcome.faults;
  }
  // A cluster in which nothing happens keeps every promise.
  for (const [name, count] of Object.entries({ publishes, answered, faults }))
    assert.ok(count >= 3 * seeds.length, `${count} ${name} in ${seeds.length} seeds`);
});

simulation('a seed is the same events again', async () => {
  const [first = 1] = seeds;
  const before = await simulate(first);
  await simulate(first + 1);
  assert.is((await simulate(first)).traceHash, before.traceHash);
  assert.is.not((await simulate(first + 1)).traceHash, before.traceHash);
});

/** Clusters that are broken on purpose, and the first words of what is to be found. */
const BROKEN: readonly { readonly variant: Variant; readonly broken: string; readonly found: RegExp }[] = [
  { variant: 'fence', broken: 'transactions do not look at the epoch', found: /does not lead|both lead/ },
  { variant: 'locks', broken: 'locks do not look at those of others', found: /locks overlap/ },
  { variant: 'view', broken: 'a Broker shows a part of a publish', found: /mixture/ },
  { variant: 'carried', broken: 'appends beside a replace are not carried along', found: /rows of|changes rows/ },
];

for (const { variant, broken, found } of only === undefined ? BROKEN : [])
  simulation(`it finds that ${broken}`, async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const { violations } = await simulate(seed, variant);
      if (violations.length === 0) continue;
      assert.match(violations.join('\n'), found);
      return;
    }
    assert.unreachable('200 seeds keep every promise');
  });

function describe(seed: number, { violations, lines }: Outcome): string {
  const trace = lines.slice(-Math.min(LINES, lines.length));
  return [`seed ${seed} (SIMULATION_SEED=${seed} npm test -- simulation):`, ...violations, 'after', ...trace].join('\n');
}

simulation.run();
