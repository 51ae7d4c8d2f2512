import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FUNCTION_EXAMPLES, statementsOf } from './function-examples.js';
import { answer, memory } from './small-tables.js';

const examples = suite('examples of the functions of SQL');

for (const [name, each] of Object.entries(FUNCTION_EXAMPLES))
  examples(name, async () => {
    for (const { sql, rows } of each.flatMap(statementsOf)) {
      assert.ok(sql.toUpperCase().includes(name), `${sql} does not use ${name}`);
      const found = await answer(sql);
      assert.equal(found, rows, sql);
    }
  });

examples('no memory is left behind', () => {
  assert.is(memory.allocatedBytes, 0);
});
examples.run();
