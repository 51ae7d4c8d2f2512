import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { columnsAndFields, readingFields } from '../../src/execution/expression/json-field.js';
import { parseExpression } from '../../src/expression/parse.js';
import { printExpression } from '../../src/expression/print.js';
import { fieldName } from '../../src/storage/field-name.js';

const fields = suite('paths of JSON columns inside of lambdas');
const field = fieldName('j', '$.a', 'text');

const cases: readonly { name: string; expression: string; read: readonly string[]; formed: string }[] = [
  {
    name: 'a captured column is read by its field',
    expression: "map((x) -> concat(x, json_value(j, '$.a'), y), s)",
    read: [field, 'y', 's'],
    formed: `map(("x") -> concat("x", "${field}", "y"), "s")`,
  },
  {
    name: 'a parameter of the name of a column is none',
    expression: "map((j) -> json_value(j, '$.a'), k)",
    read: ['k'],
    formed: 'map(("j") -> json_value("j", \'$.a\'), "k")',
  },
];
for (const { name, expression, read, formed } of cases)
  fields(name, () => {
    const names: string[] = [];
    columnsAndFields(
      parseExpression(expression),
      () => true,
      (each) => names.push(each),
    );
    assert.equal(names, read);
    assert.is(printExpression(readingFields(parseExpression(expression), () => 'STRING')), formed);
  });

fields.run();
