// Reads the `metricsSpec` of a task.

import { ServiceError } from '../../base/errors.js';
import type { ObjectReader } from '../../base/json-reader.js';
import { own } from '../../base/names.js';
import { stateOperations } from '../../execution/aggregate-state/operations.js';
import type { AggregateState } from '../../model/aggregate-state.js';
import type { Aggregator, VirtualColumn } from '../../model/aggregator.js';
import { renameFilter, renameVirtualColumn } from '../../model/rewrite/plan-names.js';
import { type ColumnType, TIME_COLUMN } from '../../model/schema.js';
import { stateTraits, stateType } from '../../model/state-traits.js';
import { QUERY_ONLY_AGGREGATORS } from '../../planner/native/aggregator/registry.js';
import { type ColumnPlan, columnPlan } from '../builder/run-buffer.js';
import { aggregatorOf } from './native-parts.js';

/** A field of the input, and the column that metrics read it from. `__time` is the time before it is cut to a bucket. */
interface MetricInput {
  readonly field: string;
  readonly column: ColumnPlan;
  /** The metric is made of it, so that schema discovery does not store it once more; a filter only looks at it. */
  readonly isConsumed: boolean;
}

/** An aggregator of `metricsSpec`: what of the input it reads, and how rows of a group become one value or state. */
export interface Metric {
  readonly name: string;
  /** Stored type: a number's, or that of an aggregate state. */
  readonly type: ColumnType;
  /** Reads `inputs` and virtual columns by their names; an aggregate state puts out its states. */
  readonly aggregator: Aggregator;
  readonly virtualColumns: readonly VirtualColumn[];
  readonly inputs: readonly MetricInput[];
  /** The metric where its field holds states of its own type; left out: it takes states already, or never. */
  readonly overStates?: Metric;
}

/** A query does not mind what it says; ingestion reads states where it is true. */
const INPUT_FLAGS: Readonly<Record<string, string>> = { hyperUnique: 'isInputHyperUnique' };

export function parseMetric(fields: ObjectReader): Metric {
  const innermost = innermostOf(fields);
  const type = innermost.string('type');
  if (QUERY_ONLY_AGGREGATORS.has(type)) throw innermost.invalid('type', `aggregator "${type}" is for queries only`);
  const { aggregator, virtualColumns } = aggregatorOf(fields);
  if (aggregator.kind === 'distinct') throw innermost.unsupported('type');
  if (aggregator.kind === 'state') {
    const flag = own(INPUT_FLAGS, type);
    const isInput = flag !== undefined && innermost.boolean(flag, false);
    if (isInput) return stateMetric({ ...aggregator, input: 'states' }, virtualColumns);
    const metric = stateMetric(aggregator, virtualColumns);
    const [field = ''] = aggregator.columns;
    const takesValues = metric.aggregator.kind === 'state' && metric.aggregator.input === 'values';
    if (!takesValues || virtualColumns.some(({ name }) => name === field)) return metric;
    return { ...metric, overStates: stateMetric({ ...aggregator, columns: [field], input: 'states' }, virtualColumns) };
  }
  return aggregator.filter === null && virtualColumns.length === 0 ? plainMetric(aggregator) : computedMetric(aggregator, virtualColumns);
}

/** The metric that adds up stored values or states of another one, as they lie under its name. */
export function combiningMetric({ name, type, aggregator }: Metric): Metric {
  const combined = joinedAggregator(aggregator);
  return {
    name,
    type,
    aggregator: combined,
    virtualColumns: [],
    inputs: [{ field: name, column: columnPlan(name, type), isConsumed: true }],
  };
}

/** An aggregator over its own results, which lie under its name. */
export function joinedAggregator(aggregator: Aggregator): Aggregator {
  const { name } = aggregator;
  switch (aggregator.kind) {
    case 'count':
      return { name, kind: 'sum', column: name, type: 'LONG', filter: null };
    case 'state':
      return { ...aggregator, columns: [name], input: 'states', filter: null };
    default:
      return { ...aggregator, column: name, filter: null };
  }
}

/** An aggregator below all filters. */
function innermostOf(fields: ObjectReader): ObjectReader {
  return fields.raw('type') === 'filtered' && fields.has('aggregator') ? innermostOf(fields.object('aggregator')) : fields;
}

type NumberAggregator = Exclude<Aggregator, { kind: 'state' | 'distinct' }>;
type StateAggregator = Extract<Aggregator, { kind: 'state' }>;

/** A metric whose input has its name and type, so that without rollup it is stored as it comes. */
function plainMetric(aggregator: NumberAggregator): Metric {
  const { name } = aggregator;
  if (aggregator.kind === 'count') return { name, type: 'LONG', aggregator, virtualColumns: [], inputs: [] };
  const { type, column: field } = aggregator;
  const input: MetricInput = { field, column: columnPlan(name, type), isConsumed: true };
  return { name, type, aggregator: { ...aggregator, column: name }, virtualColumns: [], inputs: [input] };
}

function computedMetric(given: NumberAggregator, computed: readonly VirtualColumn[]): Metric {
  const reading = new Reading(given.name, computed);
  const aggregator = reading.aggregator(given);
  const type = given.kind === 'count' ? 'LONG' : given.type;
  return { name: given.name, type, aggregator, virtualColumns: reading.virtualColumns(), inputs: reading.inputs() };
}

function stateMetric(given: StateAggregator, computed: readonly VirtualColumn[]): Metric {
  const reading = new Reading(given.name, computed);
  const type = stateType(given.aggregateState);
  const [first = '', ...others] = given.columns;
  const isMixed = takesBoth(given);
  const isState = given.input === 'states' && !isMixed;
  const aggregator: StateAggregator = {
    ...reading.aggregator(given),
    columns: isState ? [reading.states(first, given.aggregateState)] : [first, ...others].map((column) => reading.column(column)),
    input: isState ? 'states' : isMixed ? 'mixed' : 'values',
    output: 'state',
  };
  return { name: given.name, type, aggregator, virtualColumns: reading.virtualColumns(), inputs: reading.inputs() };
}

/** Whether the input field may hold numbers and states, as documentation says of it. */
function takesBoth({ aggregateState, input }: StateAggregator): boolean {
  const { mixedInput } = stateTraits(aggregateState);
  return mixedInput === 'everywhere' || (mixedInput === 'merged' && input === 'states');
}

/** The fields that one metric reads, as columns of their own, and its virtual columns, under names no field has. */
class Reading {
  readonly #found = new Map<string, MetricInput>();
  readonly #computed: readonly VirtualColumn[];
  readonly #virtual: ReadonlyMap<string, string>;

  constructor(metric: string, computed: readonly VirtualColumn[]) {
    this.#computed = computed;
    this.#virtual = new Map(computed.map(({ name }) => [name, hidden(`${metric}: ${name}`)]));
  }

  /**
   * A field whose values decide its type; metrics share it.
   * @param isConsumed  no filter alone reads it
   */
  readonly column = (field: string, isConsumed = true): string => {
    const virtual = this.#virtual.get(field);
    if (virtual !== undefined) return virtual;
    const name = hidden(field);
    const column = columnPlan(name, field === TIME_COLUMN ? 'LONG' : 'AUTO_MULTI_VALUE');
    this.#found.set(name, { field, column, isConsumed: isConsumed || this.#found.get(name)?.isConsumed === true });
    return name;
  };

  /** A field of states; other values do not fit. */
  states(field: string, aggregateState: AggregateState): string {
    const type = stateType(aggregateState);
    const name = hidden(`${type} ${field}`);
    const column = { ...columnPlan(name, type), read: (value: unknown) => stateText(value, aggregateState) };
    this.#found.set(name, { field, column, isConsumed: true });
    return name;
  }

  /** The aggregator with its filter and column renamed; the columns of an aggregate state are left to the caller. */
  aggregator<Kind extends NumberAggregator | StateAggregator>(given: Kind): Kind {
    const filter = given.filter === null ? null : renameFilter(given.filter, (field) => this.column(field, false));
    return 'column' in given ? { ...given, filter, column: this.column(given.column) } : { ...given, filter };
  }

  virtualColumns(): readonly VirtualColumn[] {
    return this.#computed.map((column) => renameVirtualColumn(column, (name) => this.column(name)));
  }

  inputs(): readonly MetricInput[] {
    return [...this.#found.values()];
  }
}

const NO_COLUMN = '\u0000';

function hidden(name: string): string {
  return `${NO_COLUMN}${name}`;
}

function stateText(value: unknown, aggregateState: AggregateState): string | null | undefined {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value !== 'string') return undefined;
  try {
    stateOperations(aggregateState).decode(value);
    return value;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
