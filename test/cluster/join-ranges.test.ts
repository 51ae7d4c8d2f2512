import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RangeSide, rangesOf } from '../../src/cluster/sources/join-ranges.js';
import { parseExpression } from '../../src/expression/parse.js';
import { printExpression } from '../../src/expression/print.js';
import type { ColumnSchema, ColumnType } from '../../src/model/schema.js';

const ranges = suite('comparisons of both sides of a join');

const column = (name: string, type: ColumnType, multiValue = false): ColumnSchema => ({ name, type, multiValue, hasNulls: true });
const LEFT: RangeSide = {
  columns: [column('a', 'LONG'), column('x', 'DOUBLE'), column('s', 'STRING'), column('tags', 'STRING', true)],
  own: (name) => (name.startsWith('r.') ? undefined : name),
};
const RIGHT: RangeSide = {
  columns: [column('b0', 'LONG'), column('b1', 'FLOAT'), column('b2', 'STRING')],
  own: (name) => ({ 'r.a': 'b0', 'r.x': 'b1', 'r.s': 'b2' })[name],
};

function found(condition: string): string[] {
  return rangesOf(parseExpression(condition), LEFT, RIGHT).map(
    ({ probe, operator, build, type, part }) => `${part}: ${printExpression(probe)} ${operator} ${printExpression(build)} as ${type}`,
  );
}

ranges('parts of a condition, the side that comes in on the left', () => {
  assert.equal(found('a < "r.a" && "r.a" + 5 > a && s != "r.s"'), ['0: "a" < "b0" as LONG', '1: "a" < ("b0" + 5) as LONG']);
  assert.equal(found('("r.s" <= s && a >= "r.x") && x * 2 > "r.a"'), [
    '0: "s" >= "b2" as STRING',
    '1: "a" >= "b1" as DOUBLE',
    '2: ("x" * 2) > "b0" as DOUBLE',
  ]);
});

ranges('no others', () => {
  for (const condition of [
    'a == "r.a"',
    'a < 5',
    '"r.a" < 5',
    'a - "r.a" < 5',
    'a < "r.a" || s == "r.s"',
    'a < "r.s"',
    'tags < "r.s"',
    'unknown < "r.a"',
    'a < "r.unknown"',
    '!(a < "r.a")',
  ])
    assert.equal(found(condition), [], condition);
  assert.equal(rangesOf(null, LEFT, RIGHT), []);
});

ranges.run();
