import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Canceller, type CancelSignal } from '../../src/base/cancel-signal.js';
import { ServiceError } from '../../src/base/errors.js';
import { firstAnswer } from '../../src/cluster/broker/retries/first-answer.js';
import { ReadTimes } from '../../src/cluster/broker/retries/read-times.js';
import { settled } from './hand-clock.js';

/** Somebody who answers by hand. */
function asked() {
  let settle: { readonly answer: (text: string) => void; readonly fail: (error: Error) => void } | undefined;
  let signal: CancelSignal | undefined;
  return {
    ask: (given: CancelSignal): Promise<string> =>
      new Promise((answer, fail) => {
        signal = given;
        settle = { answer, fail };
      }),
    answer: (text: string) => settle?.answer(text),
    fail: (code: 'unavailable' | 'resource_limit') => settle?.fail(new ServiceError(code, code)),
    isAsked: () => settle !== undefined,
    isCancelled: () => signal?.aborted === true,
  };
}

/** Two that are asked, the second when `late` is called. */
function two({ others = true } = {}) {
  const [first, second] = [asked(), asked()];
  const signal = new Canceller();
  const state = { others, stopped: 0, discarded: [] as string[], late: (): boolean => false };
  const tries = {
    second: () => (state.others ? second.ask : undefined),
    wait: (late: () => boolean) => {
      state.late = late;
      return () => void state.stopped++;
    },
    discard: (answer: string) => void state.discarded.push(answer),
  };
  return { first, second, signal, state, answer: firstAnswer(first.ask, tries, signal) };
}

const codeOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'answered',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const answers = suite('the first answer of two');

answers('one that is in time: nobody else is asked', async () => {
  const { first, second, state, answer } = two();
  first.answer('rows');
  const { answer: found, isSecond, release } = await answer;
  release();
  assert.equal([found, isSecond, second.isAsked(), state.stopped], ['rows', false, false, 1]);
  assert.ok(state.late());
  assert.not(second.isAsked());
});

for (const winner of ['first', 'second'] as const)
  answers(`the ${winner} of both answers: the other one is cancelled, and what it still tells is thrown away`, async () => {
    const both = two();
    assert.ok(both.state.late());
    // Nobody is asked a third time.
    assert.ok(both.state.late());
    const loser = winner === 'first' ? both.second : both.first;
    both[winner].answer('rows');
    const { answer: found, isSecond } = await both.answer;
    assert.equal([found, isSecond], ['rows', winner === 'second']);
    assert.ok(loser.isCancelled());
    assert.not(both[winner].isCancelled());
    loser.answer('the same rows');
    await settled();
    assert.equal(both.state.discarded, ['the same rows']);
    // The answer is read on: it ends with the query.
    both.signal.abort(new ServiceError('timeout', 'over'));
    assert.ok(both[winner].isCancelled());
  });

answers('as long as there are no others, it is asked again', async () => {
  const { first, second, state, answer } = two({ others: false });
  assert.not(state.late());
  state.others = true;
  assert.ok(state.late());
  second.answer('rows');
  assert.is((await answer).answer, 'rows');
  assert.ok(first.isCancelled());
});

answers('one of both fails: the other one counts, and of two failures the last', async () => {
  const one = two();
  one.state.late();
  one.first.fail('unavailable');
  await settled();
  one.second.answer('rows');
  assert.is((await one.answer).answer, 'rows');
  const none = two();
  none.state.late();
  none.second.fail('unavailable');
  await settled();
  none.first.fail('resource_limit');
  assert.is(await codeOf(none.answer), 'resource_limit');
  const alone = two();
  alone.first.fail('unavailable');
  assert.is(await codeOf(alone.answer), 'unavailable');
  assert.is(alone.state.stopped, 1);
});

answers('both end with the query', async () => {
  const { first, second, signal, state } = two();
  state.late();
  signal.abort(new ServiceError('timeout', 'over'));
  assert.ok(first.isCancelled() && second.isCancelled());
});

answers('a read is late after three times its usual time, a second at least, ten of an unknown kind', () => {
  const times = new ReadTimes();
  assert.is(times.lateAfterMs('a'), 10_000);
  times.note('a', 5);
  assert.is(times.lateAfterMs('a'), 1000);
  times.note('b', 1000);
  // The mean is 1000, its deviation 500.
  assert.is(times.lateAfterMs('b'), 9000);
  // A read that waited for a server that was silent counts as one that was late.
  times.note('b', 600_000);
  // The mean is 1800, the deviation 500 + 0.1 * (8000 - 500).
  assert.is(times.lateAfterMs('b'), 3 * (1800 + 4 * 1250));
});

answers('late reads are asked ten times at once, then once of twenty', () => {
  const times = new ReadTimes();
  for (let turn = 0; turn < 10; turn++) {
    assert.ok(times.maySecond);
    times.countSecond();
  }
  assert.not(times.maySecond);
  for (let read = 0; read < 19; read++) times.note('a', 1);
  assert.not(times.maySecond);
  // Sums of twentieths are not exact.
  for (let read = 0; read < 2; read++) times.note('a', 1);
  assert.ok(times.maySecond);
});

answers.run();
