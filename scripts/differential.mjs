#!/usr/bin/env node
// npm run differential [-- flags]: builds what is stale, then compares generated requests with the original's answers and
// prints the differences by class, each with its smallest example.
//
//   --kind native,expressions,sql   which kinds (all)
//   --cases N   --seed S            how many of each kind (2000), and which (1)
//   --shrinks N  --top N            how many differences are made small (200), how many classes are printed (40)
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build } from './build.mjs';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

await prepare([]);
await build(['wasm', 'zones', 'ts', 'program']);
const program = join(ROOT, 'dist', 'test', 'differential', 'main.js');
const child = spawn(process.execPath, ['--enable-source-maps', program, ...process.argv.slice(2)], { cwd: ROOT, stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
child.once('exit', (code) => {
  process.exitCode = code ?? 1;
});
