import { copyFileSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { segmentIdText } from '../../src/model/segment-id.js';
import { OpenFiles } from '../../src/storage/open-files.js';
import { DAY, descriptorOf, openWorkbench, writeTable } from './workbench.js';

const files = suite('open files');

/** Descriptors of this process that are open below a folder, as the kernel sees them. */
function openBelow(folder: string): number {
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // the descriptor that listed the others
    }
  }).length;
}

files('never more than the bound, every reader is served, and what was forgotten is closed', async () => {
  const bench = openWorkbench();
  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => join(bench.directory, name));
  for (const name of names) writeFileSync(name, name);
  const anyRead = fc.record({ file: fc.nat(4), turns: fc.nat(3), forget: fc.boolean() });
  try {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(anyRead, { maxLength: 20 }), async (max, reads) => {
        const open = new OpenFiles(max);
        const seen = await Promise.all(
          reads.map(({ file, turns, forget }) => {
            const name = names[file] ?? '';
            if (forget) open.forget(name);
            return open.use(name, async (source) => {
              assert.ok(open.count <= max, `${open.count} are open`);
              for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
              return readlinkSync(`/proc/self/fd/${source.descriptor}`);
            });
          }),
        );
        assert.equal(
          seen,
          reads.map(({ file }) => names[file]),
        );
        for (const name of names) open.forget(name);
        assert.is(open.count, 0);
        assert.is(openBelow(bench.directory), 0);
      }),
      { numRuns: 100 },
    );
  } finally {
    bench.close();
  }
});

const TIMES = { kind: 'long', cells: [BigInt(DAY.start)] } as const;

files('a store over many more segments than it may have open reads them all at once', async () => {
  const bench = openWorkbench({ openFilesMax: 3 });
  try {
    const file = join(bench.directory, 'one.segment');
    const written = await writeTable(file, { __time: TIMES, s: { kind: 'string', cells: ['x'] } }, ['s']);
    const ids: string[] = [];
    for (let partitionNumber = 0; partitionNumber < 40; partitionNumber++) {
      const descriptor = descriptorOf(written, { partitionNumber });
      const copy = join(bench.directory, `${partitionNumber}.segment`);
      copyFileSync(file, copy);
      await bench.store.open(copy, descriptor);
      ids.push(segmentIdText(descriptor.id));
    }
    assert.ok(openBelow(bench.directory) <= 3);
    const pin = await bench.store.pin({ segmentIds: ids, columns: ['s'], globalDictionaries: [] });
    assert.is(pin.segments.length, 40);
    pin.release();
    assert.ok(openBelow(bench.directory) <= 3);
    for (const id of ids) await bench.store.close(id);
    assert.is(openBelow(bench.directory), 0);
  } finally {
    bench.close();
  }
});

const damages: readonly { name: string; damage: (file: string) => void }[] = [
  { name: 'overwritten', damage: (file) => writeFileSync(file, Buffer.alloc(4096)) },
  { name: 'cut off', damage: (file) => writeFileSync(file, '') },
  { name: 'removed', damage: (file) => rmSync(file) },
];
for (const { name, damage } of damages)
  files(`a file that is ${name} while it is served makes its segment unavailable, and the keeper of the files is told`, async () => {
    const bench = openWorkbench({ openFilesMax: 1 });
    try {
      const [file, other] = [join(bench.directory, 'one.segment'), join(bench.directory, 'other.segment')];
      const descriptor = descriptorOf(await writeTable(file, { __time: TIMES, s: { kind: 'string', cells: ['x'] } }, ['s']));
      const otherDescriptor = descriptorOf(await writeTable(other, { __time: TIMES }, []), { partitionNumber: 1 });
      await bench.store.open(file, descriptor);
      // Takes the only descriptor.
      await bench.store.open(other, otherDescriptor);
      const told: string[] = [];
      bench.store.onDamage((id) => told.push(id));
      damage(file);
      const id = segmentIdText(descriptor.id);
      const error = await bench.store.pin({ segmentIds: [id], columns: ['s'], globalDictionaries: [] }).then(
        () => undefined,
        (failure: unknown) => failure,
      );
      assert.instance(error, ServiceError);
      assert.is((error as ServiceError).code, 'segments_unavailable');
      assert.not.ok((error as ServiceError).message.includes(bench.directory), 'no path in the message');
      assert.equal([...new Set(told)], [id]);
      await bench.store.close(id);
    } finally {
      bench.close();
    }
  });

files.run();
