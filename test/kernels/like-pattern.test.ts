import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { compileLikePattern, LIKE_ANY, LIKE_ONE } from '../../src/kernels/like-pattern.js';

const patterns = suite('compileLikePattern');

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
  patterns(`${JSON.stringify(pattern)} escape ${escape}`, () => assert.equal([...compileLikePattern(pattern, escape)], compiled));
}

const refused = [
  { pattern: 'a\\', escape: '\\', message: /ends with its escape/ },
  { pattern: 'a', escape: '', message: /expected one character/ },
  { pattern: 'a', escape: 'ab', message: /expected one character/ },
];
for (const { pattern, escape, message } of refused) {
  patterns(`refuses ${JSON.stringify(pattern)} escape ${JSON.stringify(escape)}`, () => {
    assert.throws(
      () => compileLikePattern(pattern, escape),
      (error: unknown) => error instanceof ServiceError && error.code === 'query_invalid' && message.test(error.message),
    );
  });
}

patterns.run();
