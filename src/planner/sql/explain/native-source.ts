// Writes the source of a plan as a native `dataSource`.

import { ETERNITY } from '../../../base/instant.js';
import { expressionType } from '../../../expression/expression-type.js';
import { plainData, valueOfText } from '../../../expression/value.js';
import type { VirtualColumn } from '../../../model/aggregator.js';
import { columnsOfExpression, columnsOfFilter } from '../../../model/columns-read.js';
import { call, type Expression } from '../../../model/expression.js';
import { cellAt, type Frame, frameColumnType } from '../../../model/frame.js';
import type { GroupPlan } from '../../../model/plan.js';
import { renameExpression, renameStep } from '../../../model/rewrite/plan-names.js';
import type { JoinSource, RowSource, RowsPlan } from '../../../model/row-source.js';
import { type Json, nativeFilter, none, printed, virtualColumn } from './native-parts.js';

/** Output of a plan: the native query's column `from`, called `name`. */
export interface Output {
  readonly name: string;
  readonly from: string;
}

/** A plan as a native query. */
export type NativeQuery = (plan: RowsPlan, source: RowSource) => { readonly query: Json; readonly outputs: readonly Output[] };

/**
 * The native datasource that a plan reads.
 * @param nativeQuery  makes the queries inside
 */
export function nativeSource(source: RowSource, nativeQuery: NativeQuery): Json {
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
      return subquery(source.plan, source.source, nativeQuery);
    case 'union':
      return { type: 'union', dataSources: source.sources.map((each) => nativeSource(each, nativeQuery)) };
    case 'filtered':
      return { type: 'filter', base: nativeSource(source.source, nativeQuery), filter: nativeFilter(source.filter) };
    case 'unnest':
      return { type: 'unnest', base: nativeSource(source.source, nativeQuery), virtualColumn: virtualColumn(source.column) };
    case 'join':
      return joinSource(source, nativeQuery);
  }
}

/** The columns of a subquery are read by name: those that the plan renames get their names at once. */
function subquery(plan: RowsPlan, source: RowSource, nativeQuery: NativeQuery): Json {
  const last = plan.post.at(-1);
  if (last?.step !== 'project' || last.columns.every(({ name, from }) => name === from))
    return { type: 'query', query: nativeQuery(plan, source).query };
  if (plan.operator !== 'group') return { type: 'query', query: renamedScan(plan, source, last.columns, nativeQuery) };
  const renames = new Map(last.columns.map(({ name, from }) => [from, name]));
  if (renames.size < last.columns.length) return none('a column of a subquery under two names');
  const rename = (name: string): string => renames.get(name) ?? name;
  const steps = plan.post.slice(0, -1).map((step) => renameStep(step, rename));
  const keys = plan.keys.map((key) => ({ ...key, name: rename(key.name) }));
  const aggregators = plan.aggregators.map((each) => ({ ...each, name: rename(each.name) }));
  const names = [...keys, ...aggregators, ...steps.flatMap((step) => (step.step === 'compute' ? [step] : []))].map(({ name }) => name);
  if (new Set(names).size < names.length) return none('columns of a subquery that take names of others');
  return { type: 'query', query: nativeQuery({ ...plan, keys, aggregators, post: steps }, source).query };
}

/** A scan computes the columns it renames, under names that nothing else has. */
function renamedScan(plan: RowsPlan, source: RowSource, outputs: readonly Output[], nativeQuery: NativeQuery): Json {
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
  return nativeQuery({ ...plan, virtualColumns, columns, post: plan.post.slice(0, -1) }, source).query;
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
    ...{ operator: 'group', dataSource: '', intervals: [ETERNITY], filter: null, virtualColumns: [], emptyGroup: false, post: [] },
    keys: known.map(({ name, type }) => ({ kind: 'column', name, column: name, type })),
    aggregators: [],
  };
  const right: RowSource = { kind: 'query', plan, source: join.right };
  return { ...join, condition, type: 'inner', right, rightColumns: known };
}

function joinSource(join: JoinSource, nativeQuery: NativeQuery): Json {
  const { left, right, prefix, type, keys, condition, leftColumns, rightColumns } = join;
  if (type === 'semi') return joinSource(withDistinctPartners(join), nativeQuery);
  if (type === 'anti' || type === 'mark') return none(`${type} joins`);
  const typesOf = (columns: JoinSource['leftColumns']) => new Map(columns.map((each) => [each.name, each.type]));
  const [leftTypes, rightTypes] = [typesOf(leftColumns), typesOf(rightColumns)];
  const parts = keys.map((key): Expression => {
    const types = [expressionType(key.left, (name) => leftTypes.get(name)), expressionType(key.right, (name) => rightTypes.get(name))];
    if (key.type !== (types[0] === types[1] ? types[0] : 'DOUBLE'))
      return none(`a join that compares ${types.join(' and ')} as ${key.type}`);
    const right = renameExpression(key.right, (name) => prefix + name);
    return call(key.nullsMeet === true ? 'notdistinctfrom' : '==', key.left, right);
  });
  const [first, ...others] = condition === null ? parts : [...parts, condition];
  const whole = first && others.reduce<Expression>((all, part) => call('&&', all, part), first);
  return {
    type: 'join',
    left: nativeSource(left, nativeQuery),
    right: nativeSource(right, nativeQuery),
    rightPrefix: prefix,
    condition: whole === undefined ? '1' : printed(whole),
    joinType: type.toUpperCase(),
  };
}
