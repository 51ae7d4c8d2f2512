#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const main = new URL('../dist/src/main.js', import.meta.url);
if (!existsSync(fileURLToPath(main))) {
  console.error('dolmen is not built yet: run `npm run build`, or `npm start` to install, build and start it');
  process.exit(1);
}
await import(main.href);
