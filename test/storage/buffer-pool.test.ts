import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { BufferPool } from '../../src/storage/buffer-pool.js';

const BUDGET = 1000;
const pools = suite('memory under a budget');

for (const { name, reserved, bytes, fits } of [
  { name: 'as many bytes as were reserved', reserved: 400, bytes: 400, fits: true },
  { name: 'fewer', reserved: 400, bytes: 100, fits: true },
  { name: 'more, for which there is room', reserved: 400, bytes: 900, fits: true },
  { name: 'more than there is room for', reserved: 400, bytes: 901, fits: false },
])
  pools(`an allocation of ${name} is ${fits ? 'kept' : 'freed, and what was reserved is the caller’s still'}`, () => {
    const memory = KernelMemory.create({ maximumBytes: 1 << 24 });
    const pool = new BufferPool(memory, BUDGET);
    pool.reserve(100);
    pool.reserve(reserved);
    const address = memory.allocate(bytes);
    if (fits) {
      const resident = pool.adopt('key', address, bytes, reserved);
      assert.is(pool.bytes, 100 + bytes);
      assert.is(pool.find('key'), resident);
      pool.unpin(resident);
      pool.unpin(resident);
      pool.drop('key');
      assert.is(pool.bytes, 100);
    } else {
      assert.throws(
        () => pool.adopt('key', address, bytes, reserved),
        (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit',
      );
      assert.is(pool.bytes, 100 + reserved);
      assert.not.ok(pool.has('key'));
    }
    // The same place again: it has been freed.
    assert.is(memory.allocate(bytes), address);
  });

pools.run();
