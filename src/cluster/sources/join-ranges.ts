// Finds the comparisons in the condition of a join that the rows of its build side can be put into an order for.

import { inferType } from '../../expression/expression-type.js';
import { columnsOfExpression } from '../../model/columns-read.js';
import { conjunctsOf, type Expression } from '../../model/expression.js';
import { renameExpression } from '../../model/rewrite/plan-names.js';
import type { ColumnSchema } from '../../model/schema.js';
import type { StageRange } from '../../model/stage.js';

/** One side of a join: its columns, and what the condition calls one; undefined: it means a column of the other side. */
export interface RangeSide {
  readonly columns: readonly ColumnSchema[];
  /** The column's own name by that in the condition. */
  readonly own: (name: string) => string | undefined;
}

const TURNED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;

/** The parts of a condition that compare a value of one side with one of the other, where both are of one kind. */
export function rangesOf(condition: Expression | null, probe: RangeSide, build: RangeSide): readonly StageRange[] {
  if (condition === null) return [];
  const [ofProbe, ofBuild] = [typesOf(probe), typesOf(build)];
  return conjunctsOf(condition).flatMap((each, part): readonly StageRange[] => {
    const [left, right] = each.kind === 'call' ? each.arguments : [];
    if (each.kind !== 'call' || !isOrder(each.function) || left === undefined || right === undefined) return [];
    const isTurned = ownOf(left, probe) === undefined;
    const [one, other] = [ownOf(isTurned ? right : left, probe), ownOf(isTurned ? left : right, build)];
    if (one === undefined || other === undefined) return [];
    const type = comparedAs(kindOf(one, ofProbe), kindOf(other, ofBuild));
    const operator = isTurned ? TURNED[each.function] : each.function;
    return type === undefined ? [] : [{ probe: one, build: other, operator, type, part }];
  });
}

function isOrder(name: string): name is StageRange['operator'] {
  return Object.hasOwn(TURNED, name);
}

/** An expression over the columns of a side, and over nothing else; undefined: it reads others, or none. */
function ownOf(expression: Expression, { own }: RangeSide): Expression | undefined {
  const names = [...columnsOfExpression(expression)];
  if (names.length === 0 || names.some((name) => own(name) === undefined)) return undefined;
  return renameExpression(expression, (name) => own(name) ?? name);
}

type Kind = StageRange['type'];
type TypeOfColumn = (name: string) => ColumnSchema | undefined;

function typesOf({ columns }: RangeSide): TypeOfColumn {
  const byName = new Map(columns.map((column) => [column.name, column]));
  return (name) => byName.get(name);
}

/** The kind of an expression's values; undefined where it is not known, or they may be several. */
function kindOf(expression: Expression, typeOf: TypeOfColumn): Kind | undefined {
  for (const name of columnsOfExpression(expression)) if (typeOf(name)?.multiValue !== false) return undefined;
  switch (inferType(expression, (name) => typeOf(name)?.type)) {
    case 'LONG':
      return 'LONG';
    case 'FLOAT':
    case 'DOUBLE':
      return 'DOUBLE';
    case 'STRING':
      return 'STRING';
    default:
      return undefined;
  }
}

function comparedAs(one: Kind | undefined, other: Kind | undefined): Kind | undefined {
  if (one === other) return one;
  return one === undefined || other === undefined || one === 'STRING' || other === 'STRING' ? undefined : 'DOUBLE';
}
