// Texts that the addresses of a subnet begin with, so that they can be looked for first.

import { containing, type LikePattern } from '../base/like-pattern.js';

/** Patterns of one number of the address; to look for more of them takes longer than it saves. */
const NUMBERS_MAX = 32;

/** LIKE patterns: every v4 address in the subnet, such as `10.2.0.0/15`, matches one of them. Undefined where its first number may be any. */
export function requiredAddresses(subnet: string): readonly LikePattern[] | undefined {
  const [, address = '', length = '32'] = /^([\d.]+)(?:\/(\d{1,2}))?$/.exec(subnet) ?? [];
  const numbers = address.split('.').map(Number);
  const bits = Number(length);
  if (numbers.length !== 4 || bits > 32) return undefined;
  const whole = Math.floor(bits / 8);
  const beginning = numbers.slice(0, whole);
  const pattern = (parts: readonly number[]): LikePattern =>
    parts.length === 4 ? [parts.join('.')] : containing('', `${parts.join('.')}.`);
  // The number that the subnet ends within has some of its bits free.
  const free = 2 ** (8 - (bits % 8));
  if (bits % 8 > 0 && free <= NUMBERS_MAX) {
    const first = (numbers[whole] ?? 0) & -free;
    return Array.from({ length: free }, (_, next) => pattern([...beginning, first + next]));
  }
  return whole === 0 ? undefined : [pattern(beginning)];
}
