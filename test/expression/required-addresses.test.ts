import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { likeTest } from '../../src/base/like-pattern.js';
import { requiredAddresses } from '../../src/expression/required-addresses.js';

const addresses = suite('required addresses');
const octet = fc.integer({ min: 0, max: 255 });
const printed = (address: number): string => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');

addresses('of a subnet match one of its patterns', () => {
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), fc.integer({ min: 0, max: 32 }), fc.nat(0xffffffff), ([a, b, c, d], bits, drawn) => {
      const start = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
      const patterns = requiredAddresses(`${printed(start)}/${bits}`);
      // All bits that the subnet leaves free, drawn.
      const mask = bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
      const within = printed(((start & mask) | (drawn & ~mask)) >>> 0);
      assert.is(patterns === undefined, bits < 3);
      assert.ok(patterns?.some((each) => likeTest(each)(within)) ?? true, `${within} in ${printed(start)}/${bits}`);
      assert.not.ok(patterns?.some((each) => likeTest(each)('')) ?? false);
    }),
  );
});

addresses('are few', () => {
  const texts = (subnet: string): boolean[] | undefined => requiredAddresses(subnet)?.map((each) => likeTest(each)('10.2.3.4'));
  assert.equal(texts('10.2.0.0/16'), [true]);
  assert.equal(texts('10.2.3.4'), [true]);
  assert.equal(texts('10.2.3.5'), [false]);
  assert.equal(texts('10.2.3.4/31'), [true, false]);
  assert.is(requiredAddresses('10.0.0.0/12')?.length, 16);
  assert.is(requiredAddresses('10.0.0.0/9')?.length, 1);
  assert.is(requiredAddresses('not an address'), undefined);
});

addresses.run();
