// Converts table functions in FROM, such as EXTERN and UNNEST.

import { suggestion } from '../bind/scope.js';
import type { Conversion } from './conversion.js';
import { convertExpression } from './convert-expression.js';
import { type FuncCall, type Node, offsetOf } from './cst.js';
import type { SqlExpression, SqlRelation } from './syntax.js';

/** `fn(...)` in FROM; TABLE( ) around it is gone already. */
export function tableFunction(conversion: Conversion, node: FuncCall, at: number): SqlRelation {
  const { source } = conversion;
  const name = node.name.type === 'identifier' ? node.name.name.toUpperCase() : '?';
  const items: readonly Node[] = node.args?.expr.args.items ?? [];
  switch (name) {
    case 'UNNEST': {
      const [operand, second] = items.map((item) => convertExpression(conversion, item));
      if (operand === undefined || second !== undefined)
        throw source.error('sql_invalid', at, `UNNEST takes one argument, found ${items.length}`);
      return { kind: 'unnest', at, operand, columnNames: null, alias: null };
    }
    case 'EXTERN': {
      const mark = conversion.marks.get(at);
      const columns = mark?.kind === 'columns' ? mark.columns : null;
      return { kind: 'extern', at, arguments: externArguments(conversion, items, at), columns, alias: null };
    }
    case 'APPEND': {
      if (items.length === 0) throw source.error('sql_invalid', at, 'APPEND takes the names of tables');
      const tables = items.map((item) => {
        const table = convertExpression(conversion, item);
        if (table.kind !== 'literal' || typeof table.value !== 'string')
          throw source.error('sql_plan_invalid', table.at, 'APPEND takes the names of tables as literal strings');
        return { at: table.at, name: table.value };
      });
      return { kind: 'append', at, tables, alias: null };
    }
    default:
      throw source.unsupported(at, `the table function ${name}`);
  }
}

const EXTERN_ARGUMENTS = ['inputSource', 'inputFormat', 'signature'];

/** Arguments of EXTERN, by position, or by name in any order. */
function externArguments(conversion: Conversion, items: readonly Node[], at: number): readonly SqlExpression[] {
  const { source } = conversion;
  if (!items.some(({ type }) => type === 'named_arg')) return items.map((item) => convertExpression(conversion, item));
  const given = new Map<string, SqlExpression>();
  for (const item of items) {
    const place = offsetOf(conversion.text, item);
    if (item.type !== 'named_arg') throw source.error('sql_invalid', place, 'EXTERN takes all of its arguments by name, or none');
    const { name } = item.name;
    if (!EXTERN_ARGUMENTS.includes(name))
      throw source.error('sql_plan_invalid', place, `EXTERN has no argument ${name}${suggestion(name, EXTERN_ARGUMENTS)}`);
    if (given.has(name)) throw source.error('sql_plan_invalid', place, `EXTERN has the argument ${name} twice`);
    given.set(name, convertExpression(conversion, item.value));
  }
  const [inputSource, inputFormat] = EXTERN_ARGUMENTS.map((name) => given.get(name));
  if (inputSource === undefined || inputFormat === undefined)
    throw source.error('sql_plan_invalid', at, `EXTERN needs the argument ${inputSource === undefined ? 'inputSource' : 'inputFormat'}`);
  return EXTERN_ARGUMENTS.flatMap((name) => given.get(name) ?? []);
}
