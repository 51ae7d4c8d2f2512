import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LoginThrottle } from '../../../src/cluster/access/login-throttle.js';

const throttle = suite('login throttle');

/** Attempts that are let through before the first refusal. */
function attempts(one: LoginThrottle, attempt: (number: number) => readonly [user: string, address: string]): number {
  for (let number = 0; number < 100_000; number++) {
    try {
      one.take(...attempt(number));
    } catch {
      return number;
    }
  }
  return Number.POSITIVE_INFINITY;
}

const at = (nowMs: { value: number }) => new LoginThrottle({ failuresMax: 5, windowMs: 1000, now: () => nowMs.value });

throttle('a user at an address, a user, and an address have their limits', () => {
  assert.is(
    attempts(at({ value: 0 }), () => ['a', '1.1.1.1']),
    5,
  );
  assert.is(
    attempts(at({ value: 0 }), (number) => ['a', `1.1.1.${number}`]),
    50,
  );
  assert.is(
    attempts(at({ value: 0 }), (number) => [`user ${number}`, '1.1.1.1']),
    50,
  );
});

throttle('another user at another address is not touched', () => {
  const one = at({ value: 0 });
  attempts(one, () => ['a', '1.1.1.1']);
  one.take('a', '2.2.2.2');
  one.take('b', '1.1.1.1');
});

throttle('attempts come back over the window, and no more than there were', () => {
  const now = { value: 0 };
  const one = at(now);
  attempts(one, () => ['a', '1.1.1.1']);
  now.value = 400;
  assert.is(
    attempts(one, () => ['a', '1.1.1.1']),
    2,
  );
  now.value = 1_000_000;
  assert.is(
    attempts(one, () => ['a', '1.1.1.1']),
    5,
  );
});

throttle('a right password puts its attempt back', () => {
  const one = at({ value: 0 });
  for (let number = 0; number < 1000; number++) one.take('a', '1.1.1.1')();
});

const SAME_NETWORK = [
  ['2001:db8:0:1::1', '2001:db8:0:1:ffff::2', true],
  ['2001:0db8:0000:0001::1', '2001:db8:0:1::5', true],
  ['2001:db8:0:1::1', '2001:db8:0:2::1', false],
  ['::ffff:1.2.3.4', '::ffff:1.2.3.5', false],
  ['0000:0000:0000:0000:0000:ffff:0102:0304', '0000:0000:0000:0000:0000:ffff:0102:0305', false],
  ['1.2.3.4', '1.2.3.5', false],
] as const;
for (const [one, other, isSame] of SAME_NETWORK)
  throttle(`${one} and ${other} ${isSame ? 'count as one' : 'count apart'}`, () => {
    const here = at({ value: 0 });
    attempts(here, () => ['a', one]);
    assert.is(
      attempts(here, () => ['a', other]),
      isSame ? 0 : 5,
    );
  });

throttle('memory is bounded whatever names are sent', () => {
  const one = at({ value: 0 });
  for (let number = 0; number < 30_000; number++) {
    try {
      one.take(`${number}`.repeat(50), `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`);
    } catch {
      assert.unreachable('each of these is the first');
    }
  }
});

throttle.run();
