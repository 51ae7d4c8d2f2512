// Instants that texts are read as: kernels read those that are written as a template, all else is read one by one.

import { parseInstant } from '../../../base/time.js';
import { compilePattern, parseWithPattern } from '../../../base/time-pattern.js';
import { constantOf } from '../../../expression/expression-type.js';
import type { Expression } from '../../../model/expression.js';
import type { NumberNode } from '../number/node.js';
import type { TextNode } from '../vector.js';
import { readTexts } from './text-functions.js';
import type { TextWork } from './text-node.js';

type Call = Extract<Expression, { kind: 'call' }>;

/** Bits of the steps of a template (`textTimes`). */
const [MAY_END, MAY_END_IN_Z] = [2 ** 31, 2 ** 30];
const field = (unit: number, digits: number): number => (unit << 16) | (digits << 20);
const byte = (character: string, other = character): number => character.charCodeAt(0) | (other.charCodeAt(0) << 8);

/** A day, or a day and a time to the minute, second or millisecond, in UTC. */
const ISO: readonly number[] = [
  ...[field(1, 4), byte('-'), field(2, 2), byte('-'), field(3, 2), byte('T', ' ') + MAY_END, field(4, 2), byte(':'), field(5, 2)],
  ...[byte(':') + MAY_END + MAY_END_IN_Z, field(6, 2), byte('.') + MAY_END + MAY_END_IN_Z, field(7, 3), byte('Z') + MAY_END],
];

/** Fields of patterns with the digits of which they are a template, by letter: unit and digits. */
const FIELDS: ReadonlyMap<string, readonly [unit: number, digits: number]> = new Map([
  ['y', [1, 4]],
  ['Y', [1, 4]],
  ['M', [2, 2]],
  ['d', [3, 2]],
  ['H', [4, 2]],
  ['m', [5, 2]],
  ['s', [6, 2]],
  ['S', [7, 3]],
]);

/** `timestamp_parse` of texts in UTC; undefined for other zones, and patterns that no template is. */
export function timesOfTexts(work: TextWork, node: TextNode, { arguments: [, pattern, zone] }: Call): NumberNode | undefined {
  const [form, zoneName] = [constantText(pattern), constantText(zone)];
  if (form === undefined || (zoneName !== null && zoneName !== 'UTC')) return undefined;
  const template = form === null ? ISO : templateOf(form);
  if (template === undefined) return undefined;
  const { arena, context } = work.scope;
  const { kernels, memory } = context;
  const at = arena.take(template.length * 4);
  memory.u32(at, template.length).set(template);
  const read = form === null ? (text: string) => parseInstant(text) : parseWithPattern(form, { code: 'query_invalid' });
  return readTexts(work, node, {
    lane: 'I64',
    read: (texts, rows, out, others) => kernels.textTimes(texts, rows, at, template.length, out, others),
    wordsAreNone: form === null,
    readOther: (text) => {
      const instant = text === null ? undefined : read(text);
      return instant === undefined ? null : BigInt(instant);
    },
  });
}

/** Null for none; undefined for what is no constant text. */
function constantText(expression: Expression | undefined): string | null | undefined {
  if (expression === undefined) return null;
  const value = constantOf(expression)?.value;
  return typeof value === 'string' || value === null ? value : undefined;
}

/** The template of a pattern with a day, and what else it has once, in as many digits as it always has. */
function templateOf(pattern: string): readonly number[] | undefined {
  const steps: number[] = [];
  const units = new Set<number>();
  for (const part of compilePattern(pattern, 'query_invalid')) {
    if (part.kind === 'text') {
      // A digit could be one of the field before it.
      if (!/^[ -/:-~]*$/.test(part.text)) return undefined;
      for (const character of part.text) steps.push(byte(character));
      continue;
    }
    const [unit, digits] = FIELDS.get(part.letter) ?? [];
    if (unit === undefined || digits !== part.count || units.has(unit)) return undefined;
    units.add(unit);
    steps.push(field(unit, digits));
  }
  return [1, 2, 3].every((unit) => units.has(unit)) && steps.length <= STEPS_MAX ? steps : undefined;
}

const STEPS_MAX = 100;
