// Compiles expressions over texts to trees of kernels.

import { containing, likeBytes, parseLike } from '../../../base/like-pattern.js';
import { own } from '../../../base/names.js';
import { constantOf, inferType, type TypeOf } from '../../../expression/expression-type.js';
import { convert } from '../../../expression/value.js';
import type { Expression } from '../../../model/expression.js';
import { isNumberType, JSON_TYPE } from '../../../model/schema.js';
import { layTexts } from '../../block/text-references.js';
import { arrayOfList, numberOfList, textOfList, truthOfList } from '../lists/list-calls.js';
import type { ListElement, ListNode } from '../lists/list-node.js';
import { type ListParts, madeList } from '../lists/made-calls.js';
import type { Lane, NumberNode, TruthNode } from '../number/node.js';
import type { NumberVector, TextNode } from '../vector.js';
import * as addresses from './addresses.js';
import { count, integer, isAscii, wellFormed } from './constants.js';
import { elementsOfDocument, partOfDocument } from './document-parts.js';
import * as patterns from './pattern-functions.js';
import { rewritten, searched } from './rewritten-calls.js';
import * as functions from './text-functions.js';
import type { TextWork } from './text-node.js';
import { timeTexts } from './text-of-times.js';
import * as parts from './text-parts.js';
import { timesOfTexts } from './times-of-texts.js';

/** Nodes by the names of an expression; undefined for columns that are neither strings nor conditions here. */
export interface TextLeaves {
  column(name: string): TextNode | undefined;
  /** A LONG, or a DOUBLE, for each row. */
  numbers(expression: Expression, lane: Lane): NumberNode | undefined;
  /** A LONG for each row as a column. */
  longs(expression: Expression): NumberVector | undefined;
  /** A condition that is not over strings. */
  truth(expression: Expression): TruthNode | undefined;
  /** Lists of strings or numbers. */
  lists(expression: Expression): ListNode | undefined;
  /** Whether a part of an expression, whose texts may have surrogate pairs, cuts none of them. */
  cutsNone(expression: Expression): boolean;
}

type Call = Extract<Expression, { kind: 'call' }>;
type Comparison = { readonly operation: 0 | 1 | 2; readonly isSwapped: boolean; readonly isNegated: boolean };

/** Comparisons expressed by `textCompare`. */
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '==': { operation: 0, isSwapped: false, isNegated: false },
  '!=': { operation: 0, isSwapped: false, isNegated: true },
  '<': { operation: 1, isSwapped: false, isNegated: false },
  '<=': { operation: 2, isSwapped: false, isNegated: false },
  '>': { operation: 1, isSwapped: true, isNegated: false },
  '>=': { operation: 2, isSwapped: true, isNegated: false },
};

/** Nodes of an expression: each holds a block of references, most of them bytes as well. */
const NODES_MAX = 64;
/** Padded texts of a block take so many bytes at most. */
const PADDED_BYTES_MAX = 1 << 26;
const ALL = -1n;

/** Expressions over texts as trees of kernels; undefined for what has none, and for constants that are no valid ones. */
export class TextCompiler {
  readonly #work: TextWork;
  readonly #typeOf: TypeOf;
  readonly #leaves: TextLeaves;
  readonly #listParts: ListParts;
  #nodes = 0;

  constructor(work: TextWork, typeOf: TypeOf, leaves: TextLeaves) {
    this.#work = work;
    this.#typeOf = typeOf;
    this.#leaves = leaves;
    this.#listParts = {
      work,
      typeOf,
      lists: this.#lists,
      text: (expression) => this.#rows(expression),
      numbers: leaves.numbers,
    };
  }

  text(expression: Expression): TextNode | undefined {
    if (++this.#nodes > NODES_MAX) return undefined;
    switch (expression.kind) {
      case 'literal':
        return this.#constant(convert(constantOf(expression)?.value ?? null, 'STRING'));
      case 'column':
        return this.#leaves.column(expression.name);
      case 'call':
        return inferType(expression, this.#typeOf) === 'STRING' ? this.#textCall(expression) : undefined;
      case 'lambda':
        return undefined;
    }
  }

  /** Documents as they are written. */
  json(expression: Expression): TextNode | undefined {
    if (expression.kind === 'lambda' || inferType(expression, this.#typeOf) !== JSON_TYPE) return undefined;
    if (expression.kind === 'column') return this.#leaves.column(expression.name);
    const [operand, path] = expression.kind === 'call' && expression.function === 'json_query' ? expression.arguments : [];
    const whole = operand === undefined ? undefined : this.json(operand);
    return whole === undefined ? undefined : partOfDocument(this.#work, whole, path);
  }

  /** An array of elements of a type; undefined where one is stored as it is. */
  array(expression: Expression, element: ListElement): TextNode | undefined {
    return arrayOfList(this.#work, expression, element, this.#lists);
  }

  /** Lists of strings or numbers. */
  list(expression: Expression): ListNode | undefined {
    return this.#lists(expression);
  }

  readonly #lists = (given: Expression): ListNode | undefined => {
    const expression = this.#withoutForm(given);
    return this.#leaves.lists(expression) ?? (++this.#nodes > NODES_MAX ? undefined : madeList(this.#listParts, expression));
  };

  /** Values of a row and an array of strings are the same list. */
  #withoutForm(expression: Expression): Expression {
    const [inner] = expression.kind === 'call' && FORMS.has(expression.function) ? expression.arguments : [];
    const isSame =
      inner !== undefined &&
      ['ARRAY<STRING>', inferType(inner, this.#typeOf)].every((type) => type === inferType(expression, this.#typeOf));
    return isSame ? this.#withoutForm(inner) : expression;
  }

  number(expression: Expression): NumberNode | undefined {
    if (expression.kind !== 'call') return undefined;
    const ofList = this.#elementsOfDocument(expression) ?? numberOfList(this.#work, expression, this.#lists);
    if (ofList !== undefined) return ofList;
    const [operand, wanted, ...others] = expression.arguments;
    if (operand === undefined) return undefined;
    if (expression.function === 'ipv4_parse') return this.#address(operand, true);
    if (!this.#isText(operand)) return undefined;
    if (expression.function === 'cast') {
      const type = inferType(expression, this.#typeOf);
      const node = type === 'LONG' || type === 'DOUBLE' ? this.#rows(operand) : undefined;
      return node === undefined || (type !== 'LONG' && type !== 'DOUBLE') ? undefined : functions.numbers(this.#work, node, type);
    }
    if (expression.function === 'timestamp_parse') {
      const node = this.#rows(operand);
      return node === undefined ? undefined : timesOfTexts(this.#work, node, expression);
    }
    if (expression.function === 'strlen') {
      const node = this.#rows(operand);
      return node === undefined ? undefined : functions.units(this.#work, node);
    }
    return expression.function === 'strpos' && wanted !== undefined ? this.#position(operand, wanted, others[0]) : undefined;
  }

  #elementsOfDocument({ function: name, arguments: [list] }: Call): NumberNode | undefined {
    if (name !== 'array_length' || list?.kind !== 'call' || list.function !== 'json_query_array') return undefined;
    const [operand, path] = list.arguments;
    const whole = operand === undefined ? undefined : this.json(operand);
    const part = whole === undefined ? undefined : partOfDocument(this.#work, whole, path);
    return part === undefined ? undefined : elementsOfDocument(this.#work, part);
  }

  /** The numbers of addresses that texts or LONGs are. `isChecked`: LONGs that are none become null. */
  #address(operand: Expression, isChecked: boolean): NumberNode | undefined {
    if (this.#isText(operand)) {
      const node = this.#rows(operand);
      return node === undefined ? undefined : addresses.numbersOfAddresses(this.#work, node);
    }
    const isLong = operand.kind !== 'lambda' && inferType(operand, this.#typeOf) === 'LONG';
    const numbers = isLong ? this.#leaves.numbers(operand, 'I64') : undefined;
    return numbers === undefined || !isChecked ? numbers : addresses.knownAddresses(this.#work, numbers);
  }

  #position(operand: Expression, wanted: Expression, from: Expression | undefined): NumberNode | undefined {
    const node = this.#rows(operand);
    if (node === undefined) return undefined;
    const search = wellFormed(wanted);
    if (search !== undefined && from === undefined) return parts.position(this.#work, node, search);
    const [searches, start] = [this.#isText(wanted) ? this.text(wanted) : undefined, this.#long(from, 0n)];
    return searches === undefined || start === undefined ? undefined : parts.positionOfEach(this.#work, node, searches, start);
  }

  /** A LONG, one for all rows where it is a constant; `absent` where there is no expression. */
  #long(expression: Expression | undefined, absent: bigint): NumberNode | undefined {
    const value = expression === undefined ? absent : constantOf(expression)?.value;
    if (value !== undefined || expression === undefined) return typeof value === 'bigint' ? this.#work.long(value) : undefined;
    return inferType(expression, this.#typeOf) === 'LONG' ? this.#leaves.numbers(expression, 'I64') : undefined;
  }

  truth(expression: Expression): TruthNode | undefined {
    if (expression.kind !== 'call' || ++this.#nodes > NODES_MAX) return undefined;
    const ofList = truthOfList(this.#work, expression, this.#lists);
    if (ofList !== undefined) return ofList;
    const { function: name, arguments: operands } = expression;
    const [left, right] = operands;
    if (name === 'ipv4_match' && left !== undefined) {
      const numbers = this.#address(left, false);
      return numbers === undefined ? undefined : addresses.isInSubnet(this.#work, numbers, right);
    }
    if (left === undefined || !operands.every((each) => this.#isText(each))) return undefined;
    if (right === undefined) return this.#nullness(name, left);
    const comparison = operands.length === 2 ? own(COMPARISONS, name) : undefined;
    if (comparison !== undefined) {
      const [a, b] = [this.text(left), this.text(right)];
      if (a === undefined || b === undefined) return undefined;
      const [x, y] = comparison.isSwapped ? [b, a] : [a, b];
      return functions.compared(this.#work, x, y, comparison.operation, comparison.isNegated);
    }
    if (name === 'regexp_like' || name === 'icontains_string') {
      const automaton = name === 'regexp_like' ? patterns.automatonFor(right, null) : patterns.automatonWithin(right);
      const node = automaton === undefined ? undefined : this.#rows(left);
      return automaton === undefined || node === undefined ? undefined : patterns.matches(this.#work, node, automaton);
    }
    if (name === 'contains_string' && constantOf(right) === undefined) {
      const [node, wanted] = [this.#rows(left), this.text(right)];
      return node === undefined || wanted === undefined ? undefined : parts.contained(this.#work, node, wanted);
    }
    const pattern = this.#pattern(expression);
    const node = pattern === undefined ? undefined : this.#rows(left);
    return pattern === undefined || node === undefined ? undefined : functions.like(this.#work, node, pattern);
  }

  #nullness(name: string, operand: Expression): TruthNode | undefined {
    const node = name === 'isnull' || name === 'notnull' ? this.text(operand) : undefined;
    return node === undefined ? undefined : functions.isNull(this.#work, node, name === 'notnull');
  }

  #pattern({ function: name, arguments: [, pattern, escape] }: Call): Uint8Array | undefined {
    const text = wellFormed(pattern);
    if (text === undefined) return undefined;
    if (name === 'contains_string') return likeBytes(containing(text));
    const mark = escape === undefined ? null : wellFormed(escape);
    return name === 'like' && mark !== undefined ? likeBytes(parseLike(text, mark)) : undefined;
  }

  /** One text for each row. */
  #rows(expression: Expression): TextNode | undefined {
    const node = this.text(expression);
    return node === undefined ? undefined : this.#work.everyRow(node);
  }

  #constant(text: string | null): TextNode | undefined {
    if (text !== null && Buffer.from(text).toString() !== text) return undefined;
    const { arena, context } = this.#work.scope;
    const at = layTexts(context.memory, arena, [text]);
    return { constant: text, mayBeNull: text === null, isBmp: functions.isBmpOnly(text ?? ''), texts: () => at };
  }

  #textCall(call: Call): TextNode | undefined {
    const [first, second, third] = call.arguments;
    if (first === undefined) return undefined;
    const inOtherWords = rewritten(call, this.#typeOf);
    if (inOtherWords !== undefined) return this.text(inOtherWords);
    switch (call.function) {
      case 'concat':
        return this.#all(call.arguments, (nodes) => functions.concat(this.#work, nodes));
      case 'nvl':
      case 'coalesce':
        return this.#all(call.arguments, (nodes) => functions.firstKnown(this.#work, nodes));
      case 'least':
      case 'greatest':
        return this.#extreme(call);
      case 'if':
      case 'case_searched':
        return this.#choice(call.arguments);
      case 'case_simple':
        return this.#choice(searched(first, call.arguments.slice(1)));
      case 'cast':
        return this.#cast(first);
      case 'to_json_string':
        return this.json(first);
      case 'timestamp_format':
        return timeTexts(this.#work, call, this.#nodes === 1, (expression) =>
          inferType(expression, this.#typeOf) === 'LONG' ? this.#leaves.longs(expression) : undefined,
        );
      case 'substring':
        return this.#slice(call, 0, second, third);
      case 'left':
        return this.#slice(call, 1, undefined, second);
      case 'right':
        return this.#slice(call, 2, undefined, second);
      case 'ipv4_stringify': {
        const numbers = this.#address(first, false);
        return numbers === undefined ? undefined : addresses.textsOfAddresses(this.#work, numbers);
      }
      case 'array_to_string':
      case 'array_offset':
      case 'array_ordinal':
        return textOfList(this.#work, call, this.#lists);
      default:
        return this.#changed(call, first, second, third);
    }
  }

  #changed(call: Call, first: Expression, second: Expression | undefined, third: Expression | undefined): TextNode | undefined {
    const node = this.#isText(first) ? this.#rows(first) : undefined;
    if (node === undefined) return undefined;
    const work = this.#work;
    const { function: name } = call;
    switch (name) {
      case 'upper':
      case 'lower':
        return functions.changeCase(work, node, name === 'upper');
      case 'reverse':
        return functions.reverse(work, node);
      case 'trim':
      case 'ltrim':
      case 'rtrim': {
        const characters = second === undefined ? ' ' : wellFormed(second);
        if (characters === undefined || !isAscii(characters)) return undefined;
        return parts.trim(work, node, characters, name === 'trim' ? 3 : name === 'ltrim' ? 1 : 2);
      }
      case 'replace': {
        const [wanted, replacement] = [wellFormed(second), wellFormed(third)];
        return wanted === undefined || wanted === '' || replacement === undefined
          ? undefined
          : functions.replace(work, node, wanted, replacement);
      }
      case 'regexp_extract': {
        const automaton = patterns.automatonFor(second, third === undefined ? 0 : count(third));
        return automaton === undefined ? undefined : patterns.extract(work, node, automaton);
      }
      case 'regexp_replace':
        return patterns.replacedMatches(work, node, second, wellFormed(third));
      case 'lpad':
      case 'rpad': {
        const [length, padding] = [integer(second), wellFormed(third)];
        if (length === undefined || length < 1 || length * work.rows > PADDED_BYTES_MAX || padding === undefined) return undefined;
        return !this.#isExact(call, node) || !isAscii(padding) ? undefined : functions.pad(work, node, length, padding, name === 'lpad');
      }
      default:
        return undefined;
    }
  }

  #all(expressions: readonly Expression[], make: (nodes: readonly TextNode[]) => TextNode | undefined): TextNode | undefined {
    const nodes: TextNode[] = [];
    for (const expression of expressions) {
      const node = expression.kind === 'literal' || this.#isText(expression) ? this.text(expression) : undefined;
      if (node === undefined) return undefined;
      nodes.push(node);
    }
    return make(nodes);
  }

  /** Numbers among the operands are compared as such where no string is there. */
  #extreme({ function: name, arguments: operands }: Call): TextNode | undefined {
    if (!operands.every((operand) => constantOf(operand)?.value === null || this.#isText(operand))) return undefined;
    return this.#all(operands, (nodes) => functions.extreme(this.#work, nodes, name === 'greatest'));
  }

  #choice(operands: readonly Expression[]): TextNode | undefined {
    const conditions: TruthNode[] = [];
    for (let index = 0; index + 1 < operands.length; index += 2) {
      const [operand] = operands.slice(index);
      const condition = operand === undefined ? undefined : (this.truth(operand) ?? this.#leaves.truth(operand));
      if (condition === undefined) return undefined;
      conditions.push(condition);
    }
    const results = operands.filter((_, index) => index % 2 === 1);
    const last = operands.length % 2 === 1 ? operands.slice(-1) : [NULL];
    return this.#all([...results, ...last], (nodes) => {
      const otherwise = nodes.at(-1);
      return otherwise === undefined ? undefined : functions.chosen(this.#work, conditions, nodes.slice(0, -1), otherwise);
    });
  }

  #isExact(call: Call, operand: TextNode): boolean {
    if (operand.isBmp) return true;
    this.#work.countsCuts = this.#work.mayCut;
    return this.#work.mayCut || this.#leaves.cutsNone(call);
  }

  #isText(expression: Expression): boolean {
    return expression.kind !== 'lambda' && inferType(expression, this.#typeOf) === 'STRING';
  }

  #cast(operand: Expression): TextNode | undefined {
    if (operand.kind === 'lambda') return undefined;
    const type = inferType(operand, this.#typeOf);
    if (type === 'STRING') return this.text(operand);
    const isNumber = type !== null && isNumberType(type) && operand.kind !== 'literal';
    const numbers = isNumber ? this.#leaves.numbers(operand, type === 'LONG' ? 'I64' : 'F64') : undefined;
    return numbers === undefined ? undefined : functions.digits(this.#work, numbers);
  }

  #slice(call: Call, kind: 0 | 1 | 2, from: Expression | undefined, size: Expression | undefined): TextNode | undefined {
    const [operand] = call.arguments;
    const node = operand !== undefined && this.#isText(operand) ? this.#rows(operand) : undefined;
    if (node === undefined || !this.#isExact(call, node)) return undefined;
    const [start, count] = [this.#long(from, 0n), this.#long(size, ALL)];
    return start === undefined || count === undefined ? undefined : parts.slice(this.#work, node, kind, start, count);
  }
}

/** Functions of which some leave arrays of strings as they are. */
const FORMS: ReadonlySet<string> = new Set(['array_to_mv', 'mv_to_array', 'cast']);
const NULL: Expression = { kind: 'literal', value: null, type: 'STRING' };
