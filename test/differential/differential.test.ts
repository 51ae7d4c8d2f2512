import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../src/base/json.js';
import { caseCount } from '../case-count.js';
import { KINDS, type Kind } from './case.js';
import { GENERATORS } from './kinds.js';
import { MUTES } from './mutes.js';
import { whyNoOriginal } from './original.js';
import { compareCases } from './run.js';
import { type Servers, startServers } from './servers.js';

const DIFFERENCES = fileURLToPath(new URL('../../../docs/differences.md', import.meta.url));
const CASES = caseCount(120);
/** Seeds of which no case takes the original longer than it is waited for. */
const SEEDS: Readonly<Record<Exclude<Kind, 'orders'>, number>> = { native: 9, expressions: 9, sql: 15 };

const documented = suite('documented differences');

documented('every muting rule has its row in docs/differences.md, and every row with an id its rule', () => {
  const ids = [...readFileSync(DIFFERENCES, 'utf8').matchAll(/^\| `([^`]+)` \|/gm)].map(([, id]) => id);
  assert.equal(ids.toSorted(), [...new Set(MUTES.map(({ id }) => id))].toSorted());
});

documented.run();

/** The answers of Dolmen and of the original to generated requests. */
const comparison = suite<{ servers: Servers | undefined }>('comparison with the original');
const why = whyNoOriginal();

if (why === undefined) {
  comparison.before(async (context) => {
    context.servers = await startServers(4_500);
  });
  comparison.after(async (context) => {
    await context.servers?.stop();
  });
} else {
  process.stdout.write(`skipped: ${why}\n`);
}

/** Statements of orders are not among them: the original refuses most, and drops the orders of subqueries. They are compared within Dolmen (`ways.test.ts`). */
const COMPARED = KINDS.filter((kind) => kind !== 'orders');

for (const kind of COMPARED) {
  const test = why === undefined ? comparison : comparison.skip;
  test(`${CASES} cases: ${kind}`, async ({ servers }) => {
    if (servers === undefined) throw new Error('the servers did not start');
    const { answered, groups } = await compareCases(servers, GENERATORS[kind], { cases: CASES, seed: SEEDS[kind], shrinks: 0 });
    assert.ok(answered > CASES / 3, `both answered ${answered} of ${CASES} only`);
    assert.equal(
      groups.map(({ smallest }) => `${stringifyJson(smallest.case.request)} at ${smallest.where}`),
      [],
    );
  });
}

comparison.run();
