// Plan rule: makes sums of doubles exact (decision 6).

import type { AggregateState } from '../../model/aggregate-state.js';
import type { Aggregator } from '../../model/aggregator.js';
import { rewriteData } from '../../model/rewrite/rewrite-data.js';
import type { ColumnType } from '../../model/schema.js';

/**
 * Plans and row sources with every sum and mean of doubles made an exact one, which no order of rows can change
 * (decision 6). Sums of longs are exact as they are.
 */
export function withExactSums<Data>(data: Data): Data {
  return rewriteData(data, (object) => {
    const aggregator = object as Partial<Aggregator>;
    if (aggregator.kind === 'sum' && (aggregator.type === 'DOUBLE' || aggregator.type === 'FLOAT')) {
      const { name, filter, column, type } = aggregator as Extract<Aggregator, { kind: 'sum' }>;
      return exact({ name, filter }, { type: 'exactSum', result: type === 'FLOAT' ? 'FLOAT' : 'DOUBLE' }, column, type);
    }
    if (aggregator.kind !== 'state') return object;
    const { name, filter, aggregateState, columns, input, output, type } = aggregator as Extract<Aggregator, { kind: 'state' }>;
    if (aggregateState.type !== 'moments' || aggregateState.result !== 'mean' || input !== 'values' || output !== 'value') return object;
    return exact({ name, filter }, { type: 'exactSum', result: 'mean' }, columns[0] ?? '', type);
  });
}

function exact(common: Pick<Aggregator, 'name' | 'filter'>, aggregateState: AggregateState, column: string, type: ColumnType): Aggregator {
  return { ...common, kind: 'state', aggregateState, columns: [column], input: 'values', output: 'value', type };
}
