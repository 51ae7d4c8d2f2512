import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lookupSettings } from '../../bench/lookup-settings.js';
import { ServiceError } from '../../src/base/errors.js';
import { ConfiguredLookups } from '../../src/cluster/lookups/configured-lookups.js';
import { LookupStore } from '../../src/cluster/lookups/lookup-store.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { LookupSnapshot } from '../../src/cluster/rpc/services.js';

const lookups = suite('configured lookups');

// Rests after a long run keep no process alive, and these tests have nothing else that does.
let alive: NodeJS.Timeout | undefined;
lookups.before(() => {
  alive = setInterval(() => undefined, 1000);
});
lookups.after(() => clearInterval(alive));

const lookup = { version: 'v1', lookupExtractorFactory: { type: 'map', map: { a: 'A' } } };

/** Lookups of a process whose Coordinator tells what `answer` gives. */
function over(answer: (tier: string, generation: string | null) => Promise<LookupSnapshot | null>) {
  return new ConfiguredLookups({
    store: new LookupStore(lookupSettings()),
    tier: 'hot',
    peers: { leading: () => ({ lookupsAfter: answer }) } as unknown as Pick<Peers, 'leading'>,
    pollMs: 60_000,
    log: () => undefined,
  });
}

lookups('the configuration of the tier is loaded, and asked for by its generation', async () => {
  const asked: unknown[][] = [];
  const configured = over(async (...about) => {
    asked.push(about);
    return about[1] === null ? { generation: 'g', lookups: { one: lookup } } : null;
  });
  await configured.start();
  assert.equal(asked, [['hot', null]]);
  assert.equal(configured.report(), { tier: 'hot', current: { one: lookup }, failed: {} });
  await configured.known();
  assert.is(asked.length, 1, 'what is known is not asked for again');
  await configured.stop();
});

lookups('they are known once a Coordinator answers', async () => {
  let leads = false;
  const configured = over(async () => {
    if (!leads) throw new ServiceError('unavailable', 'nobody leads');
    return { generation: 'g', lookups: {} };
  });
  await configured.start();
  await configured.known().then(
    () => assert.unreachable(),
    (error: unknown) => {
      assert.is((error as ServiceError).code, 'unavailable');
    },
  );
  leads = true;
  await configured.known();
  await configured.stop();
});

lookups.run();
