import { setTimeout as sleep } from 'node:timers/promises';
import { HISTORICAL_FAULTS, HISTORICALS, HistoricalCluster } from './historicals.js';
import { type Answered, Load } from './known-answers.js';

/* Historicals that are killed, paused and moved under a running query load: what clients were answered, and for how long they were slow. */

export interface KillsOptions {
  readonly portOffset: number;
  /** Names of faults, in order. */
  readonly faults: readonly string[];
  readonly clients: number;
  readonly pauseMs: number;
  readonly withStatements: boolean;
  /** Seconds of a pause, by its number. */
  readonly secondsOf: (turn: number) => number;
  readonly calmMs: number;
  readonly say: (line: string) => void;
}

export interface KillsReport {
  readonly counts: ReturnType<Load['counts']>;
  /** Answers that were neither right nor errors that can be tried again. */
  readonly bad: readonly Answered[];
  readonly p99Ms: number;
  /** Time from a fault to the last answer after which 99 of 100 are as fast as before, by fault. */
  readonly backMs: readonly { readonly fault: string; readonly ms: number }[];
}

/** Slower than so many times the p99 of calm times is slow. */
const SLOW_FACTOR = 2;
/** Less than this is no slowness that a person sees. */
const SLOW_MS_MIN = 100;
const ANSWERS_LOOKED_AT = 100;

export async function runHistoricalKills(options: KillsOptions): Promise<KillsReport> {
  const { say } = options;
  const cluster = await HistoricalCluster.start(options.portOffset);
  try {
    say(`started; deep storage ${cluster.proxy === undefined ? 'in a folder' : 'in S3'}`);
    const load = new Load(cluster.url, options);
    const warmMs = performance.now() + options.calmMs;
    await sleep(2 * options.calmMs);
    const calm = quick(load.answers).filter(({ startMs }) => startMs > warmMs);
    const p99Ms = quantile(calm, 0.99);
    say(`calm: ${calm.length} answers, p50 ${quantile(calm, 0.5).toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms`);
    const backMs: { readonly fault: string; readonly ms: number }[] = [];
    for (const [turn, fault] of options.faults.entries()) {
      const index = turn % HISTORICALS;
      const before = load.answers.length;
      const beganMs = performance.now();
      const run = HISTORICAL_FAULTS[fault];
      if (run === undefined) throw new Error(`there is no fault ${fault}`);
      await run(cluster, index, options.secondsOf(turn));
      const overMs = performance.now();
      await cluster.settled();
      const settledMs = performance.now();
      await sleep(Math.max(1000, options.pauseMs * 20));
      const since = load.answers.slice(before);
      const back = slowUntil(since, Math.max(SLOW_MS_MIN, SLOW_FACTOR * p99Ms)) - beganMs;
      backMs.push({ fault, ms: Math.max(0, back) });
      const slowest = since.toSorted((a, b) => b.endMs - b.startMs - (a.endMs - a.startMs))[0];
      say(
        `${turn + 1}: ${fault} (${index}): over ${seconds(overMs - beganMs)}, settled ${seconds(settledMs - beganMs)}, p99 back ${seconds(Math.max(0, back))}; ` +
          `${since.length} answers, ${since.filter(({ kind }) => kind === 'retryable').length} retryable, ` +
          `slowest ${slowest === undefined ? '' : `${slowest.name} ${seconds(slowest.endMs - slowest.startMs)}`}`,
      );
      for (const { name, kind, detail } of since)
        if (kind !== 'right' && (kind !== 'retryable' || process.env['DOLMEN_KILLS_TALK'] !== undefined))
          say(`    ${kind} ${name}: ${detail}`);
    }
    await load.end();
    const bad = load.answers.filter(({ kind }) => kind !== 'right' && kind !== 'retryable');
    return { counts: load.counts(), bad, p99Ms, backMs };
  } finally {
    await cluster.stop();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Statements that run as tasks take the time of a task. */
const quick = (answers: readonly Answered[]): readonly Answered[] => answers.filter(({ name }) => name !== 'statement');

function quantile(answers: readonly Answered[], share: number): number {
  const sorted = answers.map(({ startMs, endMs }) => endMs - startMs).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** Time of the last answer that was slow or no answer, and with which more than one of the hundred that end with it were. */
function slowUntil(answers: readonly Answered[], slowMs: number): number {
  const sorted = quick(answers).toSorted((a, b) => a.endMs - b.endMs);
  const isSlow = sorted.map(({ startMs, endMs, kind }) => endMs - startMs > slowMs || kind !== 'right');
  for (let at = sorted.length - 1; at >= 0; at--)
    if (isSlow[at] && isSlow.slice(Math.max(0, at - ANSWERS_LOOKED_AT + 1), at + 1).filter((each) => each).length > 1)
      return sorted[at]?.endMs ?? 0;
  return 0;
}
