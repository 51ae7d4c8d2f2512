import { parseArgs } from 'node:util';
import { stringifyJson } from '../../src/base/json.js';
import { type Answer, KINDS, type Mute } from './case.js';
import { GENERATORS } from './kinds.js';
import { startLaidOut } from './laid-out-servers.js';
import { LAYOUTS, laidOut } from './layouts.js';
import { MUTES } from './mutes.js';
import { whyNoOriginal } from './original.js';
import { type Comparison, compareCases } from './run.js';
import { type Servers, startServers } from './servers.js';
import { small, TABLES } from './tables.js';
import { ALL, MIXED, openWays } from './ways.js';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: KINDS.join(',') },
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    shrinks: { type: 'string', default: '200' },
    top: { type: 'string', default: '40' },
    'port-offset': { type: 'string', default: '4500' },
    /** Layout of the rows on both servers; left out: three segments. */
    layout: { type: 'string' },
    /** Layouts of Dolmen's own that are compared with each other, in place of the original: names, or all. */
    layouts: { type: 'string' },
    /** Ways to run a plan within this process that are compared with the plainest one: names, or all. */
    ways: { type: 'string' },
    /** Whether columns are of other types in some segments, for `ways`. */
    types: { type: 'boolean', default: false },
    /** Rows of the table for `ways`. */
    rows: { type: 'string', default: '300' },
    /** Further flags of Dolmen, as JSON. */
    flags: { type: 'string', default: '[]' },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const why = whyNoOriginal();
if (values.layouts !== undefined) {
  const asked = LAYOUTS.filter((one) => one !== 'whole' && (values.layouts === 'all' || values.layouts?.split(',').includes(one)));
  await compareKinds(await startLaidOut(Number(values['port-offset']), asked, JSON.parse(values.flags) as string[]), []);
} else if (values.ways !== undefined) {
  const all = values.types ? MIXED : ALL;
  const ways = all.ways.filter(({ name }) => values.ways === 'all' || values.ways?.split(',').includes(name));
  await compareKinds(await openWays({ ...all, ways }, Number(values.rows)), []);
} else if (why !== undefined) {
  process.stdout.write(`skipped: ${why}\n`);
} else {
  const layout = LAYOUTS.find((one) => one === values.layout);
  const tables = layout === undefined ? TABLES : [laidOut(layout, { name: 'nasty' }), small()];
  await compareKinds(await startServers(Number(values['port-offset']), tables), MUTES);
}

async function compareKinds(servers: Servers, mutes: readonly Mute[]): Promise<void> {
  try {
    for (const kind of KINDS.filter((one) => values.kind.split(',').includes(one))) {
      const options = { cases: Number(values.cases), seed: Number(values.seed), shrinks: Number(values.shrinks), mutes };
      const comparison = await compareCases(servers, GENERATORS[kind], options);
      process.stdout.write(`${kind}, seed ${options.seed}: ${report(comparison)}`);
      if (comparison.groups.length > 0) process.exitCode = 1;
    }
  } finally {
    await servers.stop();
  }
}

function report({ cases, answered, unanswered, groups, allowed }: Comparison): string {
  const count = groups.reduce((sum, group) => sum + group.count, 0);
  const lines = [`${cases} cases, ${answered} answered by both, ${count} differences in ${groups.length} classes\n`];
  for (const { name, count, smallest } of groups.slice(0, Number(values.top))) {
    lines.push(
      `\n${count} × ${name}\n  ${stringifyJson(smallest.case.request)}\n  at ${smallest.where}${smallest.dolmen.by === undefined ? '' : ` (${smallest.dolmen.by})`}\n`,
    );
    lines.push(...[smallest.dolmen, smallest.original].flatMap((answer) => messageLine(answer)));
  }
  if (allowed.size > 0) lines.push('\nallowed by the rows of docs/differences.md\n');
  for (const [id, count] of allowed) lines.push(`  ${count} × ${id}\n`);
  if (unanswered.length > 0) lines.push(`\n${unanswered.length} not answered by the original in time\n`);
  lines.push(...unanswered.map(({ request }) => `  ${stringifyJson(request)}\n`));
  return lines.join('');
}

function messageLine(answer: Answer): string[] {
  return answer.state === 'rows' ? [] : [`  ${answer.state}: ${answer.message.slice(0, 300)}\n`];
}
