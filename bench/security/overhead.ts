import { median } from '../harness.js';
import { load } from '../http/load.js';
import { processorTime } from '../processor-time.js';
import type { DolmenProcess } from '../server.js';

interface Contender {
  readonly server: DolmenProcess;
  readonly headers: Readonly<Record<string, string>>;
}

export interface OverheadOptions {
  /** A server without users, and one with them. */
  readonly open: Contender;
  readonly closed: Contender;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

export interface OverheadFigures {
  /** Microseconds of processor time for a request, by round. */
  readonly open: readonly number[];
  readonly closed: readonly number[];
  /** Median over the rounds of the second over the first. */
  readonly ratio: number;
}

const BODY = JSON.stringify({ query: 'SELECT 1 AS one', resultFormat: 'array' });

/** `SELECT 1` at both servers in turn. */
export async function measureOverhead({ open, closed, rounds, seconds, connections }: OverheadOptions): Promise<OverheadFigures> {
  const microseconds = async ({ server, headers }: Contender): Promise<number> => {
    const pid = server.child.pid ?? 0;
    const before = processorTime(pid);
    const { requests } = await load({ url: `${server.url}/svc/v2/sql`, body: BODY, headers, connections, seconds });
    return (processorTime(pid) - before) / 1000 / requests;
  };
  // Servers take seconds until what is asked all the time is compiled.
  for (const each of [open, closed, open, closed]) await microseconds(each);
  const figures = { open: [] as number[], closed: [] as number[] };
  for (let round = 0; round < rounds; round++)
    for (const name of round % 2 === 0 ? (['open', 'closed'] as const) : (['closed', 'open'] as const))
      figures[name].push(await microseconds({ open, closed }[name]));
  const ratio = median(figures.closed.map((time, round) => time / (figures.open[round] ?? Number.NaN)));
  process.stdout.write(
    `SELECT 1, ${connections} connections: ${median(figures.open).toFixed(1)} µs of processor time without users, ${median(figures.closed).toFixed(1)} with\n`,
  );
  return { ...figures, ratio };
}
