import type { Random } from '../random.js';
import { type SqlKind, TEMPLATES } from './sql-functions.js';
import { COLUMNS, LITERALS } from './sql-literals.js';

/** A generated expression: its SQL is the texts with the parts written between them. */
export interface SqlExpression {
  readonly kind: string;
  readonly texts: readonly string[];
  readonly parts: readonly SqlExpression[];
}

export function writeSql({ texts, parts }: SqlExpression): string {
  return texts.map((text, at) => text + (parts[at] === undefined ? '' : writeSql(parts[at]))).join('');
}

/** Names of the functions and operators that occur. */
export function wordsOf({ texts, parts }: SqlExpression): string[] {
  const own = parts.length === 0 && texts.length === 1 ? [] : [texts.join(' ').trim().replace(/\s+/g, ' ').slice(0, 24)];
  return [...own, ...parts.flatMap(wordsOf)];
}

export function makeExpression(random: Random, kind: SqlKind, depth: number): SqlExpression {
  const templates = TEMPLATES[kind];
  if (depth <= 0 || templates.length === 0 || random.chance(0.2)) return leaf(random, kind);
  return fillTemplate(random, kind, random.pick(templates), depth);
}

export function fillTemplate(random: Random, kind: string, template: string, depth: number): SqlExpression {
  const pieces = template.split(/(\{[a-z]+!?\})/);
  const texts: string[] = [];
  const parts: SqlExpression[] = [];
  for (const [at, piece] of pieces.entries()) {
    if (at % 2 === 0) texts.push(piece);
    else parts.push(fillPlace(random, piece.slice(1, -1), depth - 1));
  }
  return { kind, texts, parts };
}

function fillPlace(random: Random, place: string, depth: number): SqlExpression {
  if (place.endsWith('!')) return literal(random, place.slice(0, -1));
  switch (place) {
    case 'small':
    case 'exact':
      return { kind: place, texts: [random.pick(COLUMNS[place])], parts: [] };
    case 'few':
      return { kind: place, texts: [random.pick(['k', 'n', 'b'])], parts: [] };
    case 'any':
      return makeExpression(random, random.pick(['string', 'long', 'double', 'time']), depth);
    default:
      return isKind(place) ? makeExpression(random, place, depth) : literal(random, place);
  }
}

function isKind(place: string): place is SqlKind {
  return Object.hasOwn(TEMPLATES, place);
}

function literal(random: Random, name: string): SqlExpression {
  const literals = Object.entries(LITERALS).find(([kind]) => kind === name)?.[1] ?? ['NULL'];
  return { kind: `${name}!`, texts: [random.pick<string>(literals)], parts: [] };
}

function leaf(random: Random, kind: SqlKind): SqlExpression {
  return { kind, texts: [random.pick<string>(COLUMNS[kind])], parts: [] };
}

/** Smaller expressions of the same kind: a part in place of the whole, a column in place of a part. */
export function* shrinkExpression(whole: SqlExpression): Iterable<SqlExpression> {
  const columns = Object.entries(COLUMNS).find(([kind]) => kind === whole.kind)?.[1];
  const [first] = columns ?? [];
  if (first !== undefined && whole.parts.length > 0) yield { kind: whole.kind, texts: [first], parts: [] };
  for (const part of whole.parts) if (part.kind === whole.kind) yield part;
  for (const [at, part] of whole.parts.entries())
    for (const smaller of shrinkExpression(part)) yield { ...whole, parts: whole.parts.with(at, smaller) };
}
