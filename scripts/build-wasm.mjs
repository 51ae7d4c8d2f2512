// Builds the kernels: one set of AssemblyScript sources, with and without SIMD, each for release and with asserts.
//   node scripts/build-wasm.mjs            → build/kernels-{simd,scalar}.wasm and build/kernels-{simd,scalar}-debug.wasm
import { mkdir, rename } from 'node:fs/promises';
import { argv, exit } from 'node:process';
import { fileURLToPath } from 'node:url';
import { main } from 'assemblyscript/asc';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

// Asserts carry their file names as static data; modules that share a memory keep theirs apart (see memory.ts).
const BUILDS = [
  { name: 'kernels-simd', target: 'release', features: ['threads', 'simd'], memoryBase: 1024 },
  { name: 'kernels-scalar', target: 'release', features: ['threads'], memoryBase: 1024 },
  { name: 'kernels-simd-debug', target: 'debug', features: ['threads', 'simd'], memoryBase: 1024 },
  { name: 'kernels-scalar-debug', target: 'debug', features: ['threads'], memoryBase: 32768 },
];

/** Resolves when all four are built; rejects with the compiler's own messages. */
export async function buildWasm() {
  await mkdir(new URL('../build/', import.meta.url), { recursive: true });
  for (const build of BUILDS) await compile(build);
}

async function compile({ name, target, features, memoryBase }) {
  const outFile = `build/${name}.wasm`;
  const fresh = `build/.${name}.${process.pid}.wasm`; // renamed when whole: another process may be loading the old one
  const enable = features.flatMap((feature) => ['--enable', feature]);
  const { error, stderr } = await main([
    '--baseDir',
    ROOT,
    '--config',
    'asconfig.json',
    '--target',
    target,
    ...enable,
    '--memoryBase',
    String(memoryBase),
    '--outFile',
    fresh,
  ]);
  if (error) throw new Error(`${outFile}: ${error.message}\n${stderr.toString()}`);
  await rename(new URL(`../${fresh}`, import.meta.url), new URL(`../${outFile}`, import.meta.url));
  console.log(outFile);
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  buildWasm().catch((error) => {
    console.error(error.message);
    exit(1);
  });
}
