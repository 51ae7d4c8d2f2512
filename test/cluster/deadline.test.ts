import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CancelSignal } from '../../src/base/cancel-signal.js';
import { ServiceError } from '../../src/base/errors.js';
import { startDeadline } from '../../src/cluster/rpc/deadline.js';

const deadlines = suite('deadlines');

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
const reasonOf = ({ signal }: { readonly signal: CancelSignal }): unknown =>
  signal.reason instanceof ServiceError ? signal.reason.code : signal.reason;

for (const [name, end] of [
  ['its own cancel', (deadline, _parent) => deadline.cancel()],
  ["its parent's end", (_deadline, parent) => parent.abort()],
] satisfies [string, (deadline: ReturnType<typeof startDeadline>, parent: AbortController) => void][])
  deadlines(`one that was ended by ${name} has no timer any more`, () => {
    const before = timers();
    const parent = new AbortController();
    const deadline = startDeadline(60_000, parent.signal);
    assert.is(timers(), before + 1);
    end(deadline, parent);
    assert.is(timers(), before);
    assert.is(reasonOf(deadline), 'cancelled');
  });

deadlines('one whose parent has ended already has neither time nor a timer', () => {
  const before = timers();
  const deadline = startDeadline(60_000, AbortSignal.abort());
  assert.is(timers(), before);
  assert.is(reasonOf(deadline), 'cancelled');
});

deadlines('the instant ends it with a timeout, the reason of a parent is kept', async () => {
  const deadline = startDeadline(5, null);
  await new Promise((resolve) => deadline.signal.addEventListener('abort', resolve));
  assert.is(reasonOf(deadline), 'timeout');
  const parent = AbortSignal.abort(new ServiceError('resource_limit', 'too much'));
  assert.is(reasonOf(startDeadline(60_000, parent)), 'resource_limit');
});

deadlines.run();
