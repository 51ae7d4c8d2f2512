// Reads the `dataSource` of a native query.

import { ServiceError } from '../../../base/errors.js';
import { ETERNITY } from '../../../base/instant.js';
import type { ObjectReader } from '../../../base/json-reader.js';
import { append } from '../../../base/lists.js';
import { expressionType } from '../../../expression/expression-type.js';
import { parseExpression } from '../../../expression/parse.js';
import { columnsOfExpression } from '../../../model/columns-read.js';
import { call, type Expression } from '../../../model/expression.js';
import type { Plan } from '../../../model/plan.js';
import type { Query } from '../../../model/query.js';
import { renameExpression } from '../../../model/rewrite/plan-names.js';
import type { JoinKey, JoinSource, RowSource } from '../../../model/row-source.js';
import { type ColumnSchema, type ColumnType, TIME_COLUMN } from '../../../model/schema.js';
import { type KnownTables, planQuery } from '../../plan.js';
import { rowSourceColumns, typesOf } from '../../row-source-columns.js';
import { sourceOfTable } from '../../table-access.js';
import { givenColumns } from '../column/column-types.js';
import { VirtualColumns } from '../column/columns.js';
import { readFilter } from '../filter/filter.js';
import { UNSUPPORTED_DATA_SOURCES } from '../names.js';
import { readByType, refuse } from '../reader.js';
import { puttingOutStates, unfinalized } from '../unfinalized.js';
import { readInline } from './inline-rows.js';
import type { ParsedQuery } from './parsed-query.js';
import { withTime } from './row-times.js';

/** Datasources inside of each other; nothing sensible comes near, and reading and running them takes stack. */
const DEPTH_MAX = 100;

/** Parts of the enclosing query that reading its datasources needs. */
export interface SourceReading {
  readonly tables: KnownTables;
  /** Nesting depth: number of datasources around the one being read. */
  readonly depth: number;
  /** Columns that the enclosing query may merge as states. */
  readonly merged: ReadonlySet<string>;
  parseQuery(reader: ObjectReader, depth: number): ParsedQuery;
}

/**
 * The `dataSource` of a query: a table's name, or an object of a type.
 * @throws ServiceError `query_invalid` or `unsupported`, naming the field
 */
export function readSource(value: unknown, path: string, reader: ObjectReader, reading: SourceReading): RowSource {
  if (reading.depth > DEPTH_MAX) throw new ServiceError('query_invalid', `dataSource: nested deeper than ${DEPTH_MAX} datasources`);
  if (typeof value === 'string') return table(value, path, reading);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refuse(path, 'the name of a datasource, or an object', value ?? undefined);
  const inner: SourceReading = { ...reading, depth: reading.depth + 1 };
  return readByType<RowSource>(
    reader.reader(value, path),
    {
      table: (source) => table(source.string('name'), source.at('name'), reading),
      inline: (source) => ({ kind: 'inline', frame: readInline(source) }),
      lookup: (source) => ({ kind: 'lookup', name: source.string('lookup') }),
      query: (source) => readSubquery(source, inner),
      union: (source) => readUnion(source, inner),
      filter: (source) => readFiltered(source, inner),
      unnest: (source) => readUnnest(source, inner),
      join: (source) => readJoin(source, inner),
    },
    UNSUPPORTED_DATA_SOURCES,
    'datasource',
  );
}

/** Name of a query's datasource: a table's name, otherwise the kind. */
export function sourceName(source: RowSource): string {
  return source.kind === 'table' ? source.name : source.kind;
}

/** The plans of a query over the rows of a source. Buckets end where segments do; other rows have none, and all are filled. */
export function planOver(query: Query, source: RowSource, tables: KnownTables): readonly Plan[] {
  const plans = planQuery(query, tablesOf(source, tables));
  if (isOfSegments(source)) return plans;
  return plans.map((plan) => (plan.operator === 'group' ? { ...plan, withinData: false } : plan));
}

function isOfSegments(source: RowSource): boolean {
  switch (source.kind) {
    case 'table':
      return true;
    case 'union':
      return source.sources.every(isOfSegments);
    case 'filtered':
    case 'unnest':
      return isOfSegments(source.source);
    case 'join':
      return isOfSegments(source.left);
    case 'inline':
    case 'lookup':
    case 'external':
    case 'query':
      return false;
  }
}

/** The tables as a query over a source sees them: its one datasource has the source's columns. */
export function tablesOf(source: RowSource, tables: KnownTables): KnownTables {
  if (source.kind === 'table') return tables;
  const columns = rowSourceColumns(source, tables);
  return { table: () => ({ columns, interval: ETERNITY }) };
}

function table(name: string, path: string, { tables }: SourceReading): RowSource {
  return name === '' ? refuse(path, 'the name of a datasource', name) : sourceOfTable(name, tables.table(name));
}

function field(source: ObjectReader, key: string, reading: SourceReading): RowSource {
  return readSource(source.raw(key), source.at(key), source, reading);
}

/** Reads an inner query. Only context keys that shape its rows count; timeout, priority and the like are the outer query's. */
function readSubquery(reader: ObjectReader, reading: SourceReading): RowSource {
  const { query, source, context } = reading.parseQuery(reader.object('query'), reading.depth);
  if (!['timeseries', 'topN', 'groupBy', 'scan'].includes(query.queryType))
    throw new ServiceError('unsupported', `${reader.at('query.queryType')}: a ${query.queryType} query as a datasource is not supported`);
  const [finished, second] = planOver(query, source, reading.tables);
  const plan = finished === undefined ? undefined : withStates(finished, context.finalizes, reading.merged);
  if (plan === undefined || plan.operator === 'segmentMetadata' || second !== undefined)
    throw new ServiceError(
      'unsupported',
      `${reader.at('query')}: a query with a grand total or subtotals as a datasource is not supported`,
    );
  const hasTime = plan.operator !== 'group' || query.queryType === 'groupBy' || plan.keys.some(({ kind }) => kind === 'time');
  // The rows of timeseries and topN have a time, that of the one bucket when there is just one.
  return hasTime ? { kind: 'query', plan, source } : withTime({ kind: 'query', plan, source }, plan.intervals[0]?.start ?? 0);
}

/** States that the outer query merges, or all when nothing is to be finalized. */
function withStates(plan: Plan, finalizes: boolean, merged: ReadonlySet<string>): Plan {
  if (!finalizes) return unfinalized(plan);
  return plan.operator === 'group' ? puttingOutStates(plan, (name) => merged.has(name)) : plan;
}

function readUnion(reader: ObjectReader, reading: SourceReading): RowSource {
  const sources = reader.list('dataSources', (value, path) => readSource(value, path, reader, reading));
  return sources.length === 0 ? refuse(reader.at('dataSources'), 'at least one datasource', []) : { kind: 'union', sources };
}

function readFiltered(reader: ObjectReader, reading: SourceReading): RowSource {
  const source = field(reader, 'base', reading);
  return { kind: 'filtered', source, filter: filterOver(source, reader.object('filter'), reading) };
}

function readUnnest(reader: ObjectReader, reading: SourceReading): RowSource {
  const source = field(reader, 'base', reading);
  const columns = new VirtualColumns(typesOf(rowSourceColumns(source, reading.tables)));
  columns.read(reader.reader({ virtualColumns: [reader.raw('virtualColumn')] }, reader.path));
  const [column] = columns.list;
  if (column === undefined) return refuse(reader.at('virtualColumn'), 'a virtual column', undefined);
  const unnested: RowSource = { kind: 'unnest', source, column };
  const filter = reader.optionalObject('unnestFilter');
  return filter === undefined ? unnested : { kind: 'filtered', source: unnested, filter: filterOver(unnested, filter, reading) };
}

function filterOver(source: RowSource, filter: ObjectReader, { tables }: SourceReading) {
  return readFilter(filter, givenColumns(typesOf(rowSourceColumns(source, tables))));
}

function readJoin(reader: ObjectReader, reading: SourceReading): JoinSource {
  const base = field(reader, 'left', reading);
  const right = field(reader, 'right', reading);
  const leftFilter = reader.optionalObject('leftFilter');
  const left: RowSource =
    leftFilter === undefined ? base : { kind: 'filtered', source: base, filter: filterOver(base, leftFilter, reading) };
  const prefix = reader.string('rightPrefix');
  if (prefix === '' || TIME_COLUMN.startsWith(prefix))
    refuse(reader.at('rightPrefix'), `a string that ${TIME_COLUMN} does not begin with`, prefix);
  const joinType = reader.choice('joinType', ['INNER', 'LEFT', 'RIGHT', 'FULL'], undefined);
  reader.choice('joinAlgorithm', ['broadcast'], 'broadcast');
  const leftColumns = rowSourceColumns(left, reading.tables);
  const rightColumns = rowSourceColumns(right, reading.tables);
  const types = { left: typesOf(leftColumns), right: typesOf(rightColumns) };
  const keys: JoinKey[] = [];
  const others: Expression[] = [];
  for (const part of conjunctsOf(parseExpression(reader.string('condition')))) {
    if (part.kind === 'literal' && Number(part.value) !== 0 && part.value !== null) continue;
    const key = keyOf(part, prefix, types);
    // Rows of several values are compared pair by pair.
    const isPair = key?.nullsMeet === true && (readsLists(key.left, leftColumns) || readsLists(key.right, rightColumns));
    if (key === undefined || isPair) others.push(part);
    else keys.push(key);
  }
  const [first, ...rest] = others;
  const type = ({ INNER: 'inner', LEFT: 'left', RIGHT: 'right', FULL: 'full' } as const)[joinType];
  const condition = first === undefined ? null : rest.reduce<Expression>((all, part) => call('&&', all, part), first);
  return { kind: 'join', left, right, prefix, type, keys, condition, leftColumns, rightColumns };
}

function conjunctsOf(expression: Expression): readonly Expression[] {
  const parts: Expression[] = [];
  const open = [expression];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (part.kind === 'call' && part.function === '&&') append(open, part.arguments.toReversed());
    else parts.push(part);
  }
  return parts;
}

function readsLists(expression: Expression, columns: readonly ColumnSchema[]): boolean {
  const names = columnsOfExpression(expression);
  return columns.some(({ name, multiValue }) => multiValue && names.has(name));
}

type TypeOf = (name: string) => ColumnType | undefined;

/** An equality, of nulls too if it says so, with columns of one side on each side of it. */
function keyOf(part: Expression, prefix: string, types: { readonly left: TypeOf; readonly right: TypeOf }): JoinKey | undefined {
  if (part.kind !== 'call' || (part.function !== '==' && part.function !== 'notdistinctfrom')) return undefined;
  const [one, other] = part.arguments;
  if (one === undefined || other === undefined) return undefined;
  const sides = [one, other].map((side) => {
    const names = [...columnsOfExpression(side)];
    if (names.length === 0) return 'none';
    return names.every((name) => name.startsWith(prefix)) ? 'right' : names.some((name) => name.startsWith(prefix)) ? 'both' : 'left';
  });
  if (!sides.includes('left') || !sides.includes('right')) return undefined;
  const left = sides[0] === 'left' ? one : other;
  const right = renameExpression(sides[0] === 'left' ? other : one, (name) => name.slice(prefix.length));
  const [leftType, rightType] = [expressionType(left, types.left), expressionType(right, types.right)];
  const type = comparedAs(leftType, rightType);
  if (part.function === '==') return { left, right, type };
  return leftType === rightType && NULLS_MEET.has(type) ? { left, right, type, nullsMeet: true } : undefined;
}

/** Types of keys whose nulls may be equal. */
const NULLS_MEET: ReadonlySet<ColumnType> = new Set<ColumnType>(['STRING', 'LONG', 'DOUBLE']);

/** The type in which `==` compares: the common type, otherwise numbers. */
function comparedAs(left: ColumnType, right: ColumnType): ColumnType {
  return left === right ? left : 'DOUBLE';
}
