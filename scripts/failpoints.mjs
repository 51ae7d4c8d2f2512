#!/usr/bin/env node
// Kills processes at every failpoint, several times, and counts lost and doubled rows, stuck locks and files that nobody knows:
//   node scripts/failpoints.mjs [TIMES]     five times unless told otherwise
import { prepare } from './prepare.mjs';

await prepare();
process.argv[2] ??= '5';
await import('../dist/test/failpoints/main.js');
