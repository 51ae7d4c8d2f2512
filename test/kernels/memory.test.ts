import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { ACCOUNT_BYTES, heldBytes, KernelMemory, peakBytes } from '../../src/kernels/memory.js';

const MIB = 1024 * 1024;
const tests = suite('KernelMemory');

tests('lends aligned regions that do not overlap and keep their contents', () => {
  const size = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 200_000 }));
  const step = fc.record({ bytes: size, freeAt: fc.option(fc.nat(), { freq: 2 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const memory = KernelMemory.create({ maximumBytes: 64 * MIB });
      const held: { at: number; bytes: number; mark: number }[] = [];
      const verify = ({ at, bytes, mark }: { at: number; bytes: number; mark: number }): void => {
        assert.ok(
          memory.u8(at, bytes).every((byte) => byte === mark),
          `${bytes} bytes at ${at} were overwritten`,
        );
      };
      for (const [index, { bytes, freeAt }] of steps.entries()) {
        if (freeAt !== null && held.length > 0) {
          const [gone] = held.splice(freeAt % held.length, 1);
          if (gone === undefined) continue;
          verify(gone);
          memory.free(gone.at);
          continue;
        }
        const at = memory.allocate(bytes);
        assert.is(at % 64, 0);
        for (const other of held) assert.ok(at + bytes <= other.at || other.at + other.bytes <= at || bytes === 0 || other.bytes === 0);
        memory.u8(at, bytes).fill(index & 255);
        held.push({ at, bytes, mark: index & 255 });
      }
      for (const region of held) {
        verify(region);
        memory.free(region.at);
      }
      // Everything has coalesced when the whole bank can be lent at once again.
      assert.is(memory.allocatedBytes, 0);
      memory.free(memory.allocate(63 * MIB));
    }),
    { numRuns: 60 },
  );
});

tests('lends hundreds of megabytes up to addresses beyond 2^31', () => {
  const memory = KernelMemory.create({ maximumBytes: 4096 * MIB });
  const first = memory.allocate(700 * MIB);
  const second = memory.allocate(2000 * MIB);
  const last = memory.allocate(1000 * MIB);
  assert.ok(last > 2 ** 31);
  memory.f64(last + 999 * MIB, 1)[0] = 1.5;
  assert.is(memory.f64(last + 999 * MIB, 1)[0], 1.5);
  for (const at of [second, first, last]) memory.free(at);
  assert.is(memory.allocatedBytes, 0);
  memory.free(memory.allocate(4000 * MIB));
});

tests('refuses what does not fit by the name of the property, and goes on', () => {
  const memory = KernelMemory.create({ maximumBytes: 2 * MIB });
  const kept = memory.allocate(MIB);
  assert.throws(
    () => memory.allocate(1.5 * MIB),
    (error: unknown) =>
      error instanceof ServiceError && error.code === 'resource_limit' && error.message.includes('svc.processing.memoryBytes'),
  );
  const small = memory.allocate(0.5 * MIB);
  memory.free(small);
  memory.free(kept);
  memory.free(memory.allocate(1_800_000));
});

tests('counts what an account holds and held at most, and refuses what it does not allow by the name of its limit', () => {
  const memory = KernelMemory.create({ maximumBytes: 8 * MIB });
  const at = memory.allocate(ACCOUNT_BYTES);
  memory.i32(at, 2).fill(0);
  const account = { at, bytesMax: MIB, limit: 'some.property' };
  const counted = memory.charging(account);
  const [first, second] = [counted.allocate(1000), counted.allocate(500_000)];
  // Blocks are multiples of 64 bytes, header included.
  assert.is(heldBytes(memory, account), 1024 + 500_032);
  counted.free(second);
  assert.is(heldBytes(memory, account), 1024);
  assert.is(peakBytes(memory, account), 1024 + 500_032);
  const before = memory.allocatedBytes;
  assert.throws(
    () => counted.allocate(MIB),
    (error: unknown) => error instanceof ServiceError && error.code === 'resource_limit' && error.message.includes('some.property'),
  );
  assert.is(memory.allocatedBytes, before);
  assert.is(heldBytes(memory, account), 1024);
  assert.not(counted.hasRoom(MIB));
  assert.ok(counted.hasRoom(MIB / 2));
  memory.free(memory.allocate(2 * MIB));
  const arena = counted.arena();
  arena.take(10);
  arena.release();
  counted.free(first);
  assert.is(heldBytes(memory, account), 0);
});

tests('asks for room before it fails, as often as some was made', () => {
  const memory = KernelMemory.create({ maximumBytes: 4 * MIB });
  const held = [memory.allocate(MIB), memory.allocate(MIB), memory.allocate(MIB)];
  const asked: number[] = [];
  memory.whenFull((bytes) => {
    asked.push(bytes);
    const given = held.pop();
    if (given !== undefined) memory.free(given);
    return given !== undefined;
  });
  const large = memory.allocate(2.5 * MIB);
  assert.is(held.length, 1);
  assert.is(asked.length, 2);
  assert.ok(asked.every((bytes) => bytes >= 2.5 * MIB));
  assert.ok(memory.hasRoom(MIB));
  assert.is(held.length, 0);
  assert.throws(() => memory.allocate(3 * MIB), /svc\.processing\.memoryBytes/);
  memory.free(large);
});

tests('refuses a bank beyond 4 GiB', () => {
  assert.throws(() => KernelMemory.create({ maximumBytes: 4096 * MIB + 1 }), /svc\.processing\.memoryBytes/);
});

tests('finds a second free and one of a foreign address', () => {
  const memory = KernelMemory.create({ maximumBytes: 2 * MIB });
  const at = memory.allocate(100);
  memory.free(at);
  assert.throws(() => memory.free(at), /nothing allocated/);
  assert.throws(() => memory.free(0), /nothing allocated/);
});

tests('an arena gives back all it took', () => {
  const memory = KernelMemory.create({ maximumBytes: 16 * MIB });
  const arena = memory.arena();
  const taken = [1, 64, 65, 5000, 300_000, 100, 0].map((bytes) => ({ at: arena.take(bytes), bytes }));
  for (const [index, { at, bytes }] of taken.entries()) {
    assert.is(at % 64, 0);
    for (const other of taken.slice(0, index)) assert.ok(at + bytes <= other.at || other.at + other.bytes <= at);
  }
  assert.ok(memory.allocatedBytes > 300_000);
  arena.release();
  assert.is(memory.allocatedBytes, 0);
  arena.take(10);
  arena.release();
  assert.is(memory.allocatedBytes, 0);
});

tests('two threads allocate and free at once', async () => {
  const memory = KernelMemory.create({ maximumBytes: 256 * MIB });
  const file = fileURLToPath(new URL('./memory-worker.js', import.meta.url));
  const done = [1, 2].map(
    (mark) =>
      new Promise<unknown>((resolve, reject) => {
        const worker = new Worker(file, { workerData: { handle: memory.handle(), mark, rounds: 4000 } });
        worker.once('message', resolve);
        worker.once('error', reject);
      }),
  );
  const kept = await Promise.all(done);
  assert.is(memory.allocatedBytes > 0, true);
  // Each worker leaves one region behind with its mark: readable and freeable here, though they grew the memory.
  for (const [index, region] of kept.entries()) {
    const { at, bytes } = region as { at: number; bytes: number };
    assert.ok(memory.u8(at, bytes).every((byte) => byte === index + 1));
    memory.free(at);
  }
  assert.is(memory.allocatedBytes, 0);
  memory.free(memory.allocate(250 * MIB));
});

tests.run();
