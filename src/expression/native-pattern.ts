// Patterns that the engine of JavaScript may match: those for which its time is linear, and its meaning that of Java.

import { append } from '../base/lists.js';
import { own } from '../base/names.js';
import { complement, LINE_ENDS, NAMED_CLASSES, only, overlaps, type Range } from '../base/pattern/code-points.js';

/** A pattern as JavaScript has it. */
export interface NativePattern {
  /** For code points, without other flags. */
  readonly source: string;
  readonly groupCount: number;
  /** Whether each group takes part in every match. */
  readonly hasAllGroups: boolean;
  readonly matchesEmpty: boolean;
}

interface Element {
  readonly ranges: readonly Range[];
  readonly min: number;
  readonly max: number;
  /** Within a group that may be left out. */
  readonly isOptional: boolean;
}

/** Ways to match what comes before an end that fails, and characters that each start may look at: factors of the time. */
const WAYS_MAX = 16;
const WIDTH_MAX = 64;

/**
 * Characters and classes one after the other, groups, `?`, `{n,m}`; `*` and `+` at the end, where nothing after them can fail, or in a
 * pattern that begins with `^` in front of a character that they do not take. Undefined for all others.
 */
export function nativePattern(pattern: string): NativePattern | undefined {
  const reader = new PatternReader(pattern);
  return reader.read();
}

class PatternReader {
  readonly #points: readonly string[];
  readonly #elements: Element[] = [];
  #at = 0;
  #source = '';
  #groups = 0;
  #hasAllGroups = true;
  #ways = 1;

  constructor(pattern: string) {
    this.#points = [...pattern];
  }

  read(): NativePattern | undefined {
    const isAnchored = this.#take('^');
    if (!this.#sequence(0)) return undefined;
    const isEnded = this.#take('$');
    if (this.#at < this.#points.length || this.#elements.length === 0) return undefined;
    if (!(isAnchored ? this.#isDeterministic() : !isEnded && this.#failsEarly())) return undefined;
    return {
      source: `${isAnchored ? '^' : ''}${this.#source}${isEnded ? '$' : ''}`,
      groupCount: this.#groups,
      hasAllGroups: this.#hasAllGroups,
      matchesEmpty: this.#elements.every(({ min, isOptional }) => min === 0 || isOptional),
    };
  }

  /** Only the last element has no end, and the others are few. */
  #failsEarly(): boolean {
    const before = this.#elements.slice(0, -1);
    const width = before.reduce((sum, { max }) => sum + max, 0);
    return width <= WIDTH_MAX && this.#waysOf(before) <= WAYS_MAX;
  }

  /** Each element without an end stands before what begins with a character that it does not take, or at the end. */
  #isDeterministic(): boolean {
    const bounded = this.#elements.filter(({ max }) => max < Infinity);
    const width = bounded.reduce((sum, { max }) => sum + max, 0);
    if (width > WIDTH_MAX || this.#waysOf(bounded) > WAYS_MAX) return false;
    return this.#elements.every(({ ranges, max }, index) => {
      if (max < Infinity) return true;
      for (const next of this.#elements.slice(index + 1)) {
        if (overlaps(ranges, next.ranges)) return false;
        if (next.min > 0 && !next.isOptional) return true;
      }
      return true;
    });
  }

  #waysOf(elements: readonly Element[]): number {
    return elements.reduce((ways, { min, max }) => ways * (max - min + 1), this.#ways);
  }

  #sequence(depth: number): boolean {
    while (this.#at < this.#points.length) {
      const next = this.#points[this.#at];
      if (next === ')' || next === '$') return next === '$' ? depth === 0 : depth > 0;
      if (next === '(' ? !this.#group(depth) : !this.#element()) return false;
    }
    return depth === 0;
  }

  #group(depth: number): boolean {
    this.#at++;
    const isCapturing = !this.#take('?');
    if (!isCapturing && !this.#take(':')) return false;
    const [first, groups, source] = [this.#elements.length, this.#groups, this.#source];
    if (isCapturing) this.#groups++;
    this.#source = '';
    if (depth > 4 || !this.#sequence(depth + 1) || !this.#take(')')) return false;
    const inner = this.#source;
    const isOptional = this.#take('?');
    this.#source = `${source}(${isCapturing ? '' : '?:'}${inner})${isOptional ? '?' : ''}`;
    if (this.#elements.length === first || this.#isQuantifier()) return false;
    if (!isOptional) return true;
    const elements = this.#elements.splice(first);
    if (elements.some(({ max }) => max === Infinity)) return false;
    if (elements.every(({ min }) => min === 0)) return false;
    this.#ways *= 2;
    append(
      this.#elements,
      elements.map((each) => ({ ...each, isOptional: true })),
    );
    if (this.#groups > groups) this.#hasAllGroups = false;
    return true;
  }

  #element(): boolean {
    const ranges = this.#characters();
    if (ranges === undefined) return false;
    const [min, max] = this.#quantifier() ?? [];
    if (min === undefined || max === undefined || this.#isQuantifier()) return false;
    this.#elements.push({ ranges, min, max, isOptional: false });
    const times = max === Infinity ? `{${min},}` : `{${min},${max}}`;
    this.#source += `[${ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join('')}]${times}`;
    return true;
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    if (this.#points[this.#at] !== '{') return [1, 1];
    const found = /^\{(\d{1,2})(?:,(\d{1,2}))?\}/.exec(this.#points.slice(this.#at, this.#at + 7).join(''));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : Number(found[2]);
    return max < Math.max(1, min) ? undefined : [min, max];
  }

  #isQuantifier(): boolean {
    return '*+?{'.includes(this.#points[this.#at] ?? ' ');
  }

  /** One character, or one of a class. */
  #characters(): readonly Range[] | undefined {
    const next = this.#points[this.#at++] ?? '';
    if (next === '.') return complement(LINE_ENDS);
    if (next === '[') return this.#class();
    if (next === '\\') return this.#escaped();
    return '^$*+?{}|()]'.includes(next) ? undefined : [only(next)];
  }

  #escaped(): readonly Range[] | undefined {
    const next = this.#points[this.#at++] ?? '';
    const named = own(NAMED_CLASSES, next);
    if (named !== undefined) return named;
    return /^[!-/:-@[-`{-~]$/.test(next) ? [only(next)] : undefined;
  }

  #class(): readonly Range[] | undefined {
    const isNegated = this.#take('^');
    const ranges: Range[] = [];
    while (!this.#take(']')) {
      const first = this.#member();
      if (first === undefined) return undefined;
      const [[from = 0, to = 0] = []] = first;
      if (this.#points[this.#at] !== '-' || this.#points[this.#at + 1] === ']') {
        append(ranges, first);
        continue;
      }
      this.#at++;
      const last = this.#member();
      const [[start = 0, end = 0] = []] = last ?? [];
      if (last === undefined || first.length + last.length > 2 || from !== to || start !== end || from > start) return undefined;
      ranges.push([from, start]);
    }
    if (ranges.length === 0) return undefined;
    return isNegated ? complement(ranges) : ranges;
  }

  #member(): readonly Range[] | undefined {
    const next = this.#points[this.#at++];
    if (next === undefined || next === '[' || next === ']' || (next === '&' && this.#points[this.#at] === '&')) return undefined;
    return next === '\\' ? this.#escaped() : [only(next)];
  }

  #take(character: string): boolean {
    if (this.#points[this.#at] !== character) return false;
    this.#at++;
    return true;
  }
}
