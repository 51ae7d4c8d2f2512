import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ServiceError } from '../../../src/base/errors.js';
import { caseCount } from '../../case-count.js';
import { planText } from './plan-text.js';
import { ANSWERED, PLANNED } from './seed-statements.js';
import { answer, memory } from './small-tables.js';

const SEEDS = [...PLANNED, ...ANSWERED];
const piecesOf = (seed: string): readonly string[] => seed.match(/'(?:[^']|'')*'|"[^"]*"|\w+|[^\s\w]/g) ?? [];
const WORDS = [...new Set(SEEDS.flatMap(piecesOf))].concat([
  "'",
  '"',
  '(',
  ')',
  '/*',
  '--',
  ';',
  '?',
  '::',
  'U&',
  "E'x'",
  '9223372036854775808',
  '\u0000',
  '😀',
  'OVER',
  'UNION',
  'JOIN',
  'NULL',
  '$$',
  '1e999',
  '[',
  ']',
]);

type Edit = { readonly kind: 'drop' | 'repeat' | 'swap' | 'insert' | 'glue'; readonly at: number; readonly word: string };

const edit: fc.Arbitrary<Edit> = fc.record({
  kind: fc.constantFrom('drop', 'repeat', 'swap', 'insert', 'glue'),
  at: fc.nat({ max: 200 }),
  word: fc.constantFrom(...WORDS),
});

function mutated(seed: readonly string[], edits: readonly Edit[]): string {
  const pieces = seed.map((piece) => `${piece} `);
  for (const { kind, at, word } of edits) {
    const index = at % Math.max(1, pieces.length);
    const piece = pieces[index] ?? '';
    if (kind === 'drop') pieces.splice(index, 1);
    else if (kind === 'repeat') pieces.splice(index, 0, piece);
    else if (kind === 'swap') pieces.splice(index, 2, pieces[index + 1] ?? '', piece);
    else if (kind === 'insert') pieces.splice(index, 0, `${word} `);
    else pieces.splice(index, 1, piece.trimEnd());
  }
  return pieces.join('');
}

const STATEMENTS = caseCount(2_000);

const mutations = suite('mutated SQL');

/** Counts the mutations, of up to `maxLength` edits, that are accepted. Fails on any error that is not typed or names no place. */
async function countAccepted(seeds: readonly string[], maxLength: number, place: RegExp, run: (sql: string) => unknown): Promise<number> {
  let accepted = 0;
  const check = async (sql: string): Promise<void> => {
    try {
      await run(sql);
      accepted++;
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code === 'internal') throw error;
      assert.match(error.message, place, sql);
    }
  };
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...seeds.map(piecesOf)), fc.array(edit, { minLength: 1, maxLength }), (seed, edits) =>
      check(mutated(seed, edits)),
    ),
    { numRuns: STATEMENTS },
  );
  return accepted;
}

mutations(`are planned, or refused with a place; never a failure of ours: ${STATEMENTS} statements`, async () => {
  const place = /^(?:line \d+, column \d+|parameters): /;
  assert.ok((await countAccepted(PLANNED, 4, place, (sql) => planText(sql, {}, [{ type: 'BIGINT', value: 5 }]))) > 0);
});

mutations(`are answered, or refused: ${STATEMENTS} statements`, async () => {
  // Errors that only the values cause name no place.
  const count = await countAccepted(ANSWERED, 2, /./, (sql) => answer(sql));
  assert.ok(count > 0.06 * STATEMENTS, `only ${count} were answered`);
  assert.is(memory.allocatedBytes, 0);
});

mutations.run();
