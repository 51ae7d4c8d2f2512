import fc from 'fast-check';
import { tokenize } from '../../../src/planner/sql/parse/lexer.js';
import { SourceText } from '../../../src/planner/sql/parse/source-text.js';

/** Choices for the literals of a statement, taken in turn. */
export interface Choices {
  readonly numbers: readonly number[];
  readonly gaps: readonly string[];
}

export const choices: fc.Arbitrary<Choices> = fc.record({
  numbers: fc.array(fc.nat(), { minLength: 3, maxLength: 12 }),
  gaps: fc.array(fc.constantFrom(' ', '  ', '\n', ' /* c */ '), { minLength: 1, maxLength: 4 }),
});

const NUMBERS = [
  '0',
  '1',
  '2',
  '3',
  '5',
  '7',
  '10',
  '12',
  '40',
  '99',
  '1000',
  '2147483647',
  '2147483648',
  '9223372036854775807',
  '12345678901234567890',
];
const WORDS = [
  '',
  'a',
  'b',
  'x',
  'Oslo',
  'Rio',
  "it's",
  '%',
  'a%',
  '_b%',
  '!',
  '12',
  '-3',
  '2.5',
  'true',
  'false',
  'null',
  '$.a',
  '$',
  'UTC',
  '1-2',
  '1 02:03:04',
];
const PERIODS = ['P1D', 'PT1H', 'P1M', 'PT5M', 'P1W', 'P1Y', 'P', 'PT0S'];
const ZONES = ['UTC', 'America/Los_Angeles', 'Asia/Kolkata', '+01:00', 'Mars/Olympus'];
const INSTANTS = [
  '2023-12-31',
  '2024-01-01',
  '2024-01-05',
  '2024-02-28 00:00:00',
  '2024-02-29 12:34:56',
  '2024-03-01 00:00:00.5',
  '2024-02-30',
  '1969-12-31 23:59:59',
  '24',
];

/** The statement with other literals, of the same kind most times, and other white space. */
export function redrawn(text: string, { numbers, gaps }: Choices): string {
  const source = new SourceText(text);
  let drawn = 0;
  const next = (limit: number): number => ((numbers[drawn % numbers.length] ?? 0) + Math.floor(drawn++ / numbers.length)) % limit;
  const one = (values: readonly string[]): string => values[next(values.length)] ?? '';
  const written = text.match(/'(?:[^']|'')*'|\b\d+\b/g) ?? [];
  const string = (literal: string): string => {
    const value = literal.slice(1, -1);
    // Now and then one that another literal of the statement has.
    if (next(5) === 0) return written.filter((each) => each.startsWith("'"))[next(written.length)] ?? literal;
    if (next(4) === 0) return literal;
    const alike = /^\d{4}-/.test(value) ? INSTANTS : /^P[T\d]/.test(value) ? PERIODS : /^\w+\/\w+$|^UTC$/.test(value) ? ZONES : WORDS;
    return `'${one(next(12) === 0 ? WORDS : alike).replaceAll("'", "''")}'`;
  };
  const digits = (literal: string): string =>
    next(3) === 0 ? (written.find((each) => /^\d+$/.test(each)) ?? literal) : next(3) === 0 ? literal : one(NUMBERS);
  const literal = (each: string): string =>
    each.startsWith("'") ? string(each) : /^[\d.]/.test(each) ? each.replace(/\d+/g, digits) : each;
  let result = '';
  let end = 0;
  for (const token of tokenize(source)) {
    const each = text.slice(token.start, token.end);
    result += token.start > end ? (gaps[drawn % gaps.length] ?? ' ') : '';
    result += token.kind === 'list' ? each.replace(/'(?:[^']|'')*'|\d+/g, literal) : literal(each);
    end = token.end;
  }
  return result;
}
