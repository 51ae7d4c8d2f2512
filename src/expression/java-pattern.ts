// Patterns of `java.util.regex`, which users write, in the syntax of RE2.

import { append } from '../base/lists.js';
import { own } from '../base/names.js';
import { complement, intersection, LINE_ENDS, NAMED_CLASSES, only, type Range } from '../base/pattern/code-points.js';

/** A part of a pattern that means something else in RE2, and is not translated. */
export class NotTranslated extends Error {}

/** Flags that let `.` stand for ends of lines. */
const DOT_ALL = /\(\?[a-zA-Z]*s/;

/**
 * The pattern with what RE2 would read otherwise written out: `.`, `\s` and `\v`, and classes within classes (`[a-c[x]]`, `[a-z&&[^b]]`).
 * All else stays as it is, and is accepted or refused by RE2.
 * @throws NotTranslated
 */
export function re2Pattern(pattern: string): string {
  return new JavaPattern(pattern).translated();
}

class JavaPattern {
  readonly #points: readonly string[];
  readonly #dotTakesAll: boolean;
  #at = 0;

  constructor(pattern: string) {
    this.#points = [...pattern];
    this.#dotTakesAll = DOT_ALL.test(pattern);
  }

  translated(): string {
    let made = '';
    while (this.#at < this.#points.length) {
      const next = this.#points[this.#at] ?? '';
      if (next === '\\') made += this.#escaped();
      else if (next === '[') made += this.#classText();
      else {
        made += next === '.' && !this.#dotTakesAll ? classOf(complement(LINE_ENDS)) : next;
        this.#at++;
      }
    }
    return made;
  }

  #escaped(): string {
    const escaped = this.#points[this.#at + 1] ?? '';
    const begin = this.#at;
    this.#at += 2;
    if (escaped === 'Q') {
      while (this.#at < this.#points.length && !(this.#points[this.#at - 2] === '\\' && this.#points[this.#at - 1] === 'E')) this.#at++;
      return this.#points.slice(begin, this.#at).join('');
    }
    const ranges = 'sSvV'.includes(escaped) && escaped !== '' ? classNamed(escaped) : undefined;
    return ranges === undefined ? `\\${escaped}` : classOf(ranges);
  }

  /** A class as it is written, but for escapes with another meaning; one with classes within or `&&` as its characters. */
  #classText(): string {
    const begin = this.#at;
    const plain = this.#plainClass();
    if (plain !== undefined) return plain;
    this.#at = begin;
    const ranges = this.#class();
    if (ranges.length === 0) throw new NotTranslated(`the class at position ${begin + 1} has no characters`);
    return classOf(ranges);
  }

  /** Undefined for a class that has classes within, `&&`, or all characters but some. */
  #plainClass(): string | undefined {
    let made = this.#points[this.#at++] ?? '';
    if (this.#points[this.#at] === '^') made += this.#points[this.#at++];
    for (let isFirst = true; ; isFirst = false) {
      const next = this.#points[this.#at++];
      if (next === undefined) return made;
      const after = this.#points[this.#at] ?? '';
      if (next === '[' || (next === '&' && after === '&') || (next === '\\' && (after === 'S' || after === 'V'))) return undefined;
      if (next === ']' && !isFirst) return `${made}]`;
      if (next === '\\') {
        this.#at++;
        made += after === 's' || after === 'v' ? rangesText(own(NAMED_CLASSES, after) ?? []) : `\\${after}`;
      } else made += next;
    }
  }

  /** Reads `[…]`: members and classes together, and what is common to the sides of `&&`. */
  #class(): readonly Range[] {
    const begin = this.#at++;
    const isNegated = this.#points[this.#at] === '^';
    if (isNegated) this.#at++;
    let common: readonly Range[] | undefined;
    let side: Range[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const next = this.#points[this.#at];
      if (next === undefined) throw new NotTranslated(`the class at position ${begin + 1} has no end`);
      if (next === ']' && !isFirst) break;
      if (next === '&' && this.#points[this.#at + 1] === '&') {
        this.#at += 2;
        common = inBoth(common, side);
        side = [];
      } else append(side, next === '[' ? this.#class() : this.#members());
    }
    this.#at++;
    const ranges = inBoth(common, side);
    return isNegated ? complement(ranges) : complement(complement(ranges));
  }

  /** A character, a range of them, or what an escape stands for. */
  #members(): readonly Range[] {
    const first = this.#member();
    const [from] = first[0] ?? [0];
    const isRange = this.#points[this.#at] === '-' && ![']', '[', undefined].includes(this.#points[this.#at + 1]);
    if (!isRange || first.length !== 1 || first[0]?.[0] !== first[0]?.[1]) return first;
    this.#at++;
    const [last] = this.#member();
    if (last === undefined || last[0] < from) throw new NotTranslated(`the range before position ${this.#at + 1} ends before it begins`);
    return [[from, last[1]]];
  }

  #member(): readonly Range[] {
    const next = this.#points[this.#at++] ?? '';
    if (next !== '\\') return [only(next)];
    const escaped = this.#points[this.#at++] ?? '';
    const named = classNamed(escaped);
    if (named !== undefined) return named;
    const control = CONTROLS.get(escaped);
    if (control !== undefined) return [[control, control]];
    if (/^[^A-Za-z0-9]$/u.test(escaped)) return [only(escaped)];
    throw new NotTranslated(`\\${escaped} at position ${this.#at - 1}, in a class with classes or && in it, is not supported`);
  }
}

/** Characters that two sides of `&&` have in common; a side without characters does not count. */
function inBoth(common: readonly Range[] | undefined, side: readonly Range[]): readonly Range[] {
  if (common === undefined) return side;
  return side.length === 0 || common.length === 0 ? [...common, ...side] : intersection(common, side);
}

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
  ['a', 0x07],
  ['e', 0x1b],
]);

/** Characters of `\d`, or, for an upper case letter, all others. */
function classNamed(letter: string): readonly Range[] | undefined {
  const ranges = own(NAMED_CLASSES, letter.toLowerCase());
  return ranges === undefined || letter === letter.toLowerCase() ? ranges : complement(ranges);
}

const classOf = (ranges: readonly Range[]): string => `[${rangesText(ranges)}]`;

function rangesText(ranges: readonly Range[]): string {
  return ranges.map(([from, to]) => `\\x{${from.toString(16)}}-\\x{${to.toString(16)}}`).join('');
}
