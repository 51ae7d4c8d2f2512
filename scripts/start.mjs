#!/usr/bin/env node
// npm start [-- flags of `dolmen start`]: installs and builds what is missing, then starts the server in this process.
import { prepare } from './prepare.mjs';

await prepare();
process.argv.splice(1, 1, 'dolmen', 'start');
await import('../bin/dolmen.mjs');
