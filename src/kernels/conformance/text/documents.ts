// Conformance checks of parts of documents.

import { stringifyJson } from '../../../base/json.js';
import type { Lab } from '../lab.js';
import { expectTexts, lay } from './text-lab.js';

type Step = string | number;

const NAMES = ['a', 'b', 'ab', '', 'é', 'a"b', '\\', 'null', '日本', '0'];
const PATHS: readonly (readonly Step[])[] = [
  [],
  ['a'],
  ['a', 'b'],
  ['ab', 0],
  [1],
  [0, 0, 'a'],
  ['a"b'],
  ['\\', 2],
  [''],
  ['é', '日本'],
  ['null'],
  ['0'],
];
const SCALARS = [null, true, 1, -0.5, 1e300, '', 'x', '{"a":1}', ',"b":[', 'ends in \\', '"', '日本', ']'];

export const DOCUMENT_CHECKS = {
  documentPart: (lab: Lab) => {
    const paths = new Map(PATHS.map((path) => [JSON.stringify(path), path]));
    lab.each([...paths.keys()], (rows, variant) => {
      const path = paths.get(variant) ?? [];
      const documents = Array.from({ length: Math.min(rows, 300) }, () => (lab.random(9) === 0 ? undefined : drawn(lab, 4)));
      const laid = lay(lab, documents.map(textOf));
      const words = path.flatMap(stepOf);
      const [at, out] = [lab.place('U32', words), lab.output('I64', documents.length)];
      lab.call(() => lab.kernels.documentPart(laid.at, documents.length, at, words.length * 4, out));
      const expected = documents.map((document) => textOf(path.reduce(memberOf, document) ?? undefined));
      expectTexts(lab, out, expected, laid.isWide);
    });
  },
  documentElements: (lab: Lab) => {
    lab.each(['documents'], (rows) => {
      const documents = Array.from({ length: Math.min(rows, 300) }, () => (lab.random(9) === 0 ? undefined : drawn(lab, 3)));
      const { at } = lay(lab, documents.map(textOf));
      const out = lab.output('I64', documents.length);
      lab.call(() => lab.kernels.documentElements(at, documents.length, out));
      lab.expect(
        'I64',
        out,
        documents.map((document) => BigInt(document === undefined ? 0 : Array.isArray(document) ? document.length : 1)),
      );
    });
  },
};

function textOf(document: unknown): string | null {
  return document === undefined ? null : stringifyJson(document);
}

function memberOf(document: unknown, step: Step): unknown {
  if (typeof document !== 'object' || document === null) return undefined;
  if (Array.isArray(document) !== (typeof step === 'number')) return undefined;
  return new Map<string, unknown>(Object.entries(document)).get(String(step));
}

function stepOf(step: Step): readonly number[] {
  if (typeof step === 'number') return [2 ** 31 + step];
  const name = Buffer.from(JSON.stringify(step).slice(1, -1));
  const filled = Buffer.concat([name, Buffer.alloc((4 - (name.length % 4)) % 4)]);
  return [name.length, ...Array.from({ length: filled.length / 4 }, (_, word) => filled.readUInt32LE(word * 4))];
}

function drawn(lab: Lab, depth: number): unknown {
  const kind = lab.random(depth === 0 ? 1 : 3);
  if (kind === 0) return SCALARS[lab.random(SCALARS.length)];
  const parts = Array.from({ length: lab.random(4) }, () => drawn(lab, depth - 1));
  return kind === 1 ? parts : Object.fromEntries(parts.map((part) => [NAMES[lab.random(NAMES.length)], part]));
}
