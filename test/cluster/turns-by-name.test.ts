import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TurnsByName } from '../../src/cluster/historical/turns-by-name.js';

const turns = suite('turns by name');

turns('work on one thing runs in its order, work on others beside it, and a failure keeps nobody waiting', async () => {
  const named = new TurnsByName();
  const order: string[] = [];
  let open = (): void => undefined;
  const first = named.run('a', async () => {
    await new Promise<void>((resolve) => {
      open = resolve;
    });
    order.push('a1');
    throw new Error('failed');
  });
  const second = named.run('a', async () => order.push('a2'));
  await named.run('b', async () => order.push('b1'));
  assert.equal(order, ['b1']);
  open();
  assert.is(await first.catch((error: Error) => error.message), 'failed');
  assert.is(await second, 3);
  assert.equal(order, ['b1', 'a1', 'a2']);
});

turns.run();
