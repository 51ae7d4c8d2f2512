import type { Aggregator } from '../../model/aggregator.js';
import type { Collector } from '../../model/collector.js';
import { rewriteData } from '../../model/rewrite-data.js';
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
    if (aggregator.kind !== 'collect') return object;
    const { name, filter, collector, columns, input, output, type } = aggregator as Extract<Aggregator, { kind: 'collect' }>;
    if (collector.type !== 'moments' || collector.result !== 'mean' || input !== 'values' || output !== 'value') return object;
    return exact({ name, filter }, { type: 'exactSum', result: 'mean' }, columns[0] ?? '', type);
  });
}

function exact(common: Pick<Aggregator, 'name' | 'filter'>, collector: Collector, column: string, type: ColumnType): Aggregator {
  return { ...common, kind: 'collect', collector, columns: [column], input: 'values', output: 'value', type };
}
