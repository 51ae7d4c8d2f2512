// Texts that a regular expression cannot match without, so that they can be looked for first, where the library matches it; automata have
// a text of theirs (`base/pattern/required-text.ts`).

import { containing, type LikePattern } from '../base/like-pattern.js';
import { append } from '../base/lists.js';

/** Stands between pieces, for text that the pattern says nothing about. */
const GAP = Symbol('gap');
/** The start of the text that is searched. */
const START = Symbol('start');
/**
 * Part of a match, in order: a string as it stands, one that has some of the strings listed in it, or a gap. Strings follow each
 * other directly.
 */
type Piece = string | readonly string[] | typeof GAP | typeof START;

const ANYTHING: readonly Piece[] = [GAP];
const NOTHING: readonly Piece[] = [];

/** Strings of which a match has one; to look for more of them takes longer than it saves. */
const TEXTS_MAX = 16;
/** Characters of pieces that are written out for `{n}`. */
const WRITTEN_MAX = 64;
const DEPTH_MAX = 50;

/**
 * LIKE patterns: every text in which the regular expression is found matches one of them, and the empty string none. Undefined where nothing is known: flags, look-around, `\Q`, `\p` and others that are not read here, and patterns
 * that may match without any character of their own.
 * @param pattern  one that `compileRegularExpression` accepts
 */
export function requiredTexts(pattern: string): readonly LikePattern[] | undefined {
  return new PatternReader(pattern).read();
}

class PatternReader {
  readonly #points: readonly string[];
  #at = 0;

  constructor(pattern: string) {
    this.#points = [...pattern];
  }

  read(): readonly LikePattern[] | undefined {
    const alternatives = this.#alternatives(0);
    if (alternatives === undefined || this.#at < this.#points.length) return undefined;
    const required: LikePattern[] = [];
    for (const pieces of alternatives) {
      const texts = longest(pieces);
      if (texts === undefined) return undefined;
      const [first, second] = pieces;
      const prefix = first === START && typeof second === 'string' ? second : '';
      append(
        required,
        texts.map((text) => containing(text === prefix ? '' : text, prefix)),
      );
    }
    return required.length > TEXTS_MAX ? undefined : required;
  }

  #alternatives(depth: number): readonly (readonly Piece[])[] | undefined {
    const alternatives: (readonly Piece[])[] = [];
    do {
      const pieces = this.#sequence(depth);
      if (pieces === undefined) return undefined;
      alternatives.push(pieces);
    } while (this.#take('|'));
    return alternatives;
  }

  #sequence(depth: number): readonly Piece[] | undefined {
    const pieces: Piece[] = [];
    while (this.#at < this.#points.length && !'|)'.includes(this.#points[this.#at] ?? '')) {
      const atom = this.#atom(depth);
      const times = this.#times();
      if (atom === undefined || times === undefined) return undefined;
      join(pieces, repeated(atom, ...times));
    }
    return pieces;
  }

  #atom(depth: number): readonly Piece[] | undefined {
    const next = this.#points[this.#at++] ?? '';
    switch (next) {
      case '(':
        return this.#group(depth + 1);
      case '[':
        return this.#class();
      case '\\':
        return this.#escaped();
      case '.':
        return ANYTHING;
      case '^':
        return [START];
      case '$':
        return NOTHING;
      default:
        return '*+?{'.includes(next) ? undefined : character(next);
    }
  }

  #group(depth: number): readonly Piece[] | undefined {
    if (depth > DEPTH_MAX || (this.#take('?') && !this.#take(':') && !this.#name())) return undefined;
    const alternatives = this.#alternatives(depth);
    const [first, ...others] = alternatives ?? [];
    if (first === undefined || !this.#take(')')) return undefined;
    if (others.length === 0) return first;
    const texts: string[] = [];
    for (const pieces of [first, ...others]) {
      const found = longest(pieces);
      if (found === undefined) return ANYTHING;
      append(texts, found);
    }
    return texts.length > TEXTS_MAX ? ANYTHING : [texts];
  }

  /** The name of a group, not the sign of a look-behind. */
  #name(): boolean {
    const found = /^P?<[A-Za-z]\w*>/.exec(this.#points.slice(this.#at, this.#at + WRITTEN_MAX).join(''));
    this.#at += found?.[0].length ?? 0;
    return found !== null;
  }

  #escaped(): readonly Piece[] | undefined {
    const next = this.#points[this.#at++] ?? '';
    if (/^[dDwWsSvV]$/.test(next)) return ANYTHING;
    if (/^[bBz]$/.test(next)) return NOTHING;
    if (next === 'A') return [START];
    const control = CONTROLS.get(next);
    if (control !== undefined) return [control];
    return PUNCTUATION.test(next) ? [next] : undefined;
  }

  /** One of several characters, or the only one that there is. */
  #class(): readonly Piece[] | undefined {
    const isNegated = this.#take('^');
    const begin = this.#at;
    for (;;) {
      const isFirst = this.#at === begin;
      const next = this.#points[this.#at++];
      if (next === undefined || next === '[' || (next === '&' && this.#points[this.#at] === '&')) return undefined;
      if (next === '\\' && /^[QE]?$/.test(this.#points[this.#at++] ?? '')) return undefined;
      if (next === ']' && !isFirst) break;
    }
    const members = this.#points.slice(begin, this.#at - 1);
    const [first = '', second = ''] = members;
    if (isNegated || members.length > 2) return ANYTHING;
    if (members.length === 1) return first === '\\' ? ANYTHING : character(first);
    return first === '\\' && PUNCTUATION.test(second) ? [second] : ANYTHING;
  }

  /** Least and greatest number of times that the piece before stands there. */
  #times(): readonly [number, number] | undefined {
    const times = this.#quantifier();
    if (times === undefined) return undefined;
    const [min, max] = times;
    if (min !== 1 || max !== 1) this.#take('?');
    return '*+?{'.includes(this.#points[this.#at] ?? ' ') ? undefined : times;
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Infinity];
    if (this.#take('+')) return [1, Infinity];
    if (this.#take('?')) return [0, 1];
    if (this.#points[this.#at] !== '{') return [1, 1];
    const found = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#points.slice(this.#at, this.#at + 12).join(''));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const [, min, more, max] = found;
    return [Number(min), more === undefined ? Number(min) : max === '' ? Infinity : Number(max)];
  }

  #take(wanted: string): boolean {
    if (this.#points[this.#at] !== wanted) return false;
    this.#at++;
    return true;
  }
}

const PUNCTUATION = /^[!-/:-@[-`{-~]$/;

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['t', '\t'],
  ['n', '\n'],
  ['r', '\r'],
  ['f', '\f'],
]);

/** A character as it stands; what UTF-8 does not have, or has in the place of it, may be written in other ways. */
function character(point: string): readonly Piece[] {
  return /^[\ud800-\udfff\ufffd]$/.test(point) ? ANYTHING : [point];
}

/** Appends pieces that follow directly. A start of the text behind other pieces says nothing of what is between. */
function join(pieces: Piece[], others: readonly Piece[]): void {
  for (const piece of others) {
    const last = pieces.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') pieces[pieces.length - 1] = last + piece;
    else if ((piece !== START || last === undefined) && (piece !== GAP || last !== GAP)) pieces.push(piece);
  }
}

function repeated(pieces: readonly Piece[], min: number, max: number): readonly Piece[] {
  if (min === 0) return ANYTHING;
  if (max === 1) return pieces;
  const size = pieces.reduce((sum, piece) => sum + (typeof piece === 'string' ? piece.length : 1), 1);
  const times = size * min <= WRITTEN_MAX ? min : 1;
  const written: Piece[] = [];
  for (let time = 0; time < times; time++) join(written, pieces);
  if (times < max) join(written, ANYTHING);
  return written;
}

/** The strings of the piece whose shortest is longest: a match has one of them. */
function longest(pieces: readonly Piece[]): readonly string[] | undefined {
  let found: readonly string[] | undefined;
  let length = 0;
  for (const piece of pieces) {
    if (typeof piece === 'symbol') continue;
    const texts = typeof piece === 'string' ? [piece] : piece;
    const shortest = texts.reduce((min, text) => Math.min(min, text.length), Infinity);
    if (shortest <= length) continue;
    found = texts;
    length = shortest;
  }
  return found;
}
