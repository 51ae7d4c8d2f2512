// Time patterns whose texts all have one length, as templates for kernels.

import { compilePattern, type PatternOptions } from '../../../base/time-pattern.js';

/** A text of one length, with zeros in place of the digits of its fields. */
export interface ClockTemplate {
  readonly text: string;
  /** Units by number: year (four digits), month, day, hour, minute, second, millisecond (three); `offset` of the first digit. */
  readonly fields: readonly { readonly unit: number; readonly offset: number }[];
}

const TEMPLATE_UNITS: readonly string[] = ['yyyy', 'MM', 'dd', 'HH', 'mm', 'ss', 'SSS'];
const TEMPLATE_LENGTH_MAX = 256;

/** The pattern as a template, for the years 0 to 9999; undefined for patterns with other fields, or text beyond ASCII. */
export function clockTemplate(pattern: string, { code }: Pick<PatternOptions, 'code'>): ClockTemplate | undefined {
  let text = '';
  const fields: ClockTemplate['fields'][number][] = [];
  for (const part of compilePattern(pattern, code)) {
    if (part.kind === 'text') {
      text += part.text;
      continue;
    }
    const unit = TEMPLATE_UNITS.indexOf(part.letter.repeat(part.count));
    if (unit < 0) return undefined;
    fields.push({ unit, offset: text.length });
    text += '0'.repeat(part.count);
  }
  return text.length > TEMPLATE_LENGTH_MAX || Buffer.byteLength(text) !== text.length ? undefined : { text, fields };
}
