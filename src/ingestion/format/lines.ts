// The input format `lines`.

import { contentOf } from '../source/decompress.js';
import type { JsonObject } from './flatten.js';
import { inputFormatKind } from './format-kind.js';
import { jsonBlock } from './json.js';
import { endOfLines, textLines, wholeRows } from './text-rows.js';

/** One row a line, with the whole line as its column `line`; blank lines are passed over. */
export const LINES = inputFormatKind({
  type: 'lines',
  files: { extensions: ['log', 'txt'], options: {} },
  parse: (fields) => fields.accept([]),
  isByLine: () => true,
  async *read(_, entity, reading) {
    const limits = { name: entity.name, maxRowBytes: reading.inputLimits.maxRowBytes, isContinued: entity.isContinued };
    for await (const bytes of wholeRows(contentOf(entity, reading), endOfLines, limits)) {
      const rows: JsonObject[] = [];
      for (const line of textLines(bytes))
        if (typeof line === 'string') rows.push({ line: line.replace(/\r$/, '') });
        else reading.reject(line.fault, line.sample, rows.length);
      if (rows.length > 0) yield jsonBlock(rows, null);
    }
  },
});
