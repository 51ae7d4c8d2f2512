#!/usr/bin/env node
// npm run bench [-- kernels|queries|http] [--json FILE] [--kernels a,b] [...]: builds, then runs the benchmarks named (kernels
// and queries when none is). Further flags go to each of them; --json writes every figure of all of them to one file.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepare } from './prepare.mjs';
import { ROOT } from './stamp.mjs';

const BENCHMARKS = ['kernels', 'queries', 'http'];

const words = process.argv.slice(2);
const first = words.findIndex((word) => word.startsWith('--'));
const chosen = first < 0 ? words : words.slice(0, first);
const flags = first < 0 ? [] : words.slice(first);
const stranger = chosen.find((name) => !BENCHMARKS.includes(name));
if (stranger !== undefined) {
  process.stderr.write(`unknown benchmark '${stranger}'; there are ${BENCHMARKS.join(', ')}\n`);
  process.exit(2);
}
const at = flags.indexOf('--json');
const jsonFile = at < 0 ? undefined : flags[at + 1];
if (at >= 0) flags.splice(at, 2);

await prepare();
const folder = mkdtempSync(join(tmpdir(), 'dolmen-bench-'));
const figures = {};
for (const name of chosen.length > 0 ? chosen : ['kernels', 'queries']) {
  const file = join(folder, `${name}.json`);
  const child = spawn(process.execPath, [join(ROOT, 'dist', 'bench', name, 'main.js'), ...flags, '--json', file], { stdio: 'inherit' });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) process.exitCode = 1;
  if (existsSync(file)) figures[name] = JSON.parse(readFileSync(file, 'utf8'));
}
rmSync(folder, { recursive: true });
if (jsonFile !== undefined) writeFileSync(jsonFile, `${JSON.stringify({ node: process.version, ...figures }, null, 2)}\n`);
