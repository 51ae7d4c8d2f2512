import { formatInterval } from '../../base/interval.js';
import { expressionType } from '../../expression/expression-type.js';
import { printExpression } from '../../expression/print.js';
import { plainData, valueOfText } from '../../expression/value.js';
import type { Aggregator, VirtualColumn } from '../../model/aggregator.js';
import type { Expression } from '../../model/expression.js';
import type { Filter, FilterValue } from '../../model/filter.js';
import { cellAt, type Frame, frameColumnType } from '../../model/frame.js';
import type { Granularity } from '../../model/granularity.js';
import { ETERNITY } from '../../model/interval.js';
import type { FinishStep, GroupPlan, ScanPlan, SortKey } from '../../model/plan.js';
import { columnsOfExpression, columnsOfFilter, renameExpression, renameFilter } from '../../model/plan-names.js';
import type { JoinSource, RowSource, RowsPlan } from '../../model/row-source.js';
import { type ColumnType, isArrayType, isComplexType, isNumberType, TIME_COLUMN } from '../../model/schema.js';
import type { PlannedQuery, PlannedSource } from '../../model/statement.js';

type Json = Readonly<Record<string, unknown>>;

/** The native query that gives the rows of a plan, and which of its columns are those of the statement; or why there is none. */
export type NativeForm =
  | { readonly query: Json; readonly columns: readonly { readonly queryColumn: string; readonly outputColumn: string }[] }
  | { readonly none: string };

/** A native query has no words for what a plan does. */
class NoNativeForm extends Error {}

function none(what: string): never {
  throw new NoNativeForm(what);
}

/** A plan as the native query that `planner/native` reads as the same plan. */
export function nativeForm({ plan, source, columns }: PlannedQuery): NativeForm {
  try {
    const { query, outputs } = nativeQuery(plan, source);
    return {
      query,
      columns: outputs.map(({ from }, index) => ({ queryColumn: from, outputColumn: columns[index]?.name ?? from })),
    };
  } catch (error) {
    if (error instanceof NoNativeForm) return { none: error.message };
    throw error;
  }
}

/** What a plan puts out: `from`, a column of the native query, as `name`. */
interface Output {
  readonly name: string;
  readonly from: string;
}

function nativeQuery(plan: RowsPlan, source: PlannedSource): { readonly query: Json; readonly outputs: readonly Output[] } {
  if (plan.operator === 'timeBoundary') return none('a plan that reads the bounds of time');
  if (plan.stages !== undefined && plan.stages.length > 0) return none('stages');
  return plan.operator === 'scan' ? scanQuery(plan, source) : groupQuery(plan, source);
}

/** The finish steps in the order that a native query has them, whatever is computed late being computed early. */
interface Ending {
  readonly having: readonly Filter[];
  readonly computed: readonly Extract<FinishStep, { step: 'compute' }>[];
  readonly by: readonly SortKey[];
  readonly offset: number;
  readonly limit: number | null;
  readonly outputs: readonly Output[];
}

function endingOf(steps: readonly FinishStep[], produced: readonly string[]): Ending {
  const having: Filter[] = [];
  const computed: Extract<FinishStep, { step: 'compute' }>[] = [];
  let sort: Pick<Ending, 'by' | 'offset' | 'limit'> | null = null;
  let outputs: readonly Output[] | null = null;
  for (const step of steps) {
    if (outputs !== null) return none('steps behind the choice of columns');
    if (step.step === 'filter') {
      if (sort !== null) return none('a condition on rows that were ordered or limited');
      having.push(step.filter);
    } else if (step.step === 'compute') computed.push(step);
    else if (step.step === 'sort' || step.step === 'limit') {
      if (sort !== null) return none('a second order or limit');
      sort = { by: step.step === 'sort' ? step.by : [], offset: step.offset, limit: step.limit };
    } else if (step.step === 'project') outputs = step.columns;
    else return none(step.step === 'window' ? 'window functions' : `the step ${step.step}`);
  }
  const names = [...produced, ...computed.map(({ name }) => name)];
  const ending = {
    having,
    computed,
    ...(sort ?? { by: [], offset: 0, limit: null }),
    outputs: outputs ?? names.map((name) => ({ name, from: name })),
  };
  if (ending.limit === 0) return none('LIMIT 0');
  if (ending.by.some(({ descending, nulls }) => nulls !== (descending ? 'last' : 'first')))
    return none('nulls ordered as the highest values');
  return ending;
}

function scanQuery(plan: ScanPlan, source: PlannedSource): ReturnType<typeof nativeQuery> {
  const { having, computed, by, offset, limit, outputs } = endingOf(plan.finish, plan.columns);
  if (having.length > 0 || computed.length > 0) return none('values computed from rows of a scan');
  if (plan.columns.length === 0) return none('rows without columns');
  if (plan.limit === 0) return none('LIMIT 0');
  const sorted = by.map(({ column, descending }) => ({ columnName: column, order: descending ? 'descending' : 'ascending' }));
  return {
    query: {
      queryType: 'scan',
      ...leaf(plan, source),
      resultFormat: 'compactedList',
      columns: plan.columns,
      ...(plan.timeOrder === null ? {} : { order: plan.timeOrder }),
      ...(sorted.length === 0 ? {} : { orderBy: sorted }),
      ...limits(by.length > 0 ? offset : plan.offset + offset, by.length > 0 ? limit : smaller(plan.limit, limit)),
    },
    outputs,
  };
}

function smaller(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

function groupQuery(plan: GroupPlan, source: PlannedSource): ReturnType<typeof nativeQuery> {
  const { keys, aggregators } = plan;
  const { having, computed, by, offset, limit, outputs } = endingOf(
    plan.finish,
    [...keys, ...aggregators].map(({ name }) => name),
  );
  const times: VirtualColumn[] = [];
  const dimensions = keys.map((key) => {
    if (key.kind === 'column') return { type: 'default', dimension: key.column, outputName: key.name, outputType: outputType(key.type) };
    const time = `${key.name}:time`;
    times.push({ name: time, expression: flooredTime(key.granularity), outputType: 'LONG' });
    return { type: 'default', dimension: time, outputName: key.name, outputType: 'LONG' };
  });
  const aggregations = aggregators.map(aggregation);
  const postAggregations = computed.map(({ name, type, expression }) => ({
    type: 'expression',
    name,
    expression: printed(expression),
    ...(isNumberType(type) || type === 'STRING' ? { outputType: type } : {}),
  }));
  const common = {
    ...leaf({ ...plan, virtualColumns: [...plan.virtualColumns, ...times] }, source),
    granularity: { type: 'all' },
    aggregations,
    ...(postAggregations.length === 0 ? {} : { postAggregations }),
  };
  const isOneRow = keys.length === 0 && having.length === 0 && by.length === 0 && offset === 0 && limit === null;
  if (isOneRow) return { query: { queryType: 'timeseries', ...common }, outputs };
  const filter = having.length > 1 ? { type: 'and', fields: having.map(nativeFilter) } : having[0] && nativeFilter(having[0]);
  const columns = by.map(({ column, descending, ordering }) => ({
    dimension: column,
    direction: descending ? 'descending' : 'ascending',
    dimensionOrder: { type: ordering },
  }));
  const isLimited = columns.length > 0 || offset > 0 || limit !== null;
  return {
    query: {
      queryType: 'groupBy',
      ...common,
      dimensions,
      ...(filter === undefined ? {} : { having: { type: 'filter', filter } }),
      ...(isLimited ? { limitSpec: { type: 'default', columns, ...limits(offset, limit) } } : {}),
    },
    outputs,
  };
}

function outputType(type: ColumnType | null): ColumnType {
  if (type === null || isNumberType(type) || type === 'STRING' || isArrayType(type)) return type ?? 'STRING';
  return none(`groups by values of type ${type}`);
}

function limits(offset: number, limit: number | null): Json {
  return { ...(offset === 0 ? {} : { offset }), ...(limit === null ? {} : { limit }) };
}

function leaf(plan: Pick<RowsPlan, 'intervals' | 'filter' | 'virtualColumns'>, source: PlannedSource): Json {
  return {
    dataSource: nativeSource(source),
    intervals: { type: 'intervals', intervals: plan.intervals.map(formatInterval) },
    ...(plan.virtualColumns.length === 0 ? {} : { virtualColumns: plan.virtualColumns.map(virtualColumn) }),
    ...(plan.filter === null ? {} : { filter: nativeFilter(plan.filter) }),
  };
}

function virtualColumn({ name, expression, outputType: type, keeps }: VirtualColumn): Json {
  if (keeps !== undefined) return none('values of a row filtered one by one');
  return { type: 'expression', name, expression: printed(expression), ...(type === null ? {} : { outputType: type }) };
}

/** As a plan groups by the sorted time of a datasource. */
function flooredTime(granularity: Granularity): Expression {
  if (granularity.kind !== 'period') return none(`groups by a granularity of kind ${granularity.kind}`);
  const { period, timeZone, origin } = granularity;
  const literal = (type: 'STRING' | 'LONG', value: string | bigint | null): Expression => ({ kind: 'literal', type, value });
  return {
    kind: 'call',
    function: 'timestamp_floor',
    arguments: [
      { kind: 'column', name: TIME_COLUMN },
      literal('STRING', period),
      literal('LONG', origin === null ? null : BigInt(origin)),
      literal('STRING', timeZone),
    ],
  };
}

function aggregation(aggregator: Aggregator): Json {
  const { name, filter } = aggregator;
  const plain = plainAggregation(aggregator);
  return filter === null ? plain : { type: 'filtered', name, filter: nativeFilter(filter), aggregator: plain };
}

function plainAggregation(aggregator: Aggregator): Json {
  const { name } = aggregator;
  switch (aggregator.kind) {
    case 'count':
      return { type: 'count', name };
    case 'sum':
    case 'min':
    case 'max':
      return { type: `${aggregator.type.toLowerCase()}${capital(aggregator.kind)}`, name, fieldName: aggregator.column };
    case 'collect': {
      const { collector, columns, input, output } = aggregator;
      const [fieldName, timeColumn] = columns;
      const isPlain =
        (collector.type === 'first' || collector.type === 'last') && input === 'values' && output === 'value' && timeColumn !== undefined;
      if (!isPlain || !(isNumberType(collector.valueType) || collector.valueType === 'STRING') || collector.firstOnly === true)
        return none(`an aggregate of kind ${collector.type}`);
      const bytes = collector.valueType === 'STRING' ? { maxStringBytes: collector.maxStringBytes } : {};
      return { type: `${collector.valueType.toLowerCase()}${capital(collector.type)}`, name, fieldName, timeColumn, ...bytes };
    }
    default:
      return none('exact counts of distinct values and aggregates of distinct values');
  }
}

/** @throws NoNativeForm for a function that only plans of SQL call */
function printed(expression: Expression): string {
  refuseOwnFunctions(expression);
  return printExpression(expression);
}

function refuseOwnFunctions(expression: Expression): void {
  if (expression.kind === 'lambda') refuseOwnFunctions(expression.body);
  if (expression.kind !== 'call') return;
  if (expression.function.startsWith(':')) none(`the function ${expression.function.slice(1)} of SQL`);
  expression.arguments.forEach(refuseOwnFunctions);
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function nativeFilter(filter: Filter): Json {
  switch (filter.kind) {
    case 'true':
    case 'false':
      return { type: filter.kind };
    case 'and':
    case 'or':
      return { type: filter.kind, fields: filter.filters.map(nativeFilter) };
    case 'not':
      return { type: 'not', field: nativeFilter(filter.filter) };
    case 'null':
      return { type: 'null', column: filter.column };
    case 'equals':
      return { type: 'equals', column: filter.column, matchValueType: filter.type, matchValue: matchValue(filter.value, filter.type) };
    case 'in':
      if (filter.type === 'STRING' && filter.values.length > 0) return { type: 'in', dimension: filter.column, values: filter.values };
      if (filter.values.length === 0) return none('a condition of no values');
      return {
        type: 'or',
        fields: filter.values.map((value) => nativeFilter({ kind: 'equals', column: filter.column, type: filter.type, value })),
      };
    case 'range': {
      const { column, type, ordering, lower, upper, lowerStrict, upperStrict } = filter;
      if (ordering !== (isNumberType(type) ? 'numeric' : 'lexicographic')) return none(`the order ${ordering}`);
      const bounds = {
        ...(lower === null ? {} : { lower: matchValue(lower, type), lowerOpen: lowerStrict }),
        ...(upper === null ? {} : { upper: matchValue(upper, type), upperOpen: upperStrict }),
      };
      return { type: 'range', column, matchValueType: type, ...bounds };
    }
    case 'like':
      return {
        type: 'like',
        dimension: filter.column,
        pattern: filter.pattern,
        ...(filter.escape === null ? {} : { escape: filter.escape }),
      };
    case 'expression':
      return { type: 'expression', expression: printed(filter.expression) };
  }
}

function matchValue(value: FilterValue, type: ColumnType): unknown {
  if (isComplexType(type)) return none(`conditions on values of type ${type}`);
  return typeof value === 'string' && isArrayType(type) ? plainData(valueOfText(value, type)) : value;
}

function nativeSource(source: PlannedSource): Json {
  switch (source.kind) {
    case 'table':
      return { type: 'table', name: source.name };
    case 'inline':
      return inlineSource(source.frame);
    case 'lookup':
      return { type: 'lookup', lookup: source.name };
    case 'external': {
      const { inputSource, inputFormat, signature } = source;
      return { type: 'external', inputSource, inputFormat, signature };
    }
    case 'query':
      return subquery(source.plan, source.source);
    case 'union':
      return { type: 'union', dataSources: source.sources.map(nativeSource) };
    case 'filtered':
      return { type: 'filter', base: nativeSource(source.source), filter: nativeFilter(source.filter) };
    case 'unnest':
      return { type: 'unnest', base: nativeSource(source.source), virtualColumn: virtualColumn(source.column) };
    case 'join':
      return joinSource(source);
  }
}

/** The columns of a subquery are read by name: those that the plan renames get their names at once. */
function subquery(plan: RowsPlan, source: PlannedSource): Json {
  const last = plan.finish.at(-1);
  if (last?.step !== 'project' || last.columns.every(({ name, from }) => name === from))
    return { type: 'query', query: nativeQuery(plan, source).query };
  if (plan.operator !== 'group') return { type: 'query', query: renamedScan(plan, source, last.columns) };
  const renames = new Map(last.columns.map(({ name, from }) => [from, name]));
  if (renames.size < last.columns.length) return none('a column of a subquery under two names');
  const rename = (name: string): string => renames.get(name) ?? name;
  const steps = plan.finish.slice(0, -1).map((step): FinishStep => {
    switch (step.step) {
      case 'compute':
        return { ...step, name: rename(step.name), expression: renameExpression(step.expression, rename) };
      case 'filter':
        return { ...step, filter: renameFilter(step.filter, rename) };
      case 'sort':
        return { ...step, by: step.by.map((key) => ({ ...key, column: rename(key.column) })) };
      default:
        return step;
    }
  });
  const keys = plan.keys.map((key) => ({ ...key, name: rename(key.name) }));
  const aggregators = plan.aggregators.map((each) => ({ ...each, name: rename(each.name) }));
  const names = [...keys, ...aggregators, ...steps.flatMap((step) => (step.step === 'compute' ? [step] : []))].map(({ name }) => name);
  if (new Set(names).size < names.length) return none('columns of a subquery that take names of others');
  return { type: 'query', query: nativeQuery({ ...plan, keys, aggregators, finish: steps }, source).query };
}

/** What a scan renames it computes, which takes names that nothing else has. */
function renamedScan(plan: RowsPlan, source: PlannedSource, outputs: readonly Output[]): Json {
  if (plan.operator !== 'scan') return none('a plan that reads the bounds of time');
  const added = outputs.filter(({ name, from }) => name !== from);
  const read = [
    ...plan.virtualColumns.map(({ expression }) => columnsOfExpression(expression)),
    plan.filter === null ? new Set<string>() : columnsOfFilter(plan.filter),
  ];
  const taken = new Set([...plan.columns, ...plan.virtualColumns.map(({ name }) => name), ...read.flatMap((names) => [...names])]);
  if (added.some(({ name }) => taken.has(name))) return none('columns of a subquery that take names of others');
  const virtualColumns = [
    ...plan.virtualColumns,
    ...added.map(({ name, from }): VirtualColumn => ({ name, expression: { kind: 'column', name: from }, outputType: null })),
  ];
  const columns = [...new Set([...outputs.map(({ name }) => name), ...plan.columns])];
  return nativeQuery({ ...plan, virtualColumns, columns, finish: plan.finish.slice(0, -1) }, source).query;
}

function inlineSource(frame: Frame): Json {
  // A row without columns is still a row.
  if (frame.columns.length === 0)
    return { type: 'inline', columnNames: ['ZERO'], columnTypes: ['LONG'], rows: Array.from({ length: frame.rowCount }, () => [0]) };
  const types = frame.columns.map(frameColumnType);
  return {
    type: 'inline',
    columnNames: frame.columns.map(({ name }) => name),
    columnTypes: types,
    rows: Array.from({ length: frame.rowCount }, (_, row) =>
      frame.columns.map((column, index) => {
        const value = cellAt(column, row);
        const type = types[index] ?? 'STRING';
        return typeof value === 'string' && type !== 'STRING' ? plainData(valueOfText(value, type)) : value;
      }),
    ),
  };
}

/** A semi join keeps the rows that an inner join with the different keys of the right side gives. */
function withDistinctPartners({ condition, ...join }: JoinSource): JoinSource {
  const names = [...new Set(join.keys.flatMap(({ right }) => (right.kind === 'column' ? [right.name] : [])))];
  const types = new Map(join.rightColumns.map((each) => [each.name, each]));
  const known = names.flatMap((name) => types.get(name) ?? []);
  if (condition !== null || join.keys.length === 0 || known.length < join.keys.length)
    return none('semi joins by anything but columns that are equal');
  const plan: GroupPlan = {
    ...{ operator: 'group', dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], emptyGroup: false, finish: [] },
    keys: known.map(({ name, type }) => ({ kind: 'column', name, column: name, type })),
    aggregators: [],
  };
  const right: RowSource = { kind: 'query', plan, source: join.right };
  return { ...join, condition, type: 'inner', right, rightColumns: known };
}

function joinSource(join: JoinSource): Json {
  const { left, right, prefix, type, keys, condition, leftColumns, rightColumns } = join;
  if (type === 'semi') return joinSource(withDistinctPartners(join));
  if (type === 'anti' || type === 'mark') return none(`${type} joins`);
  const typesOf = (columns: JoinSource['leftColumns']) => new Map(columns.map((each) => [each.name, each.type]));
  const [leftTypes, rightTypes] = [typesOf(leftColumns), typesOf(rightColumns)];
  const parts = keys.map((key): Expression => {
    const types = [expressionType(key.left, (name) => leftTypes.get(name)), expressionType(key.right, (name) => rightTypes.get(name))];
    if (key.type !== (types[0] === types[1] ? types[0] : 'DOUBLE'))
      return none(`a join that compares ${types.join(' and ')} as ${key.type}`);
    return { kind: 'call', function: '==', arguments: [key.left, renameExpression(key.right, (name) => prefix + name)] };
  });
  const [first, ...others] = condition === null ? parts : [...parts, condition];
  const whole = first && others.reduce<Expression>((all, part) => ({ kind: 'call', function: '&&', arguments: [all, part] }), first);
  return {
    type: 'join',
    left: nativeSource(left),
    right: nativeSource(right),
    rightPrefix: prefix,
    condition: whole === undefined ? '1' : printed(whole),
    joinType: type.toUpperCase(),
  };
}
