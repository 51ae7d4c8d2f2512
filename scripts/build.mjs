#!/usr/bin/env node
// node scripts/build.mjs [wasm|zones|ts|program] [--force]   builds what is stale: kernels and the rules of time zones into build/,
// TypeScript into dist/, and of that build/program, which bin/dolmen.mjs runs
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { dropStamp, filesBelow, hashFiles, PROGRAM, ROOT, readStamp, writeStamp } from './stamp.mjs';
import { StepFailed, step } from './steps.mjs';

const KERNEL_FILES = ['simd', 'scalar'].map((set) => join(ROOT, 'build', `kernels-${set}.wasm`));
const ZONE_RULES = join(ROOT, 'build', 'time-zones.json');
const COMPILED_MAIN = join(ROOT, 'dist', 'src', 'main.js');
const TYPESCRIPT_FOLDERS = ['src', 'test', 'bench'];

const PARTS = {
  wasm: {
    hash: () => hashFiles(['assembly', 'asconfig.json', 'scripts/build-wasm.mjs', 'package-lock.json']),
    built: () => KERNEL_FILES.every((file) => existsSync(file)),
    make: () => step('kernels (AssemblyScript → WebAssembly)', process.execPath, ['scripts/build-wasm.mjs']),
  },
  zones: {
    hash: () => hashFiles(['scripts/build-zones.mjs', 'package-lock.json']),
    built: () => existsSync(ZONE_RULES),
    make: () => step('rules of time zones', process.execPath, ['scripts/build-zones.mjs']),
  },
  ts: {
    hash: () => hashFiles([...TYPESCRIPT_FOLDERS, 'tsconfig.json', 'package-lock.json'], (path) => /\.(ts|json)$/.test(path)),
    built: () => existsSync(COMPILED_MAIN),
    async make() {
      removeOrphans();
      await step('TypeScript', join(ROOT, 'node_modules', '.bin', 'tsc'), ['-p', '.', '--pretty', 'false']);
    },
  },
  program: {
    // The compiler writes every file each time. bin/dolmen.mjs looks at the first word.
    hash: () => `${statSync(COMPILED_MAIN).mtimeMs} ${hashFiles(['scripts/bundle.mjs', 'package-lock.json'])}`,
    built: () => existsSync(join(PROGRAM, 'main.js')),
    make: () => step('one program of its modules', process.execPath, ['scripts/bundle.mjs']),
  },
};

/** Outputs whose source is gone would go on being tested and shipped. */
function removeOrphans() {
  for (const output of filesBelow(['dist'], (path) => /\.js(\.map)?$/.test(path))) {
    const source = output.slice('dist/'.length).replace(/\.js(\.map)?$/, '.ts');
    if (!existsSync(join(ROOT, source))) rmSync(join(ROOT, output));
  }
}

/** Builds the parts that are stale, in order; throws StepFailed. */
export async function build(names = Object.keys(PARTS), { force = false } = {}) {
  for (const name of names) {
    const part = PARTS[name];
    const hash = part.hash();
    if (!force && readStamp(name) === hash && part.built()) continue;
    dropStamp(name);
    await part.make();
    writeStamp(name, hash);
  }
}

if (process.argv[1] === import.meta.filename) {
  const names = process.argv.slice(2).filter((argument) => argument !== '--force');
  const stranger = names.find((name) => !(name in PARTS));
  if (stranger !== undefined) {
    console.error(`unknown part '${stranger}'; usage: node scripts/build.mjs [${Object.keys(PARTS).join('|')}] [--force]`);
    process.exit(2);
  }
  await build(names.length > 0 ? names : undefined, { force: process.argv.includes('--force') }).catch((error) => {
    if (!(error instanceof StepFailed)) throw error;
    process.exitCode = 1;
  });
}
