// Finds out whether rows may have several values of an expression, through the nodes below.

import { nativeType } from '../parse/sql-type.js';
import { type Bound, column } from './bound.js';
import { columnsOf, inputsOf, mayGiveSeveral, type Relation } from './relation.js';

/** Whether a row may have several values of an expression: strings of files may, of which nothing is known. */
export function mayHaveSeveral(bound: Bound, relation: Relation): boolean {
  return mayGiveSeveral(bound, (name) => {
    switch (relation.kind) {
      case 'source': {
        const found = relation.columns.find((each) => each.name === name);
        return found === undefined || (nativeType(found.type) === 'STRING' && found.schema?.multiValue !== false);
      }
      case 'project': {
        const found = relation.columns.find((each) => each.name === name);
        return found === undefined || mayHaveSeveral(found.bound, relation.input);
      }
      case 'join': {
        if (name === relation.mark) return false;
        const [side, own] = name.startsWith(relation.prefix) ? [relation.right, name.slice(relation.prefix.length)] : [relation.left, name];
        return mayHaveSeveral(column('VARCHAR', own), side);
      }
      case 'unnest':
      case 'window':
        return columnsOf(relation.input).some((each) => each.name === name) && mayHaveSeveral(column('VARCHAR', name), relation.input);
      case 'aggregate':
        return false;
      default:
        return inputsOf(relation).some((input) => mayHaveSeveral(column('VARCHAR', name), input));
    }
  });
}
