// Dimensions that are numbers parsed from strings: grouped as strings, turned into numbers afterwards.

import { stateColumn } from '../model/aggregate-state.js';
import type { Aggregator } from '../model/aggregator.js';
import type { GroupKey, PostStep } from '../model/plan.js';
import type { DimensionSpec } from '../model/query.js';
import { stringsColumn } from './inner-names.js';

/** Key of a dimension: numbers that strings hold are grouped by the strings under another name, and the plan's first steps compute them. */
export function dimensionKey({ column, name, type, isParsed }: DimensionSpec): GroupKey {
  return isParsed === true ? { kind: 'column', name: stringsColumn(name), column, type: 'STRING' } : { kind: 'column', name, column, type };
}

export function parsedDimensions(dimensions: readonly DimensionSpec[]): PostStep[] {
  return dimensions.flatMap(({ name, type, isParsed }): PostStep[] => {
    if (isParsed !== true) return [];
    const strings = { kind: 'column', name: stringsColumn(name) } as const;
    const wanted = { kind: 'literal', type: 'STRING', value: type } as const;
    return [{ step: 'compute', name, type, expression: { kind: 'call', function: 'cast', arguments: [strings, wanted] } }];
  });
}

/** The columns of a group plan that are outputs, for its last step where others were computed on the way. */
export function outputsOnly(
  keys: readonly GroupKey[],
  dimensions: readonly DimensionSpec[],
  aggregators: readonly Aggregator[],
  computed: readonly { readonly name: string }[],
): PostStep {
  const names = [
    ...keys.flatMap((key) => (key.kind === 'time' ? [key.name] : [])),
    ...dimensions.map(({ name }) => name),
    ...aggregators.flatMap((each) => (each.kind === 'state' && each.output === 'both' ? [each.name, stateColumn(each.name)] : [each.name])),
    ...computed.map(({ name }) => name),
  ];
  return { step: 'project', columns: names.map((name) => ({ name, from: name })) };
}
