import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Canceller } from '../../src/base/cancel-signal.js';
import type { Clock, Timer } from '../../src/base/clock/clock.js';
import { ServiceError } from '../../src/base/errors.js';
import type { MissingRows } from '../../src/cluster/broker/live-streams.js';
import { untilCovered } from '../../src/cluster/broker/stream-coverage.js';

const coverage = suite('waiting for rows of streams');
const ROWS: MissingRows = { supervisorId: 's', stream: 'topic', partition: '3', shown: '10', answered: '40' };

/** A clock on which the time of each timer passes at once. */
function quickClock(): Clock & { ms: number } {
  const clock = {
    ms: 1000,
    now: () => clock.ms,
    monotonicMs: () => clock.ms,
    setTimer<Told>(callback: (told: Told) => void, delayMs: number, told: Told): Timer {
      queueMicrotask(() => {
        clock.ms += delayMs;
        callback(told);
      });
      const timer: Timer = { unref: () => timer as NodeJS.Timeout };
      return timer;
    },
    clearTimer: () => undefined,
  };
  return clock;
}

coverage('nothing that is missing: neither a look nor a wait', async () => {
  const clock = quickClock();
  let looks = 0;
  await untilCovered({ missing: () => undefined, wake: () => looks++, now: clock.now, clock, signal: new Canceller() });
  assert.equal([looks, clock.ms], [0, 1000]);
});

coverage('it looks every 100 ms until nothing is missing', async () => {
  const clock = quickClock();
  let looks = 0;
  const missing = () => (looks < 7 ? (['ds', ROWS] as const) : undefined);
  await untilCovered({ missing, wake: () => looks++, now: clock.now, clock, signal: new Canceller() });
  assert.equal([looks, clock.ms], [7, 1700]);
});

coverage('after ten seconds it is refused, by the names of the datasource, the supervisor and the partition', async () => {
  const clock = quickClock();
  const missing = () => ['ds', ROWS] as const;
  const failure = await untilCovered({ missing, wake: () => undefined, now: clock.now, clock, signal: new Canceller() }).then(
    () => assert.unreachable(),
    (error: unknown) => error,
  );
  assert.instance(failure, ServiceError);
  assert.is((failure as ServiceError).code, 'segments_unavailable');
  for (const word of ['ds', 'partition 3', 'topic', 'supervisor s', 'offset 10', '40'])
    assert.match((failure as ServiceError).message, word);
  assert.is(clock.ms, 11_000);
});

coverage('it ends with the query', async () => {
  const clock = quickClock();
  const query = new Canceller();
  const wake = () => query.abort(new ServiceError('timeout', 'the query is over'));
  const failure = await untilCovered({ missing: () => ['ds', ROWS] as const, wake, now: clock.now, clock, signal: query }).then(
    () => assert.unreachable(),
    (error: unknown) => error,
  );
  assert.is((failure as ServiceError).code, 'timeout');
});

coverage.run();
