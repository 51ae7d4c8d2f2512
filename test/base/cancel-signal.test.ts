import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Canceller, isCancelSignal, platformSignal } from '../../src/base/cancel-signal.js';

const signals = suite('cancel signals');

signals('listeners hear of the first abort once, in their order, unless they were removed', () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const first = (): unknown => heard.push(`first: ${String(canceller.reason)}`);
  const removed = (): unknown => heard.push('removed');
  canceller.addEventListener('abort', first);
  canceller.addEventListener('abort', removed);
  canceller.addEventListener('abort', () => heard.push('second'));
  canceller.addEventListener('abort', first);
  canceller.removeEventListener('abort', removed);
  canceller.throwIfAborted();
  assert.is(canceller.aborted, false);
  canceller.abort('over');
  canceller.abort('again');
  canceller.addEventListener('abort', () => heard.push('late'));
  assert.equal(heard, ['first: over', 'second']);
  assert.is(canceller.aborted, true);
  assert.throws(
    () => canceller.throwIfAborted(),
    (thrown: unknown) => thrown === 'over',
  );
});

signals('a listener that removes another while it is told does not keep a third from hearing', () => {
  const canceller = new Canceller();
  const heard: string[] = [];
  const other = (): unknown => heard.push('other');
  canceller.addEventListener('abort', () => canceller.removeEventListener('abort', other));
  canceller.addEventListener('abort', other);
  canceller.addEventListener('abort', () => heard.push('third'));
  canceller.abort('over');
  assert.ok(heard.includes('third'));
});

for (const [name, abortFirst] of [
  ['before', true],
  ['after', false],
] as const)
  signals(`the platform's form of a signal that was aborted ${name} it was made has its reason`, () => {
    const canceller = new Canceller();
    if (abortFirst) canceller.abort('over');
    const made = platformSignal(canceller);
    canceller.abort('over');
    assert.is(made.aborted, true);
    assert.is(made.reason, 'over');
  });

signals("the platform's own signals are cancel signals as they are", () => {
  const signal = AbortSignal.abort();
  assert.is(platformSignal(signal), signal);
  assert.equal([signal, new Canceller(), {}, null].map(isCancelSignal), [true, true, false, false]);
});

signals.run();
