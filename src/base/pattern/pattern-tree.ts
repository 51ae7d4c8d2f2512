// Reads regular expressions into trees, those that an automaton can match.

import { append } from '../lists.js';
import { own } from '../names.js';
import { complement, LINE_ENDS, NAMED_CLASSES, only, type Range } from './code-points.js';

/** Part of a pattern. Alternatives, and more or fewer times, are tried in order: the first that leads to a match counts. */
export type PatternNode =
  | { readonly kind: 'characters'; readonly ranges: readonly Range[] }
  | { readonly kind: 'sequence' | 'alternatives'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'times'; readonly part: PatternNode; readonly min: number; readonly max: number; readonly isLazy: boolean }
  /** Number from 1 on; null for one that is not counted. */
  | { readonly kind: 'group'; readonly number: number | null; readonly part: PatternNode }
  /** The start or end of the text. */
  | { readonly kind: 'start' | 'end' };

const DEPTH_MAX = 50;
const TIMES_MAX = 100;

/**
 * The pattern as a tree. Undefined for what is not read here: look-around, word boundaries, flags but `(?i)` and `(?s)` at the start,
 * classes within classes, `\Q`, `\p`, possessive quantifiers, and more than one time what may be nothing.
 * @param pattern  one that `compileRegularExpression` accepts
 */
export function patternTree(pattern: string): PatternNode | undefined {
  return new PatternParser(pattern).parse();
}

class PatternParser {
  readonly #points: readonly string[];
  readonly #ignoresCase: boolean;
  readonly #dotTakesAll: boolean;
  #at = 0;
  #groups = 0;

  constructor(pattern: string) {
    const flags = /^\(\?([is]+)\)/.exec(pattern)?.[1] ?? '';
    this.#ignoresCase = flags.includes('i');
    this.#dotTakesAll = flags.includes('s');
    this.#points = [...pattern.slice(flags === '' ? 0 : flags.length + 3)];
  }

  parse(): PatternNode | undefined {
    const tree = this.#alternatives(0);
    return this.#at < this.#points.length ? undefined : tree;
  }

  #alternatives(depth: number): PatternNode | undefined {
    if (depth > DEPTH_MAX) return undefined;
    const parts: PatternNode[] = [];
    do {
      const part = this.#sequence(depth);
      if (part === undefined) return undefined;
      parts.push(part);
    } while (this.#take('|'));
    const [only] = parts;
    return parts.length === 1 ? only : { kind: 'alternatives', parts };
  }

  #sequence(depth: number): PatternNode | undefined {
    const parts: PatternNode[] = [];
    while (this.#at < this.#points.length && !'|)'.includes(this.#points[this.#at] ?? '')) {
      const part = this.#atom(depth);
      const repeated = part === undefined ? undefined : this.#repeated(part);
      if (repeated === undefined) return undefined;
      parts.push(repeated);
    }
    return { kind: 'sequence', parts };
  }

  #atom(depth: number): PatternNode | undefined {
    const next = this.#points[this.#at++] ?? '';
    switch (next) {
      case '(':
        return this.#group(depth + 1);
      case '[':
        return characters(this.#class());
      case '\\':
        return this.#escaped();
      case '.':
        return { kind: 'characters', ranges: complement(this.#dotTakesAll ? [] : LINE_ENDS) };
      case '^':
        return { kind: 'start' };
      case '$':
        return { kind: 'end' };
      default:
        return '*+?{'.includes(next) ? undefined : characters(this.#folded([only(next)]));
    }
  }

  #group(depth: number): PatternNode | undefined {
    const isCounted = !this.#take('?') || this.#name();
    if (!isCounted && !this.#take(':')) return undefined;
    const number = isCounted ? ++this.#groups : null;
    const part = this.#alternatives(depth);
    return part === undefined || !this.#take(')') ? undefined : { kind: 'group', number, part };
  }

  #name(): boolean {
    const found = /^P?<[A-Za-z]\w*>/.exec(this.#points.slice(this.#at, this.#at + 64).join(''));
    this.#at += found?.[0].length ?? 0;
    return found !== null;
  }

  #escaped(): PatternNode | undefined {
    const next = this.#points[this.#at] ?? '';
    if (next === 'A' || next === 'z') {
      this.#at++;
      return { kind: next === 'A' ? 'start' : 'end' };
    }
    const named = /^[dDsSwWvV]$/.test(next);
    const ranges = this.#member('\\');
    return characters(named ? ranges : this.#folded(ranges));
  }

  /** With the letters that are the same but for their case, where that is asked for; undefined where others than those of ASCII are among them. */
  #folded(ranges: readonly Range[] | undefined): readonly Range[] | undefined {
    if (!this.#ignoresCase || ranges === undefined) return ranges;
    return ranges.every(([, to]) => to < FIRST_BEYOND_ASCII) ? withBothCases(ranges) : undefined;
  }

  #class(): readonly Range[] | undefined {
    const isNegated = this.#take('^');
    const ranges: Range[] = [];
    while (!this.#take(']')) {
      const first = this.#member(this.#points[this.#at++]);
      if (first === undefined) return undefined;
      const [[from = 0, to = 0] = []] = first;
      if (this.#points[this.#at] !== '-' || this.#points[this.#at + 1] === ']') {
        append(ranges, first);
        continue;
      }
      this.#at++;
      const last = this.#member(this.#points[this.#at++]);
      const [[start = 0, end = 0] = []] = last ?? [];
      if (last === undefined || first.length + last.length > 2 || from !== to || start !== end || from > start) return undefined;
      ranges.push([from, start]);
    }
    const folded = ranges.length === 0 ? undefined : this.#folded(ranges);
    return folded === undefined || !isNegated ? folded : complement(folded);
  }

  /** The characters that one character of the pattern, or an escape, stands for. */
  #member(next: string | undefined): readonly Range[] | undefined {
    if (next === undefined || next === '[' || next === ']' || (next === '&' && this.#points[this.#at] === '&')) return undefined;
    if (next !== '\\') return [only(next)];
    const escaped = this.#points[this.#at++] ?? '';
    const named = own(NAMED_CLASSES, escaped.toLowerCase());
    if (this.#ignoresCase && escaped.toLowerCase() === 'w') return undefined;
    if (named !== undefined) return escaped === escaped.toLowerCase() ? named : complement(named);
    const control = CONTROLS.get(escaped);
    if (control !== undefined) return [[control, control]];
    return /^[!-/:-@[-`{-~]$/.test(escaped) ? [only(escaped)] : undefined;
  }

  #repeated(part: PatternNode): PatternNode | undefined {
    const times = this.#times();
    if (times === undefined) return undefined;
    const [min, max] = times;
    if (min === 1 && max === 1) return part;
    const isLazy = this.#take('?');
    if ('*+?{'.includes(this.#points[this.#at] ?? ' ')) return undefined;
    if (max > 1 && mayBeNothing(part)) return undefined;
    return { kind: 'times', part, min, max, isLazy };
  }

  #times(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    if (this.#points[this.#at] !== '{') return [1, 1];
    const found = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(this.#points.slice(this.#at, this.#at + 9).join(''));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const [, least, more, most] = found;
    const min = Number(least);
    const max = more === undefined ? min : most === '' ? Infinity : Number(most);
    return max < Math.max(1, min) || Math.max(min, max === Infinity ? 0 : max) > TIMES_MAX ? undefined : [min, max];
  }

  #take(wanted: string): boolean {
    if (this.#points[this.#at] !== wanted) return false;
    this.#at++;
    return true;
  }
}

const CONTROLS: ReadonlyMap<string, number> = new Map([
  ['t', 0x09],
  ['n', 0x0a],
  ['f', 0x0c],
  ['r', 0x0d],
]);

/** Whether a part can match without a character. */
export function mayBeNothing(node: PatternNode): boolean {
  switch (node.kind) {
    case 'characters':
      return false;
    case 'start':
    case 'end':
      return true;
    case 'sequence':
      return node.parts.every(mayBeNothing);
    case 'alternatives':
      return node.parts.some(mayBeNothing);
    case 'times':
      return node.min === 0 || mayBeNothing(node.part);
    case 'group':
      return mayBeNothing(node.part);
  }
}

export function groupCount(node: PatternNode): number {
  switch (node.kind) {
    case 'characters':
    case 'start':
    case 'end':
      return 0;
    case 'sequence':
    case 'alternatives':
      return node.parts.reduce((sum, part) => sum + groupCount(part), 0);
    case 'times':
      return groupCount(node.part);
    case 'group':
      return groupCount(node.part) + (node.number === null ? 0 : 1);
  }
}

function characters(ranges: readonly Range[] | undefined): PatternNode | undefined {
  return ranges === undefined ? undefined : { kind: 'characters', ranges };
}

const FIRST_BEYOND_ASCII = 0x80;
const [UPPER_A, UPPER_Z, LOWER_A, LOWER_Z] = [0x41, 0x5a, 0x61, 0x7a];
/** Letters of ASCII that have a third case: the sign of kelvin and the long s. */
const THIRD_CASES: ReadonlyMap<number, number> = new Map([
  [0x6b, 0x212a],
  [0x73, 0x17f],
]);

/** Ranges of ASCII, with both cases of their letters. */
function withBothCases(ranges: readonly Range[]): readonly Range[] {
  const change = LOWER_A - UPPER_A;
  const others = (first: number, last: number, by: number): readonly Range[] =>
    ranges.flatMap(([from, to]): readonly Range[] => {
      const [start, end] = [Math.max(from, first), Math.min(to, last)];
      return start > end ? [] : [[start + by, end + by]];
    });
  const both = [...ranges, ...others(UPPER_A, UPPER_Z, change), ...others(LOWER_A, LOWER_Z, -change)];
  const thirds = [...THIRD_CASES].filter(([letter]) => both.some(([from, to]) => from <= letter && letter <= to));
  return [...both, ...thirds.map(([, third]): Range => [third, third])];
}
