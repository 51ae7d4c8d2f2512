import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { Orders } from '../../src/cluster/coordinator/orders.js';
import { segmentOf } from './fakes.js';
import { HandClock, settled } from './hand-clock.js';

/** A server that answers by hand; orders that it got. */
function server(host: string) {
  const got: string[] = [];
  const answers: { readonly done: () => void; readonly fail: (error: Error) => void }[] = [];
  const order = (what: string) => (): Promise<void> => {
    got.push(what);
    return new Promise((done, fail) => answers.push({ done, fail }));
  };
  return { host, got, answers, service: { loadSegments: order('load'), dropSegments: order('drop') } };
}

const loads = (...hosts: readonly string[]) => new Map(hosts.map((host) => [host, [segmentOf('ds', 0, 'v1')]]));
const drops = (...hosts: readonly string[]) => new Map(hosts.map((host) => [host, ['id']]));
const orders = suite('orders of the Coordinator');

orders('those that answer are waited for, others two seconds; these get no other order until they have answered', async () => {
  const clock = new HandClock();
  const given = new Orders(() => undefined, clock);
  const [silent, quick] = [server('a'), server('b')];
  const startMs = clock.now();
  const first = given.give([silent, quick], loads('a', 'b'), drops('a'));
  quick.answers[0]?.done();
  await clock.passUntil(first);
  assert.is(clock.now() - startMs, 2000);
  assert.equal([silent.got, quick.got], [['load', 'drop'], ['load']]);
  assert.equal([given.isOpen('a'), given.isOpen('b')], [true, false]);
  const second = given.give([silent, quick], loads('a'), drops('b'));
  quick.answers[1]?.done();
  await clock.passUntil(second);
  assert.equal(
    [silent.got, quick.got],
    [
      ['load', 'drop'],
      ['load', 'drop'],
    ],
  );
  for (const { done } of silent.answers) done();
  await settled();
  assert.not(given.isOpen('a'));
  const third = given.give([silent, quick], loads('a'), new Map());
  silent.answers[2]?.done();
  await third;
  assert.equal(silent.got, ['load', 'drop', 'load']);
  assert.is(clock.waiting, 0);
});

orders('an order that fails is told to the log, and may be given again', async () => {
  const lines: string[] = [];
  const given = new Orders((line) => lines.push(line), new HandClock());
  const one = server('a');
  const first = given.give([one], loads('a'), new Map());
  one.answers[0]?.fail(new ServiceError('unavailable', 'cannot reach a'));
  await first;
  assert.equal(lines, ['coordinator: a was not told what to load: cannot reach a']);
  assert.not(given.isOpen('a'));
});

orders.run();
