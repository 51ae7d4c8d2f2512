import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SYSTEM_CLOCK } from '../../../src/base/clock/clock.js';
import { LoopTurns } from '../../../src/base/loop-turns.js';
import { jsonList } from '../../../src/server/routes/exchange.js';

const lists = suite('lists of any length');
lists.after(() => {
  LoopTurns.clock = SYSTEM_CLOCK;
});

for (const count of [0, 1, 500, 501, 5000]) {
  lists(`${count} items are the text of their list`, async () => {
    // Each look at the clock is a millisecond later: turns come after so many items, however fast the machine is.
    let nowMs = 0;
    LoopTurns.clock = { monotonicMs: () => nowMs++ };
    const items = Array.from({ length: count }, (_, at) => at);
    const { status, headers, body } = jsonList(items, (at) => ({ at, text: `"${at}"` }));
    const pieces: string[] = [];
    if (typeof body === 'string') pieces.push(body);
    else for await (const piece of body as AsyncIterable<string>) pieces.push(piece);
    assert.equal([status, headers], [200, { 'Content-Type': 'application/json' }]);
    assert.is(pieces.join(''), JSON.stringify(items.map((at) => ({ at, text: `"${at}"` }))));
    assert.is(pieces.length > 1, count > 500);
  });
}

lists.run();
