import type { Fields, Json } from '../case.js';
import { type SqlExpression, writeSql } from './sql-expression.js';
import type { Ending, Statement } from './statement.js';

/** The body of a request: its literals are parameters where the statement says so. */
export function requestOf(statement: Statement): Fields {
  const query = write(statement);
  if (!statement.parameters) return { query, context: statement.context };
  const parameters: Json[] = [];
  const marked = query.replace(LITERAL, (text: string) => {
    parameters.push(/^'/.test(text) ? { type: 'VARCHAR', value: text.slice(1, -1) } : { type: 'BIGINT', value: Number(text) });
    return '?';
  });
  return { query: marked, context: statement.context, parameters };
}

/** Literals behind a comparison. Patterns, periods and positions must stay literals for one of the servers. */
const LITERAL = /(?<=[=<>] )(?:'[^'\\]*'|\d+)(?=[ )]|$)/g;

function write(statement: Statement): string {
  const { source, outer } = statement;
  const inner = writeRows(statement);
  if (outer === undefined) return `${source.with ?? ''}${inner}`;
  const whole = outer.replaceAll('{rows}', () => inner);
  return source.with === undefined ? whole : whole.replace(/^(WITH )?/, (found) => `${source.with?.trimEnd()}${found === '' ? ' ' : ', '}`);
}

function writeRows({ keys, values, source, where, having, grouping, ending, shape, others }: Statement): string {
  const condition = where === undefined ? '' : ` WHERE ${writeSql(where)}`;
  const from = `FROM ${source.text}${source.text === 'nasty' ? '' : ' AS nasty'}${condition}`;
  switch (shape) {
    case 'scan':
      return `SELECT ${named(values, 'v')} ${from}`;
    case 'distinct':
      return `SELECT DISTINCT ${named(values, 'v')} ${from}`;
    case 'ordered':
      return `SELECT ${named(values, 'v')} ${from} ORDER BY __time${ending?.directions[0] ?? ''}${cut(ending)}`;
    case 'window':
      return `SELECT id, ${named(values, 'v')} ${from}`;
    case 'union':
      return [`SELECT ${named(values, 'v')} ${from}`, ...others].join(' UNION ALL ');
    case 'group': {
      const items = [named(keys, 'k'), named(values, 'v')].filter((list) => list !== '').join(', ');
      const texts = keys.map(writeSql);
      const groups =
        keys.length === 0 ? '' : ` GROUP BY ${grouping === undefined ? keys.map((_, at) => at + 1).join(', ') : sets(texts, grouping)}`;
      return `SELECT ${items} ${from}${groups}${having === undefined ? '' : ` HAVING ${writeSql(having)}`}${orderOf(keys.length, ending)}`;
    }
  }
}

function named(list: readonly SqlExpression[], name: string): string {
  return list.map((one, at) => `${writeSql(one)} AS ${name}${at}`).join(', ');
}

function sets(texts: readonly string[], grouping: 'sets' | 'rollup' | 'cube' | 'pairs'): string {
  if (grouping === 'sets') return `GROUPING SETS (${texts.map((text) => `(${text})`).join(', ')}, ())`;
  // Each key with the one behind it, and every key alone but the first.
  if (grouping === 'pairs')
    return `GROUPING SETS (${[...texts.slice(1).map((text, at) => `(${texts[at]}, ${text})`), ...texts.slice(1).map((text) => `(${text})`), '()'].join(', ')})`;
  return `${grouping.toUpperCase()} (${texts.join(', ')})`;
}

function orderOf(keys: number, ending: Ending | undefined): string {
  if (ending === undefined) return '';
  const byKeys = Array.from({ length: keys }, (_, at) => `${at + 1}${ending.directions[at] ?? ''}`);
  const byValue = ending.byValue === undefined ? [] : [`${keys + 1}${ending.byValue}`];
  return ` ORDER BY ${[...byValue, ...byKeys].join(', ')}${cut(ending)}`;
}

function cut(ending: Ending | undefined): string {
  return `${ending?.limit === undefined ? '' : ` LIMIT ${ending.limit}`}${ending?.offset === undefined ? '' : ` OFFSET ${ending.offset}`}`;
}
