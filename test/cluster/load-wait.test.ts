import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { untilServed } from '../../src/cluster/middlemanager/load-wait.js';
import type { Peers } from '../../src/cluster/rpc/peers.js';
import type { InventoryUpdate } from '../../src/cluster/rpc/services.js';
import { inventoryOf } from './fakes.js';

const waits = suite('waiting for segments to be served');

/** Servers by host, each with its answer to each look in turn, the last again and again; `asked` has the generations they were asked after. */
function serversOf(answers: Readonly<Record<string, readonly (InventoryUpdate | null | Error)[]>>) {
  const asked: (string | null)[] = [];
  const looks = new Map<string, number>();
  const all = () =>
    Object.entries(answers).map(([host, given]) => ({
      host,
      session: 's',
      service: {
        async inventoryAfter(generation: string | null) {
          asked.push(generation);
          const look = looks.get(host) ?? 0;
          looks.set(host, look + 1);
          const answer = given[Math.min(look, given.length - 1)] ?? null;
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    }));
  return { peers: { all } as unknown as Pick<Peers, 'all'>, asked };
}

const update = (host: string, segmentIds: readonly string[], generation: string, gone?: readonly string[]): InventoryUpdate => ({
  ...inventoryOf(host, segmentIds),
  generation,
  ...(gone === undefined ? {} : { since: { gone } }),
});

waits('servers tell all that they hold once, and then what has changed', async () => {
  const { peers, asked } = serversOf({ a: [update('a', ['x', 'y'], '1'), null, update('a', ['z'], '2', ['x'])] });
  await untilServed(['y', 'z'], { peers, limitMs: 10_000, keepsWaiting: () => true });
  assert.equal(asked, [null, '1', '1']);
});

waits('segments may lie on several servers, one of which does not answer at first', async () => {
  const { peers, asked } = serversOf({
    a: [update('a', ['x'], '1'), null],
    b: [new ServiceError('unavailable', 'it starts'), update('b', ['y'], '7')],
  });
  await untilServed(['x', 'y'], { peers, limitMs: 10_000, keepsWaiting: () => true });
  assert.equal(asked, [null, null, '1', null]);
});

waits('the wait ends with its time, and with its task', async () => {
  const { peers } = serversOf({ a: [update('a', [], '1'), null] });
  const beginMs = performance.now();
  await untilServed(['x'], { peers, limitMs: 1, keepsWaiting: () => true });
  await untilServed(['x'], { peers, limitMs: 3_600_000, keepsWaiting: () => false });
  assert.ok(performance.now() - beginMs < 5000);
});

waits.run();
