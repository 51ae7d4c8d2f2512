// Reads the fields of a text block as values.

import { Buffer } from 'node:buffer';
import type { TextBlock } from '../format/input-block.js';
import { parseDouble, parseLong } from './number-text.js';

/** Fields as values: lists where there is a delimiter, and numbers where the whole field is one and that is asked for. */
export function fieldValues(block: TextBlock, column: number): readonly unknown[] {
  const starts = block.starts[column];
  const ends = block.ends[column];
  const valueOf = block.tryParseNumbers ? numberOrText : (text: string) => text;
  return Array.from({ length: block.rowCount }, (_, row) => {
    const end = ends?.[row] ?? -1;
    if (end < 0) return null;
    const start = starts?.[row] ?? 0;
    const text = Buffer.from(block.bytes.buffer, block.bytes.byteOffset + start, end - start).toString('utf8');
    if (block.listDelimiter !== null && text.includes(block.listDelimiter)) return text.split(block.listDelimiter).map(valueOf);
    return valueOf(text);
  });
}

function numberOrText(text: string): number | bigint | string {
  const number = /^-?\d+$/.test(text) ? parseLong(text) : parseDouble(text);
  return number === undefined || Number.isNaN(number) ? text : number;
}
