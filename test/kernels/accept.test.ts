import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { acceptKernels } from '../../src/kernels/conformance/accept.js';
import { KernelMemory } from '../../src/kernels/memory.js';

const memory = KernelMemory.create({ maximumBytes: 256 * 2 ** 20 });
const folder = mkdtempSync(join(tmpdir(), 'dolmen-kernels-'));
const acceptance = suite('acceptKernels');
acceptance.after(() => rmSync(folder, { recursive: true }));

const referenceUrl = new URL('../../src/kernels/reference/kernels.js', import.meta.url).href;

acceptance('a module that keeps the contract is used', async () => {
  const path = fileURLToPath(new URL('../../../build/kernels-scalar.wasm', import.meta.url));
  assert.type((await acceptKernels(path, memory)).bitsCount, 'function');
});

acceptance('a module that is wrong is refused, and told which of its kernels are', async () => {
  const path = join(folder, 'wrong.mjs');
  writeFileSync(
    path,
    `import { createReferenceKernels } from ${JSON.stringify(referenceUrl)};
export const KERNEL_CONTRACT_VERSION = 1;
export const createKernels = (memory) => {
  const right = createReferenceKernels(memory);
  return { ...right, bitsCount: (at, words) => right.bitsCount(at, words) + 1 };
};`,
  );
  const refusal: unknown = await acceptKernels(path, memory, ['bitsAnd', 'bitsCount']).catch((error: unknown) => error);
  assert.instance(refusal, ServiceError);
  assert.is((refusal as ServiceError).code, 'input_invalid');
  assert.match((refusal as ServiceError).message, /does not keep the contract: bitsCount: /);
});

acceptance('sets by name are tested at build time', async () => {
  for (const name of ['simd', 'reference']) assert.type((await acceptKernels(name, memory)).bitsCount, 'function');
});

acceptance.run();
