import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stringifyJson } from '../../src/base/json.js';
import { caseCount } from '../case-count.js';
import { GENERATORS } from './kinds.js';
import { compareCases } from './run.js';
import type { Servers } from './servers.js';
import { ALL, MIXED, openWays, type WaySet } from './ways.js';

const CASES = caseCount(25);

/** Dolmen against itself: how rows lie in segments, and who reads them how, changes no answer. */
for (const [name, set] of Object.entries({ 'ways to run a plan': ALL, 'ways to run a plan over columns of several types': MIXED }))
  compare(name, set);

function compare(name: string, set: WaySet): void {
  const ways = suite<{ servers: Servers }>(name);
  ways.before(async (context) => {
    context.servers = await openWays(set);
  });
  ways.after(async ({ servers }) => {
    await servers.stop();
  });
  for (const kind of ['native', 'sql', 'orders'] as const)
    ways(`${CASES} cases: ${kind}`, async ({ servers }) => {
      const { answered, groups } = await compareCases(servers, GENERATORS[kind], { cases: CASES, seed: 3, shrinks: 0, mutes: [] });
      assert.ok(answered > CASES / 2, `${answered} of ${CASES} were answered`);
      assert.equal(
        groups.map(({ smallest }) => `${smallest.dolmen.by}: ${stringifyJson(smallest.case.request)} at ${smallest.where}`),
        [],
      );
    });
  ways.run();
}
