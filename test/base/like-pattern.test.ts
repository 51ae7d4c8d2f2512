import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { LIKE_ANY, LIKE_ONE, likeBytes, likeTest, parseLike } from '../../src/base/like-pattern.js';
import { getFunction } from '../../src/expression/functions.js';

const patterns = suite('LIKE patterns');

const bytes = (text: string): number[] => [...Buffer.from(text)];
const cases = [
  { pattern: '', escape: null, compiled: [] },
  { pattern: 'abc', escape: null, compiled: bytes('abc') },
  { pattern: 'é%', escape: null, compiled: [...bytes('é'), LIKE_ANY] },
  { pattern: '%%a', escape: null, compiled: [LIKE_ANY, ...bytes('a')] },
  { pattern: '%_%', escape: null, compiled: [LIKE_ONE, LIKE_ANY] },
  { pattern: '__', escape: null, compiled: [LIKE_ONE, LIKE_ONE] },
  { pattern: '\\%', escape: null, compiled: [...bytes('\\'), LIKE_ANY] },
  { pattern: '\\%\\_\\\\', escape: '\\', compiled: bytes('%_\\') },
  { pattern: '😀%a', escape: '😀', compiled: bytes('%a') },
  { pattern: '%%', escape: '%', compiled: bytes('%') },
];
for (const { pattern, escape, compiled } of cases) {
  patterns(`${JSON.stringify(pattern)} escape ${escape}`, () => assert.equal([...likeBytes(parseLike(pattern, escape))], compiled));
}

const refused = [
  { pattern: 'a\\', escape: '\\', message: /ends with its escape/ },
  { pattern: 'a', escape: '', message: /expected one character/ },
  { pattern: 'a', escape: 'ab', message: /expected one character/ },
];
for (const { pattern, escape, message } of refused) {
  patterns(`refuses ${JSON.stringify(pattern)} escape ${JSON.stringify(escape)}`, () => {
    assert.throws(
      () => parseLike(pattern, escape),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });
}

const answers = [
  { value: '', pattern: '%', escape: null, matches: true },
  { value: '', pattern: '_', escape: null, matches: false },
  { value: '😀', pattern: '_', escape: null, matches: true },
  { value: 'a😀b', pattern: 'a_b', escape: null, matches: true },
  { value: 'aXbXc', pattern: 'a%b%c', escape: null, matches: true },
  { value: 'abab', pattern: '%ab', escape: null, matches: true },
  { value: 'abc', pattern: '%_%_%_%_%', escape: null, matches: false },
  { value: 'a%c', pattern: 'a!%c', escape: '!', matches: true },
  { value: 'abc', pattern: 'a!%c', escape: '!', matches: false },
  { value: 'a!', pattern: 'a!!', escape: '!', matches: true },
];
for (const { value, pattern, escape, matches } of answers) {
  patterns(`${JSON.stringify(value)} LIKE ${JSON.stringify(pattern)} escape ${escape} is ${matches}`, () =>
    assert.is(likeTest(parseLike(pattern, escape))(value), matches),
  );
}

patterns('the function like refuses a pattern that ends in its escape as well', () => {
  assert.throws(() => getFunction('like', 3).bind([undefined, { value: 'a!' }, { value: '!' }]), /ends with its escape/);
});

patterns.run();
