import { randomSource } from '../data/random.js';

/** Uniform in [0, 1), as of `randomSource`. */
export type Random = () => number;

export const below = (random: Random, count: number): number => Math.floor(random() * count);

export function pick<T>(random: Random, list: readonly [T, ...T[]]): T {
  return list[below(random, list.length)] ?? list[0];
}

/** A rank below `count`; rank r is drawn about as often as 1 / (r + 1). */
export const zipf = (random: Random, count: number): number =>
  Math.min(count - 1, Math.floor(Math.exp(random() * Math.log(count + 1))) - 1);

const SYLLABLES = 'ba ce di fo gu ka le mi no pu ra se ti vo zu bren clar dron fell grim holt jasp kern lund marl nord'.split(' ');

/** A word for each number, of two to four syllables; equal numbers give equal words. */
export function wordOf(number: number): string {
  let rest = (Math.imul(number + 1, 0x9e3779b1) >>> 0) + number;
  let word = '';
  for (let count = 2 + (number % 3); count > 0; count--) {
    word += SYLLABLES[rest % SYLLABLES.length];
    rest = Math.floor(rest / SYLLABLES.length) + 7 * count;
  }
  return word;
}

/** Words of a vocabulary in which few are frequent, joined; most results are short, some very long. */
function wordsOf(random: Random, most: number, between: string): string {
  const count = 1 + Math.floor(random() ** 3 * most);
  return Array.from({ length: count }, () => wordOf(zipf(random, 20_000))).join(between);
}

export const hostOf = (rank: number): string => `${rank % 4 === 0 ? 'www.' : ''}${wordOf(rank)}-${wordOf(rank >> 2)}.example`;

/** The page of a rank: 30 to 400 characters, of a host that many pages share. */
export function urlOf(rank: number): string {
  const random = randomSource(rank * 2 + 1);
  const path = wordsOf(random, 14, '/');
  const query = random() < 0.4 ? `?q=${wordsOf(random, 12, '+')}&session=${Math.floor(random() * 1e9).toString(36)}` : '';
  return `https://${hostOf(zipf(random, 3000))}/${path}/${rank}${query}${random() < 0.1 ? `#${wordsOf(random, 2, '-')}` : ''}`;
}

export function titleOf(rank: number): string {
  const random = randomSource(rank * 2 + 2);
  const words = wordsOf(random, 18, ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} – ${wordOf(rank % 500)} ${rank}`;
}

export function phraseOf(rank: number): string {
  return `${wordsOf(randomSource(rank + 77), 7, ' ')} ${wordOf(rank)}`;
}

/** A program's name for itself: few are frequent, all are about 120 characters. */
export function agentOf(rank: number): string {
  const random = randomSource(rank + 7);
  const version = `${1 + below(random, 120)}.0.${below(random, 6000)}.${below(random, 200)}`;
  const system = pick(random, [
    'X11; Linux x86_64',
    'Windows NT 10.0; Win64; x64',
    'Macintosh; Intel Mac OS X 10_15_7',
    'Linux; Android 14; K',
  ]);
  return `Mozilla/5.0 (${system}) Engine/537.36 (like ${wordOf(rank % 9)}) ${wordOf(rank % 40)}/${version} Safari/${below(random, 700)}.${rank % 50}`;
}
