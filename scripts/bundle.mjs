#!/usr/bin/env node
// node scripts/bundle.mjs    makes build/program of dist/src: the same code in a few files, which load four times as fast
// (docs/decisions/0018). Nothing else changes: packages stay where they are but those named here, names stay as they are.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { filesBelow, PROGRAM, ROOT } from './stamp.mjs';

/** Modules that a thread or a process begins with, as those who start them name them. */
const STARTED = /new URL\('\.\/([\w-]+\.js)', import\.meta\.url\)/g;
/** Packages that are bundled: many files, of which the program uses few lines. */
const INLINED = ['@bufbuild/protobuf'];
/**
 * Packages that are required: each in one file, without blanks, which the program finds before the installed one, and loads in less
 * than half the time. Names stay.
 */
const FOLDED = ['sql-parser-cst'];
/** Time for which replaced files stay, because a running server loads parts of its program only when it needs them. */
const KEPT_MS = 86_400_000;
/** Files of one build are written within this time. */
const BUILD_MS = 60_000;

const sources = filesBelow(['dist/src'], (path) => path.endsWith('.js'));
const entries = new Set(['dist/src/main.js']);
for (const source of sources) {
  for (const [, name] of readFileSync(join(ROOT, source), 'utf8').matchAll(STARTED)) entries.add(join(source, '..', name));
}
// Side by side: `./worker.js` is found from wherever in the bundle it is started.
const entryPoints = Object.fromEntries([...entries].map((entry) => [basename(entry, '.js'), entry]));
if (Object.keys(entryPoints).length < entries.size) throw new Error(`two of these have one name: ${[...entries].join(', ')}`);

const main = join(PROGRAM, 'main.js');
const lastBuiltMs = existsSync(main) ? statSync(main).mtimeMs : 0;
const { metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints,
  outdir: PROGRAM,
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  external: Object.keys(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).dependencies).filter(
    (name) => !INLINED.includes(name),
  ),
  platform: 'node',
  format: 'esm',
  target: 'node20',
  metafile: true,
  logLevel: 'error',
});

const { resolve } = createRequire(import.meta.url);
await build({
  absWorkingDir: ROOT,
  entryPoints: Object.fromEntries(FOLDED.map((name) => [`node_modules/${name}/index`, resolve(name)])),
  outdir: PROGRAM,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node20',
  minifyWhitespace: true,
  minifySyntax: true,
  logLevel: 'error',
});

mkdirSync(PROGRAM, { recursive: true });
const made = new Set(['node_modules', ...Object.keys(metafile.outputs).map((file) => basename(file))]);
const now = Date.now();
const touch = (file) => utimesSync(file, now / 1000, now / 1000);
for (const name of readdirSync(PROGRAM)) {
  const file = join(PROGRAM, name);
  const { mtimeMs } = statSync(file);
  // Unchanged files were not written again, so they are touched here, like those that this build replaced: their day begins now.
  if (made.has(name) || mtimeMs >= lastBuiltMs - BUILD_MS) touch(file);
  else if (mtimeMs < now - KEPT_MS) rmSync(file);
}
