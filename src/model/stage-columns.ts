// Columns that enter and leave the stages of a plan.

import { columnsOfExpression, columnsOfFilter } from './columns-read.js';
import { TIME_COLUMN } from './schema.js';
import type { JoinStage, Stage } from './stage.js';

// Columns that enter and leave stages: which ones are needed before, and what they are called there.

/** The columns that rows need after each stage, and before the first, for a plan that reads `wanted` of the result. */
export function columnsThrough(
  stages: readonly Stage[],
  wanted: Iterable<string>,
): { readonly before: ReadonlySet<string>; readonly after: readonly ReadonlySet<string>[] } {
  let needed = new Set([...wanted, TIME_COLUMN]);
  const after: ReadonlySet<string>[] = [];
  for (const stage of stages.toReversed()) {
    after.unshift(needed);
    needed = columnsBefore(stage, needed);
  }
  return { before: needed, after };
}

/** The columns that rows need before a stage, when these are needed after it. */
export function columnsBefore(stage: Stage, after: ReadonlySet<string>): Set<string> {
  const before = new Set(after);
  switch (stage.kind) {
    case 'filter':
      return columnsOfFilter(stage.filter, before);
    case 'unnest':
      before.delete(stage.column.name);
      if (stage.column.keeps !== undefined) columnsOfExpression(stage.column.keeps, before);
      return columnsOfExpression(stage.column.expression, before);
    case 'join':
      if (stage.condition !== null) columnsOfExpression(stage.condition, before);
      for (const { name } of stage.columns) before.delete(name);
      if (stage.mark !== undefined) before.delete(stage.mark);
      if (stage.probePrefix !== '') {
        const names = [...before].flatMap((name) => nameBefore(stage, name) ?? []);
        before.clear();
        for (const name of names) before.add(name);
      }
      for (const { probe } of stage.keys) columnsOfExpression(probe, before);
      return before;
  }
}

/** Name before the stages of a column that comes out of them; undefined when a stage makes it. */
export function nameThrough(stages: readonly Stage[], name: string): string | undefined {
  let current: string | undefined = name;
  for (const stage of stages.toReversed()) {
    if (current === undefined) return undefined;
    if (stage.kind === 'unnest' && stage.column.name === current) return undefined;
    if (stage.kind !== 'join') continue;
    const isAdded: boolean = stage.mark === current || stage.columns.some((column) => column.name === current);
    current = isAdded ? undefined : nameBefore(stage, current);
  }
  return current;
}

function nameBefore({ probePrefix }: JoinStage, name: string): string | undefined {
  return name.startsWith(probePrefix) ? name.slice(probePrefix.length) : undefined;
}
