import { randomSource } from '../data/random.js';
import { channelName, cityName, countryName, userName } from '../data/wiki.js';

/** Kinds of panels, from those that read little to those that read much. */
export const CLASSES = ['light', 'medium', 'heavy'] as const;

type PanelClass = (typeof CLASSES)[number];

/** A panel's statement; the same for both engines but for the floor of a time. */
export interface Panel {
  readonly kind: string;
  readonly class: PanelClass;
  readonly sql: string;
  readonly duckdb: string;
  /** Places of the columns of ORDER BY. */
  readonly orderedBy: readonly number[];
}

interface Kind {
  readonly kind: string;
  readonly class: PanelClass;
  /** Panels of a hundred. */
  readonly share: number;
  readonly orderedBy: readonly number[];
  draw(dice: Dice): string;
}

/** Draws the parts of a statement. */
interface Dice {
  below(count: number): number;
  of<Item>(items: readonly Item[]): Item;
  /** A condition of a window of so many days. */
  days(count: number): string;
}

const START = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const SUMS = ['added', 'deleted', 'delta', 'price', 'score'];
const timestamp = (ms: number): string => `TIMESTAMP '${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}'`;
const channel = ({ below }: Dice): string => `channel = '${channelName(below(10))}'`;
const country = ({ below }: Dice): string => `country = '${countryName(below(60))}'`;
const city = ({ below }: Dice): string => `city = '${cityName(below(400))}'`;
const user = ({ below }: Dice): string => `"user" = '${userName(below(500))}'`;

/** `floor('hour')` stands for the function of each engine. */
const KINDS: readonly Kind[] = [
  {
    kind: 'count of a day',
    class: 'light',
    share: 8,
    orderedBy: [],
    draw: (dice) => `SELECT COUNT(*), SUM(${dice.of(SUMS)}) FROM wiki WHERE ${dice.days(1)} AND ${channel(dice)}`,
  },
  {
    kind: 'hours of two days',
    class: 'light',
    share: 12,
    orderedBy: [0],
    draw: (dice) => `SELECT floor('hour'), COUNT(*), SUM(${dice.of(SUMS)}) FROM wiki WHERE ${dice.days(2)} GROUP BY 1 ORDER BY 1`,
  },
  {
    kind: 'one user',
    class: 'light',
    share: 8,
    orderedBy: [],
    draw: (dice) => `SELECT COUNT(*), SUM(added), MAX(delta) FROM wiki WHERE ${user(dice)}`,
  },
  {
    kind: 'newest rows',
    class: 'light',
    share: 8,
    orderedBy: [0],
    draw: (dice) => `SELECT __time, page, added FROM wiki WHERE ${channel(dice)} ORDER BY __time DESC LIMIT ${20 + dice.below(80)}`,
  },
  {
    kind: 'top of a week',
    class: 'light',
    share: 8,
    orderedBy: [1, 0],
    draw: (dice) =>
      `SELECT ${dice.of(['channel', 'country'])}, SUM(${dice.of(['added', 'deleted'])}) FROM wiki WHERE ${dice.days(7)} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 10`,
  },
  {
    kind: 'days of the month',
    class: 'medium',
    share: 8,
    orderedBy: [0],
    draw: (dice) =>
      `SELECT floor('day'), COUNT(*), SUM(${dice.of(SUMS)}), SUM(${dice.of(SUMS)}) FROM wiki WHERE ${dice.of([channel, country])(dice)} GROUP BY 1 ORDER BY 1`,
  },
  {
    kind: 'top of the month',
    class: 'medium',
    share: 10,
    orderedBy: [1, 0],
    draw: (dice) =>
      `SELECT ${dice.of(['city', 'country'])}, SUM(${dice.of(['added', 'deleted'])}), COUNT(*) FROM wiki WHERE ${channel(dice)} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${10 + dice.below(90)}`,
  },
  {
    kind: 'two keys',
    class: 'medium',
    share: 8,
    orderedBy: [0, 1],
    draw: (dice) =>
      `SELECT channel, country, COUNT(*), SUM(${dice.of(SUMS)}) FROM wiki WHERE ${dice.days(3 + dice.below(20))} GROUP BY 1, 2 ORDER BY 1, 2`,
  },
  {
    kind: 'several conditions',
    class: 'medium',
    share: 8,
    orderedBy: [],
    draw: (dice) =>
      `SELECT COUNT(*), SUM(price), AVG(score) FROM wiki WHERE (${channel(dice)} OR ${country(dice)}) AND added >= ${dice.below(100)} AND NOT (${city(dice)})`,
  },
  {
    kind: 'dearest rows',
    class: 'medium',
    share: 6,
    orderedBy: [0],
    draw: (dice) => `SELECT price, page FROM wiki WHERE ${country(dice)} ORDER BY 1 DESC, 2 LIMIT ${10 + dice.below(40)}`,
  },
  {
    kind: 'distinct users',
    class: 'heavy',
    share: 4,
    orderedBy: [0],
    draw: (dice) =>
      `SELECT ${dice.of(['channel', 'isRobot'])}, COUNT(DISTINCT "user") FROM wiki WHERE ${dice.days(10 + dice.below(21))} GROUP BY 1 ORDER BY 1`,
  },
  {
    kind: 'search',
    class: 'heavy',
    share: 4,
    orderedBy: [],
    draw: (dice) =>
      `SELECT COUNT(*), SUM(added) FROM wiki WHERE page LIKE '%${dice.of(['moon', 'opal', 'fjord', 'cedar'])} ${dice.below(1000)}%'`,
  },
  {
    kind: 'top pages',
    class: 'heavy',
    share: 4,
    orderedBy: [1, 0],
    draw: (dice) =>
      `SELECT page, SUM(${dice.of(['added', 'deleted'])}) FROM wiki GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${10 + dice.below(90)}`,
  },
  {
    kind: 'users by channel',
    class: 'heavy',
    share: 4,
    orderedBy: [2, 0, 1],
    draw: (dice) =>
      `SELECT "user", channel, SUM(added) FROM wiki WHERE ${dice.days(20 + dice.below(11))} GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 50`,
  },
];

/** So many different panels, each kind by its share; the same seed draws the same. */
export function drawPanels(count: number, seed: number): readonly Panel[] {
  const random = randomSource(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const dice: Dice = {
    below,
    of: (items) => items[below(items.length)] as (typeof items)[number],
    days(length) {
      const from = START + below((31 - length) * 24 + 1) * (DAY_MS / 24);
      return `__time >= ${timestamp(from)} AND __time < ${timestamp(from + length * DAY_MS)}`;
    },
  };
  const kinds = KINDS.flatMap((kind) => Array.from({ length: kind.share }, () => kind));
  const panels = new Map<string, Panel>();
  for (let at = 0; panels.size < count; at++) {
    const { kind, class: weight, orderedBy, draw } = kinds[(at * 37) % kinds.length] as Kind;
    const text = draw(dice);
    const sql = text.replace(/floor\('(\w+)'\)/, (_, unit: string) => `FLOOR(__time TO ${unit.toUpperCase()})`);
    const duckdb = text.replace(/floor\('(\w+)'\)/, `date_trunc('$1', __time)`);
    panels.set(sql, { kind, class: weight, sql, duckdb, orderedBy });
  }
  return [...panels.values()];
}
