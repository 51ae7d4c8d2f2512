import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createEngine } from '../../src/execution/run/local-engine.js';
import { compileRegularExpression, type RegularExpression } from '../../src/expression/regular-expression.js';
import { call, type Expression, long, text } from '../../src/model/expression.js';
import { cellAt, type FrameCell } from '../../src/model/frame.js';
import type { GroupPlan } from '../../src/model/plan.js';
import { uploadFrame } from '../../src/storage/uploaded-frame.js';
import { caseCount } from '../case-count.js';
import { type DrawnPattern, pattern } from '../patterns.js';
import { memory, never, options, planOf, rowsOf } from './every-way.js';
import type { Row } from './oracle.js';
import { frameOf } from './random-data.js';

/* Regular expressions over columns with as many strings as rows, against those of JavaScript over each of them. */

const patterns = suite('regular expressions over dictionaries');

const PARTS = ['a', 'b', 'ab', 'ba', 'A', 'é', '日', '😀', '.', '1', '%', '_', ' '];
const COUNT = 700;

/** Rows of which nearly every one has another string; one of them the empty one, some null. */
const all: readonly Row[] = rowsOf(COUNT).map((row, index) => {
  let plain = '';
  for (let left = index; left > 0; left = Math.floor(left / PARTS.length)) plain += PARTS[left % PARTS.length] ?? '';
  return { ...row, plain: index % 97 === 5 ? null : plain, small: BigInt(index % 50) };
});

type Cell = string | number | null;
/** The engine of JavaScript tells what a pattern is found in; which match is the first may differ where iterations are empty. */
interface Engines {
  readonly script: RegExp;
  readonly compiled: RegularExpression;
}
/** An expression of a pattern, and its value of a string. */
interface Asked {
  readonly name: string;
  readonly expression: (source: string) => Expression;
  readonly expected: (by: Engines, value: string | null) => Cell;
}

const PLAIN: Expression = { kind: 'column', name: 'plain' };
const like = (source: string): Expression => call('regexp_like', PLAIN, text(source));
const extract = (source: string): Expression => call('regexp_extract', PLAIN, text(source), long(0));
const matchOf = ({ compiled }: Engines, value: string | null): string | null => (value === null ? null : compiled.extract(value, 0));

const ASKED: readonly Asked[] = [
  { name: 'like', expression: like, expected: ({ script }, value) => (value === null ? null : Number(script.test(value))) },
  { name: 'extract', expression: extract, expected: matchOf },
  {
    name: 'choice',
    expression: (source) => call('case_searched', like(source), text('yes'), call('like', PLAIN, text('%ba%')), text('ba'), text('no')),
    expected: ({ script }, value) => (value !== null && script.test(value) ? 'yes' : value?.includes('ba') === true ? 'ba' : 'no'),
  },
  {
    name: 'the string beside it',
    expression: (source) => call('if', like(source), PLAIN, text('no')),
    expected: ({ script }, value) => (value !== null && script.test(value) ? value : 'no'),
  },
  {
    name: 'default',
    expression: (source) => call('nvl', extract(source), text('none')),
    expected: (by, value) => matchOf(by, value) ?? 'none',
  },
  {
    name: 'replace',
    expression: (source) => call('regexp_replace', PLAIN, text(source), text('<>')),
    expected: ({ compiled }, value) => (value === null ? null : compiled.replacer('<>')(value)),
  },
];

/** Rows by the value of an expression. */
function counted(values: readonly Cell[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(String(value), (counts.get(String(value)) ?? 0) + 1);
  return counts;
}

const { expression: likeOf } = ASKED[0] ?? { expression: like };

for (const kernels of ['simd', 'reference'])
  patterns(`give what they give of each string (${kernels})`, async () => {
    const engine = createEngine({ memory, kernels, threads: 0 });
    const placed = uploadFrame(frameOf([...all]), memory);
    const run = async (plan: GroupPlan): Promise<FrameCell[][]> => {
      const found: FrameCell[][] = [];
      for await (const frame of engine.runViews(plan, [placed.view], options(), never))
        for (let row = 0; row < frame.rowCount; row++) found.push(frame.columns.map((column) => cellAt(column, row)));
      return found;
    };
    const grouped = async ({ expression, expected, name }: Asked, { source, script }: DrawnPattern): Promise<void> => {
      const plan: GroupPlan = {
        ...planOf([{ kind: 'count', name: 'rows', filter: null }], false),
        virtualColumns: [{ name: 'v', expression: expression(source), outputType: null }],
        keys: [{ kind: 'column', name: 'v', column: 'v', type: null }],
      };
      const found = new Map((await run(plan)).map(([value, rows]) => [String(value), Number(rows)]));
      const by = { script, compiled: compileRegularExpression(source) };
      const wanted = counted(all.map(({ plain }) => expected(by, typeof plain === 'string' ? plain : null)));
      assert.equal([...found].sort(), [...wanted].sort(), `${name} of ${source}`);
    };
    const filtered = async ({ source, script }: DrawnPattern, isNegated: boolean, small: bigint | null): Promise<void> => {
      const condition = isNegated ? call('!', likeOf(source)) : likeOf(source);
      const few: Expression = call('==', { kind: 'column', name: 'small' }, long(small ?? 0n));
      const plan: GroupPlan = {
        ...planOf([{ kind: 'count', name: 'rows', filter: null }], false),
        filter: { kind: 'expression', expression: small === null ? condition : call('&&', few, condition) },
      };
      const expected = all.filter(
        ({ plain, small: of }) => typeof plain === 'string' && (small === null || of === small) && script.test(plain) !== isNegated,
      );
      assert.equal(
        (await run(plan)).map(([rows]) => Number(rows)),
        [expected.length],
        source,
      );
    };
    try {
      await fc.assert(
        fc.asyncProperty(pattern, fc.boolean(), fc.constantFrom(null, 7n), async (drawn, isNegated, small) => {
          await filtered(drawn, isNegated, small);
          for (const asked of ASKED) await grouped(asked, drawn);
        }),
        { numRuns: caseCount(kernels === 'simd' ? 24 : 3) },
      );
    } finally {
      placed.release();
    }
  });

patterns.run();
