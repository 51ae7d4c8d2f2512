import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChangeLog } from '../../src/cluster/change-log.js';
import { Inventories } from '../../src/cluster/inventories.js';
import { inventoryOf } from './fakes.js';

const inventories = suite('inventories');

inventories('what came and went is told by segment, and what became of the server is not', async () => {
  const known = new Inventories();
  assert.is(await known.update(inventoryOf('a', ['x', 'y'], { loading: ['z'] })), undefined);
  assert.equal([...((await known.update({ ...inventoryOf('a', ['z'], { failed: { w: 'why' } }), since: { gone: ['x'] } })) ?? [])].sort(), [
    'w',
    'x',
    'z',
  ]);
  const held = known.find('a');
  assert.equal([[...(held?.served ?? [])], [...(held?.loading ?? [])], [...(held?.failed ?? [])]], [['y', 'z'], [], [['w', 'why']]]);
  // The whole once more: only what is different counts.
  assert.equal([...((await known.update(inventoryOf('a', ['z']))) ?? [])].sort(), ['w', 'y']);
  assert.is(known.find('a'), held);
  assert.is(await known.update(inventoryOf('a', ['z'], { priority: 7 })), undefined);
  assert.equal([known.remove('a'), known.remove('a'), known.hosts], [true, false, []]);
});

inventories('a log tells what changed since any number that it remembers', () => {
  const changes = fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd'), step: fc.nat({ max: 2 }) }));
  fc.assert(
    fc.property(changes, fc.nat({ max: 5 }), fc.nat({ max: 40 }), (list, from, since) => {
      const log = new ChangeLog(from);
      const noted: { readonly name: string; readonly number: number }[] = [];
      let number = from;
      for (const { name, step } of list) {
        number += step;
        log.note(name, number);
        noted.push({ name, number });
      }
      const expected = new Set(noted.filter((each) => each.number > since).map(({ name }) => name));
      const found = log.since(since);
      if (since < from) assert.is(found, undefined);
      else assert.equal([...(found ?? [])].sort(), [...expected].sort());
    }),
  );
});

inventories('a log forgets what was long ago, and says so', () => {
  const log = new ChangeLog(0);
  for (let number = 1; number <= 200_000; number++) log.note(`s${number}`, number);
  assert.is(log.since(0), undefined);
  assert.equal([...(log.since(199_998) ?? [])].sort(), ['s199999', 's200000']);
  assert.is(log.since(199_000)?.size, 1000);
});

inventories.run();
