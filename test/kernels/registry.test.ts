import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../src/base/errors.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels, KERNEL_SETS } from '../../src/kernels/registry.js';

const memory = KernelMemory.create({ maximumBytes: 4 * 1024 * 1024 });
const folder = mkdtempSync(join(tmpdir(), 'dolmen-kernels-'));
const registry = suite('instantiateKernels');
registry.after(() => rmSync(folder, { recursive: true }));

function file(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}
const referenceUrl = new URL('../../src/kernels/reference/kernels.js', import.meta.url).href;
const script = (name: string, body: string): string =>
  file(name, `import { createReferenceKernels } from ${JSON.stringify(referenceUrl)};\n${body}`);

for (const name of Object.keys(KERNEL_SETS)) {
  registry(`${name} counts bits in the memory it was given`, () => {
    const at = memory.allocate(16);
    memory.u32(at, 4).set([0x80000001, 0, 0xff, 0]);
    assert.is(instantiateKernels(name, memory).bitsCount(at, 2), 10);
    memory.free(at);
  });
}

registry('loads a WebAssembly module by path', () => {
  const path = fileURLToPath(new URL('../../../build/kernels-scalar.wasm', import.meta.url));
  assert.is(instantiateKernels(path, memory).lowerBoundI64(0, 0n, 0, 0, 0n), 0);
});

registry('loads a script by path', () => {
  const path = script('own.mjs', 'export const KERNEL_CONTRACT_VERSION = 1; export const createKernels = createReferenceKernels;');
  assert.is(instantiateKernels(path, memory).bitsCount(65536, 0), 0);
});

const refused = [
  { name: () => 'fastest', message: /found "fastest", expected one of simd, scalar, reference/ },
  { name: () => 'toString', message: /expected one of simd/ },
  { name: () => join(folder, 'absent.wasm'), message: /absent\.wasm: ENOENT/ },
  { name: () => file('text.wasm', 'not a module'), message: /text\.wasm: .*magic/ },
  {
    name: () => file('empty.wasm', Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)),
    message: /KERNEL_CONTRACT_VERSION is undefined, expected 1/,
  },
  {
    name: () => script('old.mjs', 'export const KERNEL_CONTRACT_VERSION = 0; export const createKernels = createReferenceKernels;'),
    message: /VERSION is 0, expected 1/,
  },
  { name: () => file('other.cjs', 'exports.KERNEL_CONTRACT_VERSION = 1;'), message: /no function createKernels/ },
  {
    name: () =>
      script(
        'less.mjs',
        'export const KERNEL_CONTRACT_VERSION = 1; export const createKernels = (m) => ({ ...createReferenceKernels(m), bitsOr: undefined, topI64: 3 });',
      ),
    message: /does not export bitsOr, topI64/,
  },
  {
    name: () =>
      script(
        'arity.mjs',
        'export const KERNEL_CONTRACT_VERSION = 1; export const createKernels = (m) => ({ ...createReferenceKernels(m), bitsOr: (a, b) => 0 });',
      ),
    message: /bitsOr takes 2 parameters, expected 4/,
  },
];
for (const [index, { name, message }] of refused.entries()) {
  registry(`refuses ${index}: ${message.source}`, () => {
    assert.throws(
      () => instantiateKernels(name(), memory),
      (error: unknown) => error instanceof ServiceError && error.code === 'input_invalid' && message.test(error.message),
    );
  });
}

registry.run();
