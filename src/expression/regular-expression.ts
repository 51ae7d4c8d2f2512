// Regular expressions of users, matched in linear time.

import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { type ErrorCode, ServiceError } from '../base/errors.js';
import { onFirstUse } from '../base/on-first-use.js';
import { re2Pattern } from './java-pattern.js';
import { type NativePattern, nativePattern } from './native-pattern.js';

const library = onFirstUse(() => createRequire(import.meta.url)('re2js') as typeof import('re2js'));

/** A user's regular expression, matched in time linear in the text whatever the pattern. */
export interface RegularExpression {
  /** Anywhere in the text. */
  test(text: string): boolean;
  /** A group of the first match, 0 the whole of it; null when there is no match or the group took no part. */
  extract(text: string, group: number): string | null;
  /** The groups of a match of the whole text, null for one that took no part; null when the text does not match. */
  groups(text: string): readonly (string | null)[] | null;
  /** Every match by a text in which `$1` or `${name}` stands for a group; compiled once. */
  replacer(replacement: string): (text: string) => string;
  /** The parts between matches; empty ones at the end are left out. */
  split(text: string): readonly string[];
  readonly groupCount: number;
}

/** @throws ServiceError for an invalid pattern, or one that needs backtracking (look-around, back-references) */
export function compileRegularExpression(pattern: string, code: ErrorCode = 'query_invalid'): RegularExpression {
  const compiled = compile(pattern, code);
  const native = nativeOf(pattern);
  return {
    groupCount: compiled.groupCount(),
    test: native === undefined ? (text) => compiled.test(text) : (text) => native.expression.test(text),
    split: PLAIN.test(pattern) ? (text) => withoutEmptyEnd(text.split(pattern)) : (text) => compiled.split(text),
    extract(text, group) {
      if (native !== undefined) return native.expression.exec(text)?.[group] ?? null;
      const matcher = compiled.matcher(text);
      return matcher.find() ? (matcher.group(group) ?? null) : null;
    },
    groups(text) {
      if (native !== undefined) return native.whole().exec(text)?.slice(1).map(orNull) ?? null;
      const matcher = compiled.matcher(text);
      if (!matcher.matches()) return null;
      return Array.from({ length: compiled.groupCount() }, (_, group) => orNull(matcher.group(group + 1)));
    },
    replacer(replacement) {
      if (/(?<!\\)(?:\\\\)*\\$/.test(replacement))
        throw new ServiceError(
          code,
          `the replacement "${replacement}" ends in a backslash, which must stand before the character that it quotes`,
        );
      for (const [reference, number, name] of replacement.replace(/\\./gs, '').matchAll(/\$(?:(\d)|\{([^}]*)\})?/g)) {
        const exists =
          number === undefined
            ? name !== undefined && Object.hasOwn(compiled.namedGroups(), name)
            : Number(number) <= compiled.groupCount();
        if (!exists)
          throw new ServiceError(
            code,
            `the replacement "${replacement}" refers to "${reference}", a group that "${pattern}" does not have`,
          );
      }
      const parts = native === undefined ? undefined : partsOf(replacement, native);
      if (native === undefined || parts === undefined) return (text) => compiled.matcher(text).replaceAll(replacement, true);
      return (text) => replaceAll(text, native.everywhere, parts);
    },
  };
}

interface Native extends NativePattern {
  readonly expression: RegExp;
  readonly everywhere: RegExp;
  readonly whole: () => RegExp;
}

/** The pattern for the engine of JavaScript, where that means the same and takes linear time. */
function nativeOf(pattern: string): Native | undefined {
  const native = nativePattern(pattern);
  if (native === undefined) return undefined;
  return {
    ...native,
    expression: new RegExp(native.source, 'u'),
    everywhere: new RegExp(native.source, 'gu'),
    whole: onFirstUse(() => new RegExp(`^(?:${native.source})$`, 'u')),
  };
}

function orNull(group: string | null | undefined): string | null {
  return group ?? null;
}

/** Texts and numbers of groups that a replacement is made of; undefined where it says more, or matches may be empty or lack a group. */
function partsOf(replacement: string, { matchesEmpty, hasAllGroups }: NativePattern): readonly (string | number)[] | undefined {
  if (matchesEmpty || /\\|\$\D|\$\d\d|\$$/.test(replacement)) return undefined;
  const parts = replacement.split(/\$(\d)/).map((part, index) => (index % 2 === 1 ? Number(part) : part));
  return parts.length > 1 && !hasAllGroups ? undefined : parts;
}

function replaceAll(text: string, everywhere: RegExp, parts: readonly (string | number)[]): string {
  let replaced = '';
  let last = 0;
  everywhere.lastIndex = 0;
  for (let found = everywhere.exec(text); found !== null; found = everywhere.exec(text)) {
    replaced += text.slice(last, found.index);
    for (const part of parts) replaced += typeof part === 'number' ? (found[part] ?? '') : part;
    last = everywhere.lastIndex;
  }
  return last === 0 ? text : replaced + text.slice(last);
}

/** A pattern that is found as it is written. */
const PLAIN = /^[^\\^$.|?*+()[\]{}]+$/;

/** Drops empty parts at the end, as splitting at a pattern does; a single part is kept. */
function withoutEmptyEnd(parts: readonly string[]): readonly string[] {
  let end = parts.length;
  while (end > 1 && parts[end - 1] === '') end--;
  return end === 1 && parts.length > 1 && parts[0] === '' ? [] : parts.slice(0, end);
}

function compile(pattern: string, code: ErrorCode): RE2JS {
  try {
    return library().RE2JS.compile(re2Pattern(pattern));
  } catch (error) {
    throw new ServiceError(
      code,
      `"${pattern}" is not an accepted regular expression: ${error instanceof Error ? error.message : String(error)} (look-around, back-references and possessive quantifiers are not supported)`,
      error,
    );
  }
}
