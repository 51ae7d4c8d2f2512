// node scripts/build-zones.mjs    writes build/time-zones.json: the rules of all time zones, packed as @js-joda/timezone has them.
// The package unpacks all of them whenever it is loaded; a server unpacks those that requests name (src/base/calendar.ts).
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ZoneRulesProvider } from '@js-joda/core';
import '@js-joda/timezone';
import { ROOT } from './stamp.mjs';

const { version, zones, links } = ZoneRulesProvider.getTzdbData();
const fresh = join(ROOT, 'build', `.time-zones.${process.pid}.json`); // renamed when whole: a server may read the old one
mkdirSync(join(ROOT, 'build'), { recursive: true });
writeFileSync(fresh, JSON.stringify({ version, zones, links }));
renameSync(fresh, join(ROOT, 'build', 'time-zones.json'));
