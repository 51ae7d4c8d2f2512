import type { DifferentialCase } from '../case.js';
import type { Random } from '../random.js';

/** Statements over `nasty`. */
export function sqlCase(random: Random): DifferentialCase {
  const column = random.pick(['s', 'k', 'n', 'l', 'x']);
  return {
    kind: 'sql',
    request: { query: `SELECT "${column}", COUNT(*) FROM "nasty" GROUP BY 1` },
    tags: ['group'],
    order: 'bag',
    shrink: () => [],
  };
}
