// Opens the scope of a segment: its columns, and virtual columns compiled on demand.

import type { Arena } from '../../kernels/arena.js';
import type { VirtualColumn } from '../../model/aggregator.js';
import { call, type Expression } from '../../model/expression.js';
import type { SegmentView } from '../../storage/view.js';
import type { RunContext } from '../block/context.js';
import { compileVector, multiValueColumn } from './compile.js';
import { readingElements } from './element-column.js';
import { multiValueSource } from './multi-value.js';
import { SegmentScope, type Source, type VirtualColumns } from './scope.js';

/** The scope of a segment, with its virtual columns compiled when they are asked for. */
export function openScope(context: RunContext, view: SegmentView, virtualColumns: VirtualColumns, arena: Arena): SegmentScope {
  return new SegmentScope(context, view, virtualColumns, arena, computedSource);
}

function computedSource(scope: SegmentScope, column: VirtualColumn): Source {
  const { expression, outputType, keeps } = column;
  const element = keeps === undefined && (outputType ?? 'STRING') === 'STRING' ? readingElements(scope, expression) : expression;
  if (element.kind === 'column' && element !== expression) return scope.source(element.name);
  return (
    multiValueSource(scope, column, (formed) => multiValueColumn(scope, formed)) ?? {
      kind: 'computed',
      vector: compileVector(scope, keptOnly(column), column.outputType),
      expression: column.expression,
    }
  );
}

/** The expression reduced to kept values; a single value that is not kept becomes null. */
function keptOnly({ expression, keeps }: VirtualColumn): Expression {
  return keeps === undefined ? expression : call('case_searched', keeps, expression);
}
