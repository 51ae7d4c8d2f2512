// States in post-aggregators, as expressions.

import { ServiceError } from '../../../base/errors.js';
import { type AggregateState, stateColumn } from '../../../model/aggregate-state.js';
import type { Aggregator } from '../../../model/aggregator.js';
import type { Expression } from '../../../model/expression.js';
import { stateTraits } from '../../../model/state-traits.js';

type StateAggregator = Extract<Aggregator, { kind: 'state' }>;

/** A state, as an expression that gives its text. */
interface State<Of extends AggregateState> {
  readonly state: Of;
  readonly expression: Expression;
}

/** The states that post-aggregators read beside the values of aggregators, and those that they make. */
export class States {
  readonly #aggregators: readonly Aggregator[];
  readonly #collects: ReadonlyMap<string, StateAggregator>;
  readonly #wanted = new Set<string>();
  readonly #made = new Map<string, AggregateState>();

  constructor(aggregators: readonly Aggregator[]) {
    this.#aggregators = aggregators;
    this.#collects = new Map(aggregators.flatMap((each) => (each.kind === 'state' ? [[each.name, each] as const] : [])));
  }

  /** Declares that a post-aggregator of this name returns a state. */
  define(name: string, state: AggregateState): void {
    this.#made.set(name, state);
  }

  /** The state that a name stands for: of an aggregator, or made by an earlier post-aggregator. First and last are values. */
  find(name: string): State<AggregateState> | undefined {
    const made = this.#made.get(name);
    if (made !== undefined) return { state: made, expression: { kind: 'column', name } };
    const found = this.#collects.get(name);
    if (found === undefined || !stateTraits(found.aggregateState).named) return undefined;
    this.#wanted.add(name);
    return { state: found.aggregateState, expression: { kind: 'column', name: found.output === 'state' ? name : stateColumn(name) } };
  }

  /**
   * The state of one of these kinds that a name stands for.
   * @param path  where the name stands
   */
  read<Type extends AggregateState['type']>(
    name: string,
    types: readonly Type[],
    path: string,
  ): { readonly aggregateState: Extract<AggregateState, { type: Type }>; readonly expression: Expression } {
    const found = this.find(name);
    if (found === undefined || !types.some((each) => each === found.state.type))
      throw new ServiceError('query_invalid', `${path}: expected the name of an aggregator of kind ${types.join(' or ')}, found "${name}"`);
    return { aggregateState: found.state as Extract<AggregateState, { type: Type }>, expression: found.expression };
  }

  /** The aggregators, those whose state is read putting it out. */
  aggregators(): Aggregator[] {
    return this.#aggregators.map((each) =>
      each.kind === 'state' && each.output === 'value' && this.#wanted.has(each.name) ? { ...each, output: 'both' } : each,
    );
  }
}
