// Prints a plan together with the sources of its rows.

import { printExpression } from '../expression/print.js';
import type { Plan } from '../model/plan.js';
import type { RowSource } from '../model/row-source.js';
import { printFilter, printPlan } from './print-plan.js';

/** A plan and, indented below it, the sources its rows come from, as lines of text. */
export function printOverSource(plan: Plan, source: RowSource): readonly string[] {
  if (source.kind === 'table') return printPlan(plan).split('\n');
  return [...printPlan({ ...plan, dataSource: 'the rows below' }).split('\n'), ...indented(printSource(source))];
}

function printSource(source: RowSource): readonly string[] {
  switch (source.kind) {
    case 'table':
    case 'lookup':
      return [`${source.kind} ${source.name}`];
    case 'inline':
      return [`${source.frame.rowCount} inline rows of ${source.frame.columns.map(({ name }) => name).join(', ') || 'no columns'}`];
    case 'external':
      return [`external rows of ${source.signature.map(({ name, type }) => `${name} ${type}`).join(', ')}`];
    case 'query':
      return printOverSource(source.plan, source.source);
    case 'union':
      return ['all rows of', ...source.sources.flatMap((each) => indented(printSource(each)))];
    case 'filtered':
      return [`where ${printFilter(source.filter)}`, ...indented(printSource(source.source))];
    case 'unnest':
      return [`unnest ${printExpression(source.column.expression)} as ${source.column.name}`, ...indented(printSource(source.source))];
    case 'join': {
      const { type, prefix, keys, condition, left, right } = source;
      const on = keys.map(({ left: one, right: other, type: as, nullsMeet }) => {
        const equal = nullsMeet === true ? 'is not distinct from' : '=';
        return `${printExpression(one)} ${equal} ${printExpression(other)} as ${as}`;
      });
      if (condition !== null) on.push(printExpression(condition));
      return [
        `join ${type} on ${on.join(' and ') || 'nothing'}, columns of the right side after ${prefix}`,
        ...indented(printSource(left)),
        ...indented(printSource(right)),
      ];
    }
  }
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
