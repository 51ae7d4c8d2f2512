import type { Random } from '../random.js';
import { ARITHMETIC, COMPARISONS, FUNCTIONS, LITERALS } from './expression-functions.js';
import { leaf, type Tree } from './expression-tree.js';

/** Building blocks of generated expressions: leaves by the letter of their type (see `FUNCTIONS`). */
export interface Scope {
  readonly leaves: (letter: string, random: Random) => Tree;
}

interface Signature {
  readonly name: string;
  readonly parameters: readonly string[];
  readonly result: string;
}

const SIGNATURES: readonly Signature[] = FUNCTIONS.map((text) => {
  const [, name = '', list = '', result = ''] = /^(\w+)\((.*)\):(\w)$/.exec(text) ?? [];
  return { name, parameters: list === '' ? [] : list.split(','), result };
});
/** Letters whose functions may stand where another letter is asked for. */
const GIVES: Readonly<Record<string, readonly string[]>> = {
  N: ['N', 'L', 'D'],
  X: ['X', 'S', 'L', 'D', 'N', 'C'],
  L: ['L', 'C', 'N'],
  D: ['D', 'N'],
  S: ['S'],
  Y: ['Y', 'A', 'M', 'E'],
  A: ['A', 'Y'],
  M: ['M', 'Y'],
  E: ['E', 'Y'],
  T: ['L'],
  C: ['C'],
  J: ['J'],
};

const ANY_TYPE = ['S', 'L', 'D', 'A', 'M', 'E', 'J', 'S', 'L', 'D'] as const;

/** A random tree whose value is (mostly) of the type of the letter. */
export function makeTree(random: Random, scope: Scope, letter: string, depth: number): Tree {
  if (letter === 'V') return makeTree(random, scope, random.pick(['S', 'L', 'D', 'C']), depth);
  if (random.chance(0.02) && !'NDYAME'.includes(letter)) return makeTree(random, scope, random.pick(['S', 'L', 'D']), depth);
  if (letter === 'I') return random.chance(0.85) ? leaf(random.pick(LITERALS['i'] ?? [])) : scope.leaves('L', random);
  if (depth <= 0 || random.chance(0.25)) return scope.leaves(letter, random);
  if ((letter === 'N' || letter === 'X' || letter === 'L' || letter === 'D') && random.chance(0.3))
    return operator(random, scope, random.pick(ARITHMETIC), letter === 'X' ? 'N' : letter, depth);
  if (letter === 'C') return condition(random, scope, depth);
  const gives = GIVES[letter] ?? [letter];
  const signature = random.pick(SIGNATURES.filter(({ result }) => gives.includes(result)));
  return call(random, scope, signature, depth);
}

function operator(random: Random, scope: Scope, name: string, letter: string, depth: number): Tree {
  if (name === '-' && random.chance(0.3)) return { kind: 'operator', name, arguments: [makeTree(random, scope, letter, depth - 1)] };
  return { kind: 'operator', name, arguments: [0, 1].map(() => makeTree(random, scope, letter, depth - 1)) };
}

function condition(random: Random, scope: Scope, depth: number): Tree {
  const at = random.below(10);
  if (at < 4) return operator(random, scope, random.pick(COMPARISONS), random.pick(['N', 'S', 'V', 'L', 'D', 'Y']), depth);
  if (at < 6) return operator(random, scope, random.pick(['&&', '||']), 'C', depth);
  if (at < 7) return { kind: 'operator', name: '!', arguments: [makeTree(random, scope, 'C', depth - 1)] };
  return call(random, scope, random.pick(SIGNATURES.filter(({ result }) => result === 'C')), depth);
}

function call(random: Random, scope: Scope, { name, parameters }: Signature, depth: number): Tree {
  const made: Tree[] = [];
  for (const parameter of parameters) {
    if (parameter.startsWith('?') && random.chance(0.4)) break;
    made.push(...argumentsFor(random, scope, parameter.replace('?', ''), depth - 1));
  }
  return { kind: 'call', name, arguments: made };
}

function argumentsFor(random: Random, scope: Scope, parameter: string, depth: number): Tree[] {
  if (parameter.endsWith('*')) return random.list(1, 3, () => makeTree(random, scope, parameter.slice(0, 1), depth));
  if (parameter === '#') return [leaf("'p'"), makeTree(random, scope, 'X', depth), leaf("'q'"), makeTree(random, scope, 'X', depth)];
  // Now and then an argument of a type that the function is not made for.
  if (/^[SLDNCVTY]$/.test(parameter) && random.chance(0.06)) return [scope.leaves(random.pick(ANY_TYPE), random)];
  if (parameter === 'ya') return [leaf(random.pick(["array('a')", "array('a', 'b')", "array('a', null)", "array('')"]))];
  const lambda = /^(\d):(\w)$/.exec(parameter);
  if (lambda !== null) {
    const parameters = ['x', 'y', 'z'].slice(0, Number(lambda[1]));
    const inside: Scope = {
      leaves: (letter, from) => (from.chance(0.6) ? leaf(from.pick(parameters)) : scope.leaves(letter, from)),
    };
    return [{ kind: 'lambda', parameters, body: makeTree(random, inside, lambda[2] ?? 'X', Math.min(depth, 1)) }];
  }
  const literals = LITERALS[parameter];
  if (literals !== undefined) return [leaf(random.pick(literals))];
  return [makeTree(random, scope, parameter, depth)];
}
