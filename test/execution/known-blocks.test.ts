import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Block, RunContext } from '../../src/execution/block/context.js';
import { ALL, andPredicate, type Match, NONE, notPredicate, orPredicate, type Predicate } from '../../src/execution/filter/predicate.js';
import { KernelMemory } from '../../src/kernels/memory.js';
import { instantiateKernels } from '../../src/kernels/registry.js';

const memory = KernelMemory.create({ maximumBytes: 1 << 24 });
// Predicates ask for no more of it.
const context = { memory, kernels: instantiateKernels('simd', memory) } as unknown as RunContext;
const blocks: readonly Block[] = [0, 1, 2].map((index) => ({ start: index * 16_384, rows: 16_384 }));

const known = suite('blocks of which the answer is known');

/** Answers for blocks 0, 1, 2; `read` tells which blocks were tested. */
function part(answers: readonly (Match | undefined)[] | undefined, tested: Match, read: number[], cost = 1): Predicate {
  return {
    constant: undefined,
    cost,
    ...(answers === undefined ? {} : { known: ({ start }: Block) => answers[start / 16_384] }),
    test: (block) => {
      read.push(block.start / 16_384);
      return answers?.[block.start / 16_384] ?? tested;
    },
  };
}

known('a part that decides a block by what is known of it comes before cheaper ones that read rows', () => {
  const [cheap, other]: [number[], number[]] = [[], []];
  const [reads, informed] = [part(undefined, ALL, cheap, 1), part([NONE, ALL, undefined], ALL, other, 5)];
  const both = andPredicate(context, [reads, informed], 0);
  assert.equal(
    blocks.map((block) => both.test(block)),
    [NONE, ALL, ALL],
  );
  assert.equal(
    [cheap, other],
    [
      [1, 2],
      [1, 2],
    ],
  );
  assert.equal(
    blocks.map((block) => both.known?.(block)),
    [NONE, undefined, undefined],
  );
});

known('of alternatives one that holds for all rows of a block decides', () => {
  const [cheap, other]: [number[], number[]] = [[], []];
  const either = orPredicate(context, [part(undefined, NONE, cheap), part([ALL, NONE, undefined], NONE, other)], 0);
  assert.equal(
    blocks.map((block) => either.test(block)),
    [ALL, NONE, NONE],
  );
  assert.equal(cheap, [1, 2]);
});

known('what all parts know is known of the whole, and turned round by NOT', () => {
  const read: number[] = [];
  const all = andPredicate(context, [part([ALL, NONE, ALL], ALL, read), part([ALL, ALL, undefined], ALL, read)], 0);
  const none = notPredicate(context, all, 0);
  assert.equal(
    blocks.map((block) => [all.known?.(block), none.known?.(block)]),
    [
      [ALL, NONE],
      [NONE, ALL],
      [undefined, undefined],
    ],
  );
  assert.equal(read, []);
});

known.run();
