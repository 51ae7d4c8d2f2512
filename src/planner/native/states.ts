import { ServiceError } from '../../base/errors.js';
import type { Aggregator } from '../../model/aggregator.js';
import type { Collector } from '../../model/collector.js';
import { stateColumn } from '../../model/collector.js';
import type { Expression } from '../../model/expression.js';

type Collect = Extract<Aggregator, { kind: 'collect' }>;

/** The states that post-aggregators read beside the values of aggregators. */
export class States {
  readonly #aggregators: readonly Aggregator[];
  readonly #wanted = new Set<string>();

  constructor(aggregators: readonly Aggregator[]) {
    this.#aggregators = aggregators;
  }

  /**
   * The state of an aggregator of one of these kinds, as text.
   * @param path  where the name stands
   */
  read<Type extends Collector['type']>(
    name: string,
    types: readonly Type[],
    path: string,
  ): { readonly collector: Extract<Collector, { type: Type }>; readonly expression: Expression } {
    const found = this.#collect(name);
    const type = types.find((each) => each === found?.collector.type);
    if (found === undefined || type === undefined)
      throw new ServiceError('query_invalid', `${path}: expected the name of an aggregator of kind ${types.join(' or ')}, found "${name}"`);
    this.#wanted.add(name);
    const column = found.output === 'state' ? name : stateColumn(name);
    return { collector: found.collector as Extract<Collector, { type: Type }>, expression: { kind: 'column', name: column } };
  }

  /** Whether a name stands for a state that has no use as a value before it is finished. */
  isUnfinished(name: string): boolean {
    const found = this.#collect(name);
    return found !== undefined && found.collector.type !== 'first' && found.collector.type !== 'last' && found.output !== 'state';
  }

  /** The aggregators, those whose state is read putting it out. */
  aggregators(): Aggregator[] {
    return this.#aggregators.map((each) =>
      each.kind === 'collect' && each.output === 'value' && this.#wanted.has(each.name) ? { ...each, output: 'both' } : each,
    );
  }

  #collect(name: string): Collect | undefined {
    return this.#aggregators.find((each): each is Aggregator & Collect => each.kind === 'collect' && each.name === name);
  }
}
