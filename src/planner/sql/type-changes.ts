// Refuses to store arrays in a column of strings, or strings in one of arrays.

import { ServiceError } from '../../base/errors.js';
import { type ColumnSchema, type ColumnType, isArrayType } from '../../model/schema.js';
import type { IngestionTarget, PlannedQuery } from '../../model/statement.js';
import { sqlNames } from './context.js';

/**
 * Compares the columns that a statement writes with those that its datasource has. A column that is an array in some segments and a
 * string in others is answered as one of the two, which is what whoever moves from one to the other asks for by `skipTypeVerification`.
 * @throws ServiceError `sql_plan_invalid` naming the column
 */
export function checkTypeChanges(
  { dataSource, query: { columns } }: IngestionTarget & { readonly query: PlannedQuery },
  stored: readonly ColumnSchema[],
  context: Readonly<Record<string, unknown>>,
): void {
  const skipped = sqlNames(context, 'skipTypeVerification') ?? [];
  const storesLists = String(context['arrayIngestMode'] ?? '').toLowerCase() === 'mvd';
  for (const { name, nativeType } of columns) {
    const before = stored.find((column) => column.name === name)?.type;
    const type: ColumnType = storesLists && nativeType === 'ARRAY<STRING>' ? 'STRING' : nativeType;
    if (
      before === undefined ||
      skipped.includes(name) ||
      !((isArrayType(type) && before === 'STRING') || (type === 'STRING' && isArrayType(before)))
    )
      continue;
    const mend =
      before === 'STRING' ? `ARRAY_TO_MV(…) AS "${name}" gives strings` : 'make it an array, with context.arrayIngestMode "array"';
    throw new ServiceError(
      'sql_plan_invalid',
      `the column "${name}" is ${type}, and ${before} in ${dataSource}: ${mend}; context.skipTypeVerification names columns that are to be mixed`,
    );
  }
}
