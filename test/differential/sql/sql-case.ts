import type { DifferentialCase } from '../case.js';
import type { Random } from '../random.js';
import { shrinkExpression, wordsOf } from './sql-expression.js';
import { makeStatement, NASTY, type Statement } from './statement.js';
import { requestOf } from './statement-text.js';

/** Statements over `nasty` and `small`. */
export function sqlCase(random: Random): DifferentialCase {
  return asCase(makeStatement(random));
}

function asCase(statement: Statement): DifferentialCase {
  const { keys, values, where, having, shape, grouping, ending, outer, source } = statement;
  const expressions = [...keys, ...values, where, having].filter((one) => one !== undefined);
  const clauses = [
    shape,
    ...(grouping === undefined ? [] : [grouping]),
    ...(outer === undefined ? [] : ['outer']),
    ...(source.text === 'nasty' ? [] : [/ (JOIN|UNNEST|LIMIT) ?/.exec(source.text.toUpperCase())?.[1] ?? 'SUBQUERY']),
  ];
  return {
    kind: 'sql',
    request: requestOf(statement),
    tags: [...clauses, ...expressions.flatMap(wordsOf)],
    order: ending === undefined || outer !== undefined ? 'bag' : 'list',
    shrink: () => shrinkStatement(statement),
  };
}

function* shrinkStatement(statement: Statement): Iterable<DifferentialCase> {
  for (const smaller of smallerStatements(statement)) yield asCase(smaller);
}

function* smallerStatements(statement: Statement): Iterable<Statement> {
  const { keys, values, where, having, context, shape } = statement;
  if (where !== undefined) yield { ...statement, where: undefined };
  if (having !== undefined) yield { ...statement, having: undefined };
  if (statement.outer !== undefined) yield { ...statement, outer: undefined };
  if (statement.parameters) yield { ...statement, parameters: false };
  if (statement.source !== NASTY) yield { ...statement, source: NASTY };
  if (statement.ending !== undefined && shape === 'group') yield { ...statement, ending: undefined };
  if (statement.grouping !== undefined) yield { ...statement, grouping: undefined };
  if (Object.keys(context).length > 0) yield { ...statement, context: {} };
  for (const at of statement.others.keys())
    if (statement.others.length > 1) yield { ...statement, others: statement.others.toSpliced(at, 1) };
  if (shape === 'union' || shape === 'window' || shape === 'ordered' || shape === 'distinct')
    yield { ...statement, shape: 'scan', ending: undefined };
  if (shape === 'scan' || shape === 'group' || shape === 'window' || shape === 'ordered' || shape === 'distinct') {
    for (const at of values.keys()) if (values.length > 1) yield { ...statement, values: values.toSpliced(at, 1) };
    if (statement.ending === undefined) for (const at of keys.keys()) yield { ...statement, keys: keys.toSpliced(at, 1) };
  }
  if (where !== undefined) for (const smaller of shrinkExpression(where)) yield { ...statement, where: smaller };
  for (const [at, value] of values.entries())
    for (const smaller of shrinkExpression(value)) yield { ...statement, values: values.with(at, smaller) };
  for (const [at, key] of keys.entries()) for (const smaller of shrinkExpression(key)) yield { ...statement, keys: keys.with(at, smaller) };
}
