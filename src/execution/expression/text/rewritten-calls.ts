// Functions of texts that others compute: the same in words for which there are kernels.

import { patternTree } from '../../../base/pattern/pattern-tree.js';
import { constantOf, inferType, type TypeOf } from '../../../expression/expression-type.js';
import { call, type Expression, long, text } from '../../../model/expression.js';
import { integer, wellFormed } from './constants.js';

type Call = Extract<Expression, { kind: 'call' }>;

/** The call in other words; undefined where there are none. */
export function rewritten(given: Call, typeOf: TypeOf): Expression | undefined {
  switch (given.function) {
    case 'format':
      return formatted(given, typeOf);
    case 'regexp_replace':
      return groupOfWhole(given);
    case 'repeat':
      return repeated(given);
    case 'array_offset':
      return partOfSplit(given, 0);
    case 'array_ordinal':
      return partOfSplit(given, 1);
    default:
      return undefined;
  }
}

/** A pattern of texts and of whole numbers as they are: nulls are the word. */
function formatted({ arguments: [pattern, ...values] }: Call, typeOf: TypeOf): Expression | undefined {
  const form = wellFormed(pattern);
  if (form === undefined) return undefined;
  const parts: Expression[] = [];
  let used = 0;
  for (const [piece] of form.matchAll(/%%|%.?|[^%]+/gs)) {
    if (piece === '%%' || !piece.startsWith('%')) {
      parts.push(text(piece === '%%' ? '%' : piece));
      continue;
    }
    const value = values[used++];
    const type = value === undefined ? undefined : inferType(value, typeOf);
    const isTaken = piece === '%s' ? type === 'STRING' || type === 'LONG' : piece === '%d' && type === 'LONG';
    if (value === undefined || !isTaken) return undefined;
    parts.push(call('nvl', type === 'STRING' ? value : call('cast', value, text('STRING')), text('null')));
  }
  return parts.length > 1 ? call('concat', ...parts) : parts[0];
}

const REPEATED_MAX = 8;

function repeated({ arguments: [part, times] }: Call): Expression | undefined {
  const count = integer(times) ?? 0;
  if (part === undefined || count < 1 || count > REPEATED_MAX) return undefined;
  return count === 1 ? part : call('concat', ...Array.from({ length: count }, () => part));
}

/** A text that a pattern fits from its start to its end, replaced by the pattern's first group. */
function groupOfWhole({ arguments: [whole, pattern, replacement] }: Call): Expression | undefined {
  const [form, wanted] = [wellFormed(pattern), wellFormed(replacement)];
  const tree = form === undefined || wanted !== '$1' ? undefined : patternTree(form);
  if (whole === undefined || form === undefined || tree?.kind !== 'sequence') return undefined;
  const isThere = tree.parts.some((part) => part.kind === 'group' && part.number === 1);
  const isWhole = tree.parts[0]?.kind === 'start' && tree.parts.at(-1)?.kind === 'end';
  return isThere && isWhole ? call('nvl', call('regexp_extract', whole, text(form), long(1)), whole) : undefined;
}

const PARTS_MAX = 20;

/**
 * A part of a text that is split at one character. Empty parts at the end are none, but for the only part of an empty text: so a part
 * has characters, or others follow behind further separators.
 */
function partOfSplit({ arguments: [given, place] }: Call, base: number): Expression | undefined {
  const list = given?.kind === 'call' && given.function === 'mv_to_array' ? given.arguments[0] : given;
  if (list?.kind !== 'call' || list.function !== 'string_to_array') return undefined;
  const [whole, separator] = list.arguments;
  const [index, pattern] = [integer(place), constantOf(separator)?.value];
  if (whole === undefined || index === undefined || typeof pattern !== 'string') return undefined;
  const character = SEPARATOR.exec(pattern)
    ?.slice(1)
    .find((each) => each !== undefined);
  const skipped = index - base;
  if (character === undefined || skipped < 0 || skipped > PARTS_MAX) return undefined;
  const mark = /[0-9A-Za-z ]/.test(character) ? character : `\\${character}`;
  const others = `[^${mark}]`;
  const before = skipped === 0 ? '^' : `^(?:${others}*${mark}){${skipped}}`;
  const isEmpty = call('regexp_like', whole, text(`${before}${mark}+${others}`));
  if (skipped > 0)
    return call('nvl', call('regexp_extract', whole, text(`${before}(${others}+)`), long(1)), call('case_searched', isEmpty, text('')));
  const end = call('strpos', whole, text(character));
  return call('case_searched', call('<', end, long(0)), whole, call('>', end, long(0)), call('left', whole, end), isEmpty, text(''));
}

/** A pattern that is one character: as it is, escaped, or alone in a class. */
const SEPARATOR = /^(?:([0-9A-Za-z !"#%&',\-/:;<=>@_`~])|\\([!-/:-@[-`{-~])|\[([.|*+?$(){}])\])$/;

/** Conditions in place of the candidates of a subject. */
export function searched(subject: Expression, cases: readonly Expression[]): readonly Expression[] {
  const isCandidate = (index: number): boolean => index % 2 === 0 && index + 1 < cases.length;
  return cases.map((each, index) => (isCandidate(index) ? call('==', subject, each) : each));
}
