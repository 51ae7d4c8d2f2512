import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isForInStatement,
  isPrivateIdentifier,
  isPropertyAccessExpression,
  isStringLiteral,
} from 'typescript/unstable/ast/is';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createByName, own } from '../src/base/names.js';

// Reads src with its types and finds where a name that may have come over the wire is used as a key of an ordinary
// object: there `constructor` finds a function, and writing to `__proto__` changes other objects.

/** Places that are right for a reason that types do not tell. */
const ALLOWED: readonly { readonly file: string; readonly code: string; readonly reason: string }[] = [
  { file: 'base/json.ts', code: 'JSON.parse(text)', reason: 'the reader itself' },
  { file: 'base/names.ts', code: 'members[name]', reason: 'own, which looks whether the member is there' },
  { file: 'cluster/rpc/answer.ts', code: 'methods[call.method]', reason: 'the line before finds the name among the described methods' },
  {
    file: 'execution/block/context.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source that is looked for
    code: 'kernels[`${family}${type}` as Extract<`${Family}${Type}`, keyof KernelSet>]',
    reason: 'families and types of kernels, both from tables of the planner',
  },
  {
    file: 'ingestion/format/json-block.ts',
    code: 'row[column]',
    reason: 'names that objects inherit are read by own; this path reads the others, once for each value of a file',
  },
  { file: 'expression/functions/json-size.ts', code: 'JSON.stringify(data)', reason: 'faster, and falls back to stringifyJson' },
  {
    file: 'planner/sql/parse/shape/template.ts',
    code: 'copy[key]',
    reason: 'fields of nodes of the syntax tree, which the copy has already',
  },
  { file: 'planner/places/filler.ts', code: 'copy[key]', reason: 'fields of plans and syntax trees, which the copy has already' },
  { file: 'model/profile.ts', code: 'profile.kernels[name]', reason: 'names of kernels, which the frames of peers carry' },
];

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const EVERY_KEY_IS_KNOWN = /^("[^"]*"|-?[\d.]+|number|unique symbol|typeof \w+)( \| ("[^"]*"|-?[\d.]+|number))*$/;

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly code: string;
  readonly what: string;
}

function isByName(checker: Checker, type: Type | undefined): boolean {
  return type !== undefined && checker.typeToString(type).startsWith('ByName<');
}

/** Whether a key can be any string: `string`, a template, `any`, `unknown`, or one that a cast calls known. */
function isAnyString(checker: Checker, key: Node): boolean {
  if (isAsExpression(key)) return isAnyString(checker, key.expression);
  const type = checker.getTypeAtLocation(key);
  if (type === undefined) return true;
  const written = checker.typeToString(type);
  if (EVERY_KEY_IS_KNOWN.test(written)) return false;
  return checker.isTypeAssignableTo(checker.getStringType(), type) || written.includes('`');
}

function faultOf(checker: Checker, node: Node): string | undefined {
  if (isForInStatement(node)) return 'for … in visits what objects inherit';
  if (isElementAccessExpression(node)) {
    const key = node.argumentExpression;
    if (key === undefined || isStringLiteral(key) || !isAnyString(checker, key)) return undefined;
    return isByName(checker, checker.getTypeAtLocation(node.expression)) ? undefined : 'a computed name on an object that inherits';
  }
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    // Private names are none from outside, and are not inherited.
    return isStringLiteral(node.left) || isPrivateIdentifier(node.left) ? undefined : '`in` finds what objects inherit';
  if (isCallExpression(node) && isPropertyAccessExpression(node.expression)) {
    const called = node.expression.getText();
    if (called === 'JSON.parse') return 'JSON is read by base/json';
    // A replacer says what becomes of long integers.
    if (called === 'JSON.stringify' && node.arguments.length === 1) {
      const type = node.arguments[0] === undefined ? undefined : checker.getTypeAtLocation(node.arguments[0]);
      return type === undefined || /\bunknown\b|\bany\b/.test(checker.typeToString(type))
        ? 'values from outside may hold long integers'
        : undefined;
    }
    const [into, ...from] = node.arguments;
    if (called !== 'Object.assign' || into === undefined || isByName(checker, checker.getTypeAtLocation(into))) return undefined;
    const types = from.map((argument) => checker.getTypeAtLocation(argument));
    const isOpen = types.some((type) => type !== undefined && checker.getIndexInfosOfType(type).length > 0);
    return isOpen ? 'Object.assign writes `__proto__` into an object that inherits' : undefined;
  }
  return undefined;
}

function findingsOf(checker: Checker, file: SourceFile, name: string): Finding[] {
  const found: Finding[] = [];
  const visit = (node: Node): void => {
    const what = faultOf(checker, node);
    if (what !== undefined) {
      const line = file.text.slice(0, node.getStart()).split('\n').length;
      found.push({ file: name, line, code: node.getText().replace(/\s+/g, ' '), what });
    }
    node.forEachChild(visit);
  };
  visit(file);
  return found;
}

function readFindings(): Finding[] {
  const api = new API({ cwd: ROOT });
  try {
    const [project] = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects();
    if (project === undefined) throw new Error('tsconfig.json opens no project');
    return project.program.getSourceFileNames().flatMap((path) => {
      const name = relative(`${ROOT}src`, path);
      const file = name.startsWith('..') ? undefined : project.program.getSourceFile(path);
      return file === undefined ? [] : findingsOf(project.checker, file, name);
    });
  } finally {
    api.close();
  }
}

const names = suite('names are data');
const findings = readFindings();
const isAllowed = ({ file, code }: Finding) => ALLOWED.some((allowed) => allowed.file === file && allowed.code === code);

names('no name from outside is a key of an object that inherits', () => {
  const faults = findings.filter((finding) => !isAllowed(finding));
  assert.equal(
    faults.map(({ file, line, code, what }) => `src/${file}:${line} ${code.slice(0, 80)}: ${what}; use own or createByName of base/names`),
    [],
  );
});

names('every allowance is in use', () => {
  const idle = ALLOWED.filter(({ file, code }) => !findings.some((finding) => finding.file === file && finding.code === code));
  assert.equal(idle, []);
});

for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
  names(`${name} is a name like any other`, () => {
    assert.is(own({}, name), undefined);
    assert.is(own(undefined, name), undefined);
    const members = createByName<number>();
    assert.is(members[name], undefined);
    members[name] = 1;
    assert.equal(Object.entries(members), [[name, 1]]);
    assert.is(own(members, name), 1);
    assert.is(own(JSON.parse(`{"${name}":2}`), name), 2);
  });
}

names.run();
