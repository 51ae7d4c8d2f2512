import { stringifyJson } from '../../../src/base/json.js';
import type { Json } from '../case.js';
import type { Random } from '../random.js';
import { number } from './expressions.js';
import { filter } from './filters.js';
import { LONG_COLUMNS, NUMBER_COLUMNS, STRING_COLUMNS } from './parts.js';

const SIMPLE = [
  'longSum',
  'longMin',
  'longMax',
  'doubleSum',
  'doubleMin',
  'doubleMax',
  'floatSum',
  'floatMin',
  'floatMax',
  'longFirst',
  'longLast',
  'doubleFirst',
  'doubleLast',
  'floatFirst',
  'floatLast',
  'doubleAny',
  'longAny',
  'doubleMean',
] as const; // prettier-ignore

/** Strings that are not numbers have no mean, no first and no last, and NaN no place among extremes: docs/differences.md. */
function fieldsOf(type: string): readonly string[] {
  if (type.endsWith('Mean')) return ['n', 'x', 'id', 'missing'];
  // -0.0 and 0.0 come in any order.
  if (/First|Last/.test(type)) return ['n', 'l', 'ts', 'id', 'x', 'missing'];
  if (type.endsWith('Sum')) return ['n', 'x', 'id', 'k', 'missing', 'b'];
  return /Min|Max/.test(type) ? ['n', 'l', 'ts', 'id', 'x', 'k', 'b', 'missing'] : [...NUMBER_COLUMNS, 'missing'];
}

/** The column `x` holds moderate numbers: sums over the extremes of `d` depend on the order of rows. */
function aggregator(random: Random, name: string, groups: boolean): Json {
  const at = random.below(14);
  if (at < 2) return { type: 'count', name };
  if (at < 7) {
    const type = random.pick(SIMPLE.filter((one) => !one.endsWith('Any') && !(groups && one === 'doubleMean')));
    return { type, name, fieldName: random.pick(fieldsOf(type)) };
  }
  if (at === 7 && random.chance(0.3))
    return random.pick<Json>([
      // Few values, of which the sketches know the number exactly.
      { type: 'thetaSketch', name, fieldName: random.pick(['n', 'id', 'x']) },
      { type: 'HLLSketchBuild', name, fieldName: random.pick(['n', 'id']), round: true },
      { type: 'quantilesDoublesSketch', name, fieldName: random.pick(['n', 'id', 'x']) },
      { type: random.pick(['longFirst', 'longLast']), name, fieldName: 'id', timeColumn: '__time' },
    ]);
  if (at === 8) {
    const filtered = aggregator(random, name, false);
    // A mean may count nulls then: docs/differences.md.
    return stringifyJson(filtered).includes('doubleMean')
      ? filtered
      : { type: 'filtered', aggregator: filtered, filter: plainFilter(random) };
  }
  if (at === 9)
    return {
      type: random.pick(['stringFirst', 'stringLast']),
      name,
      fieldName: random.pick([...STRING_COLUMNS, 'n', 'x']),
      maxStringBytes: 1024,
    };
  if (at === 10 && groups)
    // Few values: the estimates of more are different ones.
    return { type: 'cardinality', name, fields: random.some<Json>(['k', 'n', 'mv'], 2), round: true };
  if (at === 11) {
    return {
      type: random.pick(['longSum', 'doubleSum', 'longMax', 'doubleMin']),
      name,
      ...number(random),
    };
  }
  if (at === 12 && groups) return { type: 'grouping', name, groupings: random.some<Json>(['d0', 'd1', 'k'], 2) };
  // Over buckets without rows the original has no result: docs/differences.md.
  if (!groups) return { type: 'count', name };
  return {
    type: 'expression',
    name,
    fields: [random.pick(LONG_COLUMNS)],
    initialValue: '0',
    fold: '__acc + 1',
    combine: `__acc + ${name}`,
  };
}

/** Not a negation, which may be true for null there: docs/differences.md. */
function plainFilter(random: Random): Json {
  for (;;) {
    const found = filter(random, 1);
    const text = stringifyJson(found);
    if (!/"(not|isfalse)"/.test(text)) return found;
  }
}

/** Types whose state is the number that they show. */
const NUMERIC = new Set<string>(['count', ...SIMPLE.filter((type) => type !== 'doubleMean')]);

function postAggregator(random: Random, name: string, inputs: readonly string[], depth = 1): Json {
  const field = (): Json => {
    const at = random.below(depth > 0 ? 6 : 4);
    if (at < 2 && inputs.length > 0)
      return { type: random.pick(['fieldAccess', 'finalizingFieldAccess']), name: 'p', fieldName: random.pick(inputs) };
    if (at < 4) return { type: 'constant', name: 'c', value: random.pick([0, 1, 2.5, -3, 100]) };
    return postAggregator(random, 'q', inputs, depth - 1);
  };
  const at = random.below(8);
  if (at < 4)
    return {
      type: 'arithmetic',
      name,
      fn: random.pick(['+', '-', '*', '/', 'quotient', 'pow']),
      fields: random.list(2, 3, field),
      ...(random.chance(0.1) ? { ordering: 'numericFirst' } : {}),
    };
  if (at < 5)
    return { type: random.pick(['doubleGreatest', 'doubleLeast', 'longGreatest', 'longLeast']), name, fields: random.list(1, 3, field) };
  if (at < 7)
    return {
      type: 'expression',
      name,
      expression: random.pick(
        inputs.length > 0
          ? [
              `${inputs[0]} * 2`,
              `nvl(${inputs[0]}, -1)`,
              `if(${inputs.at(-1)} > 1, 'big', 'small')`,
              `${inputs[0]} / 0`,
              `concat(${inputs[0]}, 'x')`,
            ]
          : ['1 + 1', "'x'"],
      ),
    };
  return { type: 'constant', name, value: random.pick([1, 2.5]) };
}

/** Aggregators `a0`…, and post-aggregators `p0`… over those that give numbers. */
export function aggregations(
  random: Random,
  groups = false,
): {
  readonly aggregations: Json;
  readonly postAggregations: Json;
  readonly numeric: readonly string[];
  readonly all: readonly string[];
} {
  const list = Array.from({ length: random.below(4) }, (_, at) => aggregator(random, `a${at}`, groups));
  const numeric = list.filter((one) => NUMERIC.has((one as { type: string }).type)).map((one) => (one as { name: string }).name);
  const posts = Array.from({ length: random.chance(0.4) ? 1 + random.below(2) : 0 }, (_, at) => postAggregator(random, `p${at}`, numeric));
  const all = [...list.map((_, at) => `a${at}`), ...posts.map((_, at) => `p${at}`)];
  return { aggregations: list, postAggregations: posts, numeric, all };
}
