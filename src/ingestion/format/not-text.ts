// Marks strings that were made of bytes which are not UTF-8, so that their rows are rejected.

import { Buffer, isUtf8 } from 'node:buffer';
import type { RowFaults } from './input-block.js';

/** Half of a pair of surrogates, which no bytes of UTF-8 stand for. */
const MARK = '\ud800';
/** Character that decoding puts in place of such bytes; a text may have it all the same. */
export const REPLACEMENT = '\ufffd';

/** The string of some bytes; marked, if they are not UTF-8. */
export function textOrMarked(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return isUtf8(bytes) ? text : MARK + text;
}

/** Whether a value has a marked string, or a member of a marked name, at any depth. */
export function isMarked(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(MARK);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(isMarked);
  return Object.entries(value).some(([name, member]) => name.startsWith(MARK) || isMarked(member));
}

/** The value without marks, for people. */
export function withoutMarks(text: string): string {
  return text.replaceAll(MARK, '').replaceAll('\\ud800', '');
}

export function notText(column: string): string {
  return `the column "${column}" has text that is not valid UTF-8`;
}

/** Faults of rows by column; undefined: there are none. The first column with one gives the reason. */
export function faultsOf(columns: readonly { readonly name: string; readonly faults: readonly number[] }[]): RowFaults | undefined {
  const found = new Map<number, string>();
  for (const { name, faults } of columns) for (const row of faults) if (!found.has(row)) found.set(row, notText(name));
  return found.size === 0 ? undefined : found;
}
