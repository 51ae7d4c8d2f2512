// Computes a function of the entries of a dictionary, without reading those in which no pattern can be found.

import type { Address } from '../../base/layout.js';
import { containing, type LikePattern, likeBytes, likeTest, parseLike } from '../../base/like-pattern.js';
import { append } from '../../base/lists.js';
import { constantOf } from '../../expression/expression-type.js';
import { parseJsonPath } from '../../expression/json-path.js';
import { requiredAddresses } from '../../expression/required-addresses.js';
import { requiredTexts } from '../../expression/required-texts.js';
import { isArrayValue, type Value, valueOfText } from '../../expression/value.js';
import { arrayText } from '../../model/array-text.js';
import { columnsReadBy } from '../../model/columns-read.js';
import type { Expression } from '../../model/expression.js';
import { type ArrayType, type ColumnType, elementType, isArrayType, JSON_TYPE } from '../../model/schema.js';
import type { DictionaryView, StringColumnView } from '../../storage/view.js';
import { type RunContext, takeZeroed } from '../block/context.js';
import { entriesLike } from '../block/like-entries.js';
import { elementFunction } from './number/number-lists.js';
import { Remembered } from './remembered-results.js';
import type { RowFunction } from './row-function.js';
import type { SegmentScope } from './scope.js';

/** To look for more patterns takes longer than it saves. */
const PATTERNS_MAX = 32;
/** Entries in which a text is looked for in the time that it takes to decode one string and match it. */
const ENTRIES_PER_STRING = 32;
const BYTES_MAX = 1 << 24;

/** Values of an expression, by entry. @param read  the value of an entry, which is not null for the others */
export function entryFunction(
  scope: SegmentScope,
  column: StringColumnView,
  { cells, compute, expression }: RowFunction,
  read: (id: number) => Value,
): (id: number) => Value {
  const element = elementFunction(scope, column, expression);
  if (element !== undefined)
    return (id) => {
      scope.context.computed.valuesByEntry++;
      return element(id);
    };
  const ofValue = (value: Value): Value => {
    cells[0] = value;
    scope.context.computed.valuesByEntry++;
    return compute();
  };
  const patterns = patternsFor(column, expression);
  if (patterns === undefined) return (id) => ofValue(read(id));
  const { dictionary } = column;
  let few = dictionary.count / ENTRIES_PER_STRING;
  let found: Uint32Array | undefined;
  let ofOthers: { readonly value: Value } | undefined;
  return (id) => {
    if (--few > 0 || (id === 0 && dictionary.hasNull)) return ofValue(read(id));
    found ??= entriesOfAny(scope, dictionary, patterns);
    if ((((found[id >>> 5] ?? 0) >>> (id & 31)) & 1) === 1) return ofValue(read(id));
    ofOthers ??= { value: ofValue(valueOfText(column.type === JSON_TYPE ? '{}' : '', column.type)) };
    return ofOthers.value;
  };
}

/** Whether few entries of those that are asked for may be read, so that decoding all of them would be in vain. */
export function readsFewEntries(column: StringColumnView, { expression }: RowFunction): boolean {
  return patternsFor(column, expression) !== undefined;
}

function patternsFor({ type }: StringColumnView, expression: Expression | undefined): readonly LikePattern[] | undefined {
  return expression === undefined || !HAS_PATTERNS.has(type) ? undefined : patternsOf(expression, type);
}

/** Types of columns of whose texts conditions say what is in them. */
const HAS_PATTERNS: ReadonlySet<string> = new Set(['STRING', 'ARRAY<LONG>', 'ARRAY<DOUBLE>', JSON_TYPE]);
const PATTERNS = new WeakMap<Expression, { readonly type: ColumnType; readonly patterns: readonly LikePattern[] | undefined }>();

/** LIKE patterns: of texts that match none, the expression gives what it gives of the empty string, array or object. Undefined where it may not. */
function patternsOf(expression: Expression, type: ColumnType): readonly LikePattern[] | undefined {
  const known = PATTERNS.get(expression);
  if (known?.type === type) return known.patterns;
  const collected: LikePattern[] = [];
  const isKnown = collect(expression, type, collected) && collected.length > 0 && collected.length <= PATTERNS_MAX;
  const patterns = isKnown ? collected : undefined;
  PATTERNS.set(expression, { type, patterns });
  return patterns;
}

/** Whether an expression reads its column by conditions only that are the same of all strings that match none of the patterns. */
function collect(expression: Expression, type: ColumnType, into: LikePattern[]): boolean {
  switch (expression.kind) {
    case 'literal':
      return true;
    case 'column':
      return false;
    case 'lambda':
      return columnsReadBy(expression).size === 0;
    case 'call': {
      const [subject, ...others] = expression.arguments;
      const patterns = subject?.kind === 'column' ? requiredOf(expression.function, type, others) : undefined;
      if (patterns === undefined) return expression.arguments.every((each) => collect(each, type, into));
      append(into, patterns);
      return others.every((each) => collect(each, type, into));
    }
  }
}

function requiredOf(name: string, type: ColumnType, [pattern, escape]: readonly Expression[]): readonly LikePattern[] | undefined {
  if (isArrayType(type)) return requiredElements(name, type, constantOf(pattern)?.value);
  const text = wellFormed(pattern);
  if (text === undefined) return undefined;
  if (type === JSON_TYPE) return requiredMembers(name, text);
  switch (name) {
    case 'regexp_like':
    case 'regexp_extract':
      return requiredTexts(text);
    case 'ipv4_match':
      return requiredAddresses(text);
    case 'contains_string':
      return text === '' ? undefined : [containing(text)];
    case 'like': {
      const mark = escape === undefined ? null : wellFormed(escape);
      if (mark === undefined) return undefined;
      const like = parseLike(text, mark);
      return likeTest(like)('') ? undefined : [like];
    }
    default:
      return undefined;
  }
}

/** Texts in arrays of numbers that have all, or any, of some elements: numbers have as many digits each, and marks around them that no digit is. */
function requiredElements(name: string, type: ArrayType, constant: Value | undefined): readonly LikePattern[] | undefined {
  if (constant === undefined) return undefined;
  const elements = isArrayValue(constant) ? constant : [constant];
  const texts: LikePattern[] = [];
  for (const each of elements) {
    // Among DOUBLEs 0 is equal to -0, which has another text, and NaN to nothing.
    const isPlain = elementType(type) === 'LONG' ? typeof each === 'bigint' : typeof each === 'number' && each !== 0 && !Number.isNaN(each);
    if (!isPlain || (typeof each !== 'bigint' && typeof each !== 'number')) return undefined;
    texts.push(containing(arrayText([each], type)));
  }
  if (texts.length === 0) return undefined;
  return name === 'array_overlap' ? texts : name === 'array_contains' ? texts.slice(0, 1) : undefined;
}

const READS_PATH: ReadonlySet<string> = new Set(['json_value', 'json_query', 'json_query_array']);

/** The longest name in the path, as JSON has it: objects without it have nothing there. */
function requiredMembers(name: string, path: string): readonly LikePattern[] | undefined {
  const names = READS_PATH.has(name) ? parseJsonPath(path).flatMap((part) => (part.kind === 'field' ? [part.name] : [])) : [];
  const longest = names.reduce((a, b) => (b.length > a.length ? b : a), '');
  return longest === '' ? undefined : [containing(`${JSON.stringify(longest)}:`)];
}

/** A constant string that UTF-8 has. */
function wellFormed(expression: Expression | undefined): string | undefined {
  const text = constantOf(expression)?.value;
  return typeof text !== 'string' || Buffer.from(text).toString() !== text ? undefined : text;
}

const REMEMBERED = new WeakMap<RunContext, Remembered<Uint32Array>>();

/** A bit for each entry, set where it matches any of the patterns; found once for consecutive row ranges of a segment. */
function entriesOfAny(scope: SegmentScope, dictionary: DictionaryView, patterns: readonly LikePattern[]): Uint32Array {
  const remembered = REMEMBERED.get(scope.context) ?? new Remembered<Uint32Array>(({ byteLength }) => byteLength, BYTES_MAX);
  REMEMBERED.set(scope.context, remembered);
  const key = patterns.map((like) => Buffer.from(likeBytes(like)).toString('base64')).join(' ');
  return remembered.get(dictionary, key, () => {
    const { memory } = scope.context;
    const words = Math.ceil(dictionary.count / 64);
    return memory.u32(findAny(scope, dictionary, patterns, words), words * 2).slice();
  });
}

function findAny(scope: SegmentScope, dictionary: DictionaryView, patterns: readonly LikePattern[], words: number): Address {
  const { arena, context } = scope;
  const { kernels } = context;
  const take = (): Address => takeZeroed(arena, context, words * 8);
  const any = take();
  for (const pattern of patterns) {
    scope.context.check();
    const { lower, upper, bits } = entriesLike(scope, dictionary, pattern, take);
    if (lower >= upper) continue;
    const at = bits === 0 ? take() : bits;
    if (bits === 0) kernels.bitsFill(at, words, lower, upper);
    kernels.bitsOr(any, at, words, any);
  }
  return any;
}
