import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TextExtremes } from '../../../src/execution/aggregate-state/text-extremes.js';
import { context } from './run-context.js';

const extremes = suite('smallest strings of groups');

extremes('count as memory, which is given back', () => {
  let charged = 0;
  const states = new TextExtremes(context, 'min', (bytes) => {
    charged += bytes;
  });
  const [groups, long] = [3000, `b${'😀'.repeat(500)}`];
  for (let group = 0; group < groups; group++) states.add(group, 0, { text: long });
  assert.equal(states.reader()(0), { text: long });
  assert.ok(charged >= groups * 500 * 4, `${charged} bytes`);
  for (let group = 0; group < groups; group++) states.add(group, 0, { text: 'a' });
  assert.equal(states.reader()(groups - 1), { text: 'a' });
  states.free();
  assert.is(context.memory.allocatedBytes, 0);
});

extremes.run();
