import type { Answer, Difference, DifferentialCase, Generator, Mute } from './case.js';
import { findDifference } from './compare.js';
import { findUnmuted, muteOf } from './mutes.js';
import { Random } from './random.js';
import type { Servers } from './servers.js';

/** Differences of one class: the smallest example, and how many cases fell into it. */
interface DifferenceGroup {
  readonly name: string;
  readonly count: number;
  readonly smallest: Difference;
}

export interface Comparison {
  readonly cases: number;
  /** Cases that both answered with rows: how much was really compared. */
  readonly answered: number;
  /** Cases to which the original gave no answer in time. */
  readonly unanswered: readonly DifferentialCase[];
  readonly groups: readonly DifferenceGroup[];
  /** Counts of the differences that each rule of `mutes.ts` allowed. */
  readonly allowed: ReadonlyMap<string, number>;
}

const PARALLEL = 4;
const SHRINK_TRIES = 150;

/**
 * Compares `cases` generated cases. Each has a random source of its own, seeded by its number, so that any one can be made
 * again alone and a longer run begins with the same cases as a shorter one.
 * @param options.shrinks  how many differences are made small; later ones are grouped as they are
 */
export async function compareCases(
  servers: Servers,
  generator: Generator,
  options: {
    readonly cases: number;
    readonly seed: number;
    readonly shrinks: number;
    readonly progress?: (done: number) => void;
    /** Rules that allow differences; left out: those to the original. */
    readonly mutes?: readonly Mute[];
  },
): Promise<Comparison> {
  const groups = new Map<string, { count: number; smallest: Difference }>();
  let [next, answered, shrinks] = [0, 0, 0];
  const unanswered: DifferentialCase[] = [];
  const allowed = new Map<string, number>();
  const lane = async (): Promise<void> => {
    for (let at = next++; at < options.cases; at = next++) {
      const one = generator(new Random(Math.imul(options.seed, 0x9e3779b1) + Math.imul(at + 1, 0x85ebca6b)));
      const { difference, allowedBy, answers } = await compareOne(servers, one, options.mutes);
      if (allowedBy !== undefined) allowed.set(allowedBy, (allowed.get(allowedBy) ?? 0) + 1);
      if (answers.every(({ state }) => state === 'rows')) answered++;
      if (answers.some(({ state }) => state === 'unanswered')) unanswered.push(one);
      options.progress?.(at + 1);
      if (difference === undefined) continue;
      const small = shrinks++ < options.shrinks ? await shrink(servers, difference, options.mutes) : difference;
      const name = nameOf(small);
      const group = groups.get(name);
      if (group === undefined) groups.set(name, { count: 1, smallest: small });
      else {
        group.count++;
        if (sizeOf(small) < sizeOf(group.smallest)) group.smallest = small;
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, lane));
  const found = [...groups].map(([name, { count, smallest }]) => ({ name, count, smallest }));
  return { cases: options.cases, answered, unanswered, allowed, groups: found.sort((left, right) => right.count - left.count) };
}

async function compareOne(
  servers: Servers,
  one: DifferentialCase,
  mutes?: readonly Mute[],
): Promise<{ readonly difference?: Difference; readonly allowedBy?: string; readonly answers: readonly Answer[] }> {
  const [dolmen, original] = await Promise.all([servers.askDolmen(one), servers.askOriginal(one)]);
  const answers = [dolmen, original];
  const first = findDifference(one, dolmen, original);
  if (first === undefined) return { answers };
  const found = { case: one, dolmen, original, where: first };
  const where = findUnmuted(found, mutes);
  return where === undefined ? { allowedBy: muteOf(found), answers } : { difference: { ...found, where }, answers };
}

/** Takes the first smaller case that differs in the same way, again and again. */
async function shrink(servers: Servers, found: Difference, mutes?: readonly Mute[]): Promise<Difference> {
  let smallest = found;
  let tries = 0;
  for (let shrunk = true; shrunk && tries < SHRINK_TRIES; ) {
    shrunk = false;
    for (const smaller of smallest.case.shrink()) {
      if (tries++ >= SHRINK_TRIES) break;
      const { difference } = await compareOne(servers, smaller, mutes);
      if (difference === undefined || wayOf(difference) !== wayOf(found)) continue;
      smallest = difference;
      shrunk = true;
      break;
    }
  }
  return smallest;
}

/** In which way both part; a refusal counts as the same by its first words. */
function wayOf(difference: Difference): string {
  const states = `${difference.dolmen.state} | ${difference.original.state}`;
  const refusal = [difference.dolmen, difference.original].find((answer) => answer.state !== 'rows');
  return refusal === undefined ? states : `${states}: ${messageOf(refusal.message)}`;
}

/** A message without the names and values of one case. */
function messageOf(message: string): string {
  const found = /"(?:errorMessage|error)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(
    /"errorMessage"/.test(message) ? message.replace(/"error"/g, '"_"') : message,
  );
  return (found?.[1] ?? message)
    .replace(/\[\d+\]/g, '')
    .replace(/\\?["'`[(<].*$/s, '')
    .replace(/\d+/g, 'N')
    .slice(0, 60);
}

function nameOf(difference: Difference): string {
  return `${wayOf(difference)} [${[...new Set(difference.case.tags)].sort().join(' ')}]`;
}

function sizeOf(difference: Difference): number {
  return JSON.stringify(difference.case.request, (_, item) => (typeof item === 'bigint' ? String(item) : item)).length;
}
