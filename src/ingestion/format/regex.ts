// The input format `regex`.

import { createByName } from '../../base/names.js';
import { compileRegularExpression, type RegularExpression } from '../../expression/regular-expression.js';
import { contentOf } from '../source/decompress.js';
import { LIST_DELIMITER } from './delimited-format.js';
import type { JsonObject } from './flatten.js';
import { inputFormatKind } from './format-kind.js';
import { PlacedRows } from './placed-rows.js';
import { endOfLines, textLines, wholeRows } from './text-rows.js';

interface RegexFormat {
  readonly expression: RegularExpression;
  readonly columns: readonly string[];
  readonly listDelimiter: string;
}

/** One row a line, whose columns are the groups of a pattern that matches the whole line; other lines are rejected. */
export const REGEX = inputFormatKind<RegexFormat>({
  type: 'regex',
  files: null,
  parse(fields) {
    fields.accept(['pattern', 'columns', 'listDelimiter']);
    const expression = compileRegularExpression(fields.string('pattern'), 'input_invalid');
    const listDelimiter = fields.optionalString('listDelimiter') ?? LIST_DELIMITER;
    if (listDelimiter === '') throw fields.invalid('listDelimiter', 'expected a string that is not empty');
    const named = fields.has('columns') ? fields.strings('columns') : [];
    if (new Set(named).size < named.length) throw fields.invalid('columns', 'names a column twice');
    const columns = fields.has('columns') ? named : Array.from({ length: expression.groupCount }, (_, group) => `column_${group + 1}`);
    return { expression, columns, listDelimiter };
  },
  isByLine: () => true,
  async *read(format, entity, reading) {
    const limits = { name: entity.name, maxRowBytes: reading.inputLimits.maxRowBytes, isContinued: entity.isContinued };
    const placed = new PlacedRows(reading);
    for await (const bytes of wholeRows(contentOf(entity, reading), endOfLines, limits)) {
      const { texts, feedsBefore, feeds } = textLines(bytes);
      for (const [at, text] of texts.entries()) {
        if (typeof text !== 'string') {
          placed.reject(text.fault, text.sample, feedsBefore(at));
          continue;
        }
        const line = text.replace(/\r$/, '');
        const row = rowOf(line, format);
        if (row === undefined) placed.reject('the line does not match the pattern', line, feedsBefore(at));
        else placed.add(row, feedsBefore(at));
      }
      yield* placed.block(feeds, null);
    }
  },
});

function rowOf(line: string, { expression, columns, listDelimiter }: RegexFormat): JsonObject | undefined {
  const groups = expression.groups(line);
  if (groups === null) return undefined;
  const row = createByName<unknown>();
  for (const [at, group] of groups.slice(0, columns.length).entries())
    row[columns[at] ?? ''] = group?.includes(listDelimiter) === true ? group.split(listDelimiter) : group;
  return row;
}
