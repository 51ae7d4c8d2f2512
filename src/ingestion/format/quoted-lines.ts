// Looks whether quotes of CSV have line feeds in them.

import type { Buffer } from 'node:buffer';

const [QUOTE, LINE_FEED] = [34, 10];

/** Whether each line of a text ends a row, as `RowSplitter` cuts rows: no field in quotes goes on behind its line. */
export function linesAreRows(text: Buffer, delimiter: number): boolean {
  if (!text.includes(QUOTE)) return true;
  let isFieldStart = true;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at];
    if (!isFieldStart || byte !== QUOTE) {
      isFieldStart = byte === delimiter || byte === LINE_FEED;
      continue;
    }
    for (at++; ; at++) {
      const inside = text[at];
      if (inside === undefined || inside === LINE_FEED) return false;
      if (inside !== QUOTE) continue;
      // Two of them are one that is in the field.
      if (text[at + 1] !== QUOTE) break;
      at++;
    }
    isFieldStart = false;
  }
  return true;
}
