import type { Generator, Kind } from './case.js';
import { expressionCase } from './expressions/expression-case.js';
import { nativeCase } from './native/native-case.js';
import { orderCase } from './sql/order-case.js';
import { sqlCase } from './sql/sql-case.js';

export const GENERATORS: Readonly<Record<Kind, Generator>> = {
  native: nativeCase,
  expressions: expressionCase,
  sql: sqlCase,
  orders: orderCase,
};
