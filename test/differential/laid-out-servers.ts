import type { ChildProcess } from 'node:child_process';
import { parseJson, stringifyJson } from '../../src/base/json.js';
import type { Answer, DifferentialCase } from './case.js';
import { findDifference } from './compare.js';
import { type Layout, laidOut } from './layouts.js';
import { askDolmen, ownFolder, type Servers, startLoadedDolmen } from './servers.js';
import { small } from './tables.js';

/**
 * A Dolmen that holds the rows of `nasty` in several layouts. In place of the original the one segment of all rows is asked; its
 * answer is compared with the first layout's that differs. A server that remembers results is asked for those of similar requests
 * before.
 */
export async function startLaidOut(portOffset: number, layouts: readonly Layout[], flags: readonly string[] = []): Promise<Servers> {
  const children: ChildProcess[] = [];
  const remembers = flags.some((flag) => /cache\.use\w*=true/i.test(flag));
  const tables = [small(), laidOut('whole'), ...layouts.map((layout) => laidOut(layout))];
  const server = await startLoadedDolmen(ownFolder(children), portOffset, tables, children, flags);
  const wholes = new WeakMap<DifferentialCase, Promise<Answer>>();
  const ask = (one: DifferentialCase, layout: Layout): Promise<Answer> => askDolmen(server.url, over(one, layout));
  const askWhole = (one: DifferentialCase): Promise<Answer> => {
    const answer = wholes.get(one) ?? ask(one, 'whole');
    wholes.set(one, answer);
    return answer;
  };
  return {
    askOriginal: askWhole,
    askDolmen: async (one) => {
      const whole = await askWhole(one);
      // Segment metadata tells how rows lie.
      if (one.kind === 'native' && one.request['queryType'] === 'segmentMetadata') return whole;
      for (const layout of layouts) {
        if (remembers) for (const other of neighboursOf(one)) await ask(other, layout);
        const answer = await ask(one, layout);
        if (findDifference(one, answer, whole) !== undefined) return { ...answer, by: layout };
      }
      return whole;
    },
    stop: async () => {
      await server.stop();
    },
  };
}

const NEIGHBOURS = 4;

/** Requests that are much like this one, whose results may be remembered. */
function neighboursOf(one: DifferentialCase): readonly DifferentialCase[] {
  const found: DifferentialCase[] = [];
  for (const smaller of one.shrink()) {
    found.push(smaller);
    if (found.length === NEIGHBOURS) break;
  }
  return [...found, one];
}

/** The same request over the table of a layout. */
function over(one: DifferentialCase, layout: Layout): DifferentialCase {
  const request = parseJson(stringifyJson(one.request).replace(/\bnasty\b/g, `nasty_${layout}`));
  return { ...one, request } as DifferentialCase;
}
