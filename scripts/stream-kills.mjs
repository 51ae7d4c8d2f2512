#!/usr/bin/env node
// Kills tasks of a stream, MiddleManager and Overlord at every named point, in turn, while messages are written and rows are counted:
//   node scripts/stream-kills.mjs [MESSAGES] [KILLS]     2,000,000 messages and 60 kills unless told otherwise; some 20 minutes
import { prepare } from './prepare.mjs';

await prepare();
await import('../dist/test/failpoints/stream-kills.js');
