// Finds escapes of JSON that are half of a pair of surrogates.

import type { Buffer } from 'node:buffer';

/** Escapes, also those that begin with a backslash that is escaped itself. */
const ESCAPES = /\\(?:u([0-9a-fA-F]{4})|.)/gs;

/** Whether a text of JSON has an escape of half a pair: it stands for no character. */
export function hasHalfPair(text: string): boolean {
  if (!text.includes('\\ud') && !text.includes('\\uD')) return false;
  // Place of the second half; -1: none is due.
  let due = -1;
  for (const { index, 1: digits } of text.matchAll(ESCAPES)) {
    const unit = digits === undefined ? 0 : Number.parseInt(digits, 16);
    const isSecond = unit >= 0xdc00 && unit <= 0xdfff;
    if (isSecond !== (due === index) || (due >= 0 && due !== index)) return true;
    due = unit >= 0xd800 && unit <= 0xdbff ? index + 6 : -1;
  }
  return due >= 0;
}

/** The same of bytes in UTF-8. */
export function bytesHaveHalfPair(bytes: Buffer): boolean {
  return (bytes.includes('\\ud') || bytes.includes('\\uD')) && hasHalfPair(bytes.toString('latin1'));
}
