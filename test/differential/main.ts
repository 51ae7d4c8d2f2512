import { parseArgs } from 'node:util';
import { stringifyJson } from '../../src/base/json.js';
import { type Answer, KINDS } from './case.js';
import { GENERATORS } from './kinds.js';
import { whyNoOriginal } from './original.js';
import { type Comparison, compareCases } from './run.js';
import { startServers } from './servers.js';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', default: KINDS.join(',') },
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    shrinks: { type: 'string', default: '200' },
    top: { type: 'string', default: '40' },
    'port-offset': { type: 'string', default: '26000' },
  },
});

const why = whyNoOriginal();
if (why !== undefined) {
  process.stdout.write(`skipped: ${why}\n`);
} else {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const servers = await startServers(Number(values['port-offset']));
  try {
    for (const kind of KINDS.filter((one) => values.kind.split(',').includes(one))) {
      const options = { cases: Number(values.cases), seed: Number(values.seed), shrinks: Number(values.shrinks) };
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
    lines.push(`\n${count} × ${name}\n  ${stringifyJson(smallest.case.request)}\n  at ${smallest.where}\n`);
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
