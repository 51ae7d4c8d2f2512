// SQL conditional functions: COALESCE, NULLIF, NVL and others.

import { type Bound, call, NULL } from '../../relation/bound.js';
import { compare } from '../comparison.js';
import type { FunctionCall, SqlFunction } from '../function-call.js';

function coalesce(bound: FunctionCall): Bound {
  const { type, arguments: args } = bound.alike(0);
  const [first] = args;
  return args.length === 1 && first !== undefined ? first : call(type, 'coalesce', ...args);
}

export const CONDITIONAL_FUNCTIONS: readonly SqlFunction[] = [
  { name: 'COALESCE', minArguments: 1, maxArguments: Infinity, bind: coalesce },
  { name: 'NVL', minArguments: 2, maxArguments: 2, bind: coalesce },
  {
    name: 'NULLIF',
    minArguments: 2,
    maxArguments: 2,
    bind(bound) {
      const value = bound.any(0);
      return call(value.type, 'case_searched', compare(bound.session, bound.at, '=', value, bound.any(1)), NULL, value);
    },
  },
];
