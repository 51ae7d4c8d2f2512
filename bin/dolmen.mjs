#!/usr/bin/env -S node --single-threaded-gc
import { existsSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const compiled = at('dist/src/main.js');
const bundled = at('build/program/main.js');
const stamp = at('build/stamps/program');

if (!existsSync(compiled)) {
  console.error('dolmen is not built yet: run `npm run build`, or `npm start` to install, build and start it');
  process.exit(1);
}
// The bundle is the same program, and loads faster; but only if it was made of what is compiled now.
const isCurrent = existsSync(stamp) && readFileSync(stamp, 'utf8').startsWith(`${statSync(compiled).mtimeMs} `) && existsSync(bundled);
await import(isCurrent ? bundled : compiled);
