import type { Examples } from '../function-examples.js';

const GUS = `'{"name":"Gus","tags":["t1","t2"],"type":{"kind":"Pet","age":3}}'`;
const JSON_GUS = `PARSE_JSON(#${GUS}#)`;
const TAGS = "STRING_TO_MV(#'t1,t2,t3'#, ',')";
const LIST = "STRING_TO_ARRAY(#'a,b,c'#, ',')";
const joined = (values: string): string => `MV_TO_STRING(${values}, ',')`;

/** Functions of arrays, of multi-value texts and of JSON. */
export const COLLECTION_EXAMPLES: Examples = {
  ARRAY: [
    ["ARRAY['a', 'b']", ['a', 'b']],
    ['ARRAY[1, 2, NULL]', [1, 2, null]],
  ],
  ARRAY_APPEND: [[`ARRAY_APPEND(${LIST}, 'd')`, ['a', 'b', 'c', 'd']]],
  ARRAY_CONCAT: [['ARRAY_CONCAT(ARRAY[1, 2], ARRAY[3])', [1, 2, 3]]],
  ARRAY_CONTAINS: [
    [`ARRAY_CONTAINS(${LIST}, 'b')`, true],
    ['ARRAY_CONTAINS(ARRAY[1, 2, 3], ARRAY[2, 3])', true],
    ['ARRAY_CONTAINS(ARRAY[1, 2, 3], ARRAY[2, 4])', false],
  ],
  ARRAY_LENGTH: [[`ARRAY_LENGTH(${LIST})`, 3]],
  ARRAY_QUANTILE: [['ARRAY_QUANTILE(ARRAY[1, 2, 4], 0.5)', 2]],
  JSON_VALUE_ANY: [[`JSON_VALUE_ANY(${JSON_GUS}, '$.name')`, 'Gus']],
  COMPLEX_DECODE_BASE64: [["COMPLEX_DECODE_BASE64('hyperUnique', #CAST(NULL AS VARCHAR)#)", null]],
  CARDINALITY: [[`CARDINALITY(${LIST})`, 3]],
  ARRAY_OFFSET: [
    [`ARRAY_OFFSET(${LIST}, 1)`, 'b'],
    [`ARRAY_OFFSET(${LIST}, 5)`, null],
  ],
  ARRAY_OFFSET_OF: [
    ['ARRAY_OFFSET_OF(ARRAY[1, NULL, 3], 3)', 2],
    ['ARRAY_OFFSET_OF(ARRAY[1, NULL, 3], 4)', null],
  ],
  ARRAY_ORDINAL: [[`ARRAY_ORDINAL(${LIST}, 1)`, 'a']],
  ARRAY_ORDINAL_OF: [['ARRAY_ORDINAL_OF(ARRAY[1, NULL, 3], 3)', 3]],
  ARRAY_OVERLAP: [
    [`ARRAY_OVERLAP(${LIST}, ARRAY['c', 'd'])`, true],
    ["ARRAY_OVERLAP(ARRAY['a', 'b'], ARRAY['c'])", false],
  ],
  ARRAY_PREPEND: [[`ARRAY_PREPEND('z', ${LIST})`, ['z', 'a', 'b', 'c']]],
  ARRAY_SLICE: [
    ['ARRAY_SLICE(ARRAY[1.5, 2.5, NULL], 0, 2)', [1.5, 2.5]],
    [`ARRAY_SLICE(${LIST}, -1, 2)`, null],
  ],
  ARRAY_TO_MV: [[`MV_LENGTH(ARRAY_TO_MV(${LIST}))`, 3]],
  ARRAY_TO_STRING: [["ARRAY_TO_STRING(ARRAY[1, 2, 3], '*')", '1*2*3']],
  SCALAR_IN_ARRAY: [
    ["SCALAR_IN_ARRAY(#'b'#, ARRAY['a', 'b'])", true],
    ['SCALAR_IN_ARRAY(#7#, ARRAY[1, 2])', false],
  ],
  STRING_TO_ARRAY: [["STRING_TO_ARRAY(#'1*2*3'#, '[*]')", ['1', '2', '3']]],
  MV_FILTER_ONLY: [[joined(`MV_FILTER_ONLY(${TAGS}, ARRAY['t1', 't3'])`), 't1,t3']],
  MV_FILTER_NONE: [[joined(`MV_FILTER_NONE(${TAGS}, ARRAY['t1', 't3'])`), 't2']],
  MV_FILTER_REGEX: [[joined(`MV_FILTER_REGEX(${TAGS}, '.*[12]')`), 't1,t2']],
  MV_FILTER_PREFIX: [[joined(`MV_FILTER_PREFIX(${TAGS}, 't3')`), 't3']],
  MV_LENGTH: [[`MV_LENGTH(${TAGS})`, 3]],
  MV_CONTAINS: [
    [`MV_CONTAINS(${TAGS}, 't3')`, true],
    [`MV_CONTAINS(${TAGS}, ARRAY['t3', 't4'])`, false],
  ],
  MV_OVERLAP: [[`MV_OVERLAP(${TAGS}, ARRAY['t3', 't4'])`, true]],
  MV_OFFSET: [[`MV_OFFSET(${TAGS}, 2)`, 't3']],
  MV_OFFSET_OF: [
    [`MV_OFFSET_OF(${TAGS}, 't3')`, 2],
    [`MV_OFFSET_OF(${TAGS}, 't7')`, null],
  ],
  MV_ORDINAL: [[`MV_ORDINAL(${TAGS}, 2)`, 't2']],
  MV_ORDINAL_OF: [[`MV_ORDINAL_OF(${TAGS}, 't3')`, 3]],
  MV_PREPEND: [[joined(`MV_PREPEND('t0', ${TAGS})`), 't0,t1,t2,t3']],
  MV_APPEND: [[joined(`MV_APPEND(${TAGS}, 't4')`), 't1,t2,t3,t4']],
  MV_CONCAT: [[joined(`MV_CONCAT(${TAGS}, ${TAGS})`), 't1,t2,t3,t1,t2,t3']],
  MV_SLICE: [[joined(`MV_SLICE(${TAGS}, 1, 3)`), 't2,t3']],
  MV_TO_STRING: [[`MV_TO_STRING(${TAGS}, ' ')`, 't1 t2 t3']],
  STRING_TO_MV: [["MV_LENGTH(STRING_TO_MV(#'a-b'#, '-'))", 2]],
  MV_TO_ARRAY: [[`MV_TO_ARRAY(${TAGS})`, ['t1', 't2', 't3']]],
  JSON_KEYS: [
    [`JSON_KEYS(${JSON_GUS}, '$')`, ['name', 'tags', 'type']],
    [`JSON_KEYS(${JSON_GUS}, '$.type')`, ['kind', 'age']],
  ],
  JSON_MERGE: [[`JSON_MERGE(PARSE_JSON(#'{"a":1,"b":2}'#), '{"b":3}')`, { a: 1, b: 3 }]],
  JSON_OBJECT: [["JSON_OBJECT(KEY 'a' VALUE #1#, KEY 'b' VALUE #'x'#)", { a: 1, b: 'x' }]],
  JSON_PATHS: [[`JSON_PATHS(PARSE_JSON(#'{"city":"Oslo","at":{"x":1}}'#))`, ['$.city', '$.at.x']]],
  JSON_QUERY: [[`JSON_QUERY(${JSON_GUS}, '$.type')`, { kind: 'Pet', age: 3 }]],
  JSON_QUERY_ARRAY: [
    [`JSON_QUERY_ARRAY(${JSON_GUS}, '$.tags')`, ['t1', 't2']],
    [`JSON_QUERY_ARRAY(${JSON_GUS}, '$.type.age')`, [3]],
  ],
  JSON_VALUE: [
    [`JSON_VALUE(${JSON_GUS}, '$.name')`, 'Gus'],
    [`JSON_VALUE(${JSON_GUS}, '$.type.age' RETURNING BIGINT)`, 3],
    [`JSON_VALUE(${JSON_GUS}, '$.tags[1]' RETURNING VARCHAR)`, 't2'],
    [`JSON_VALUE(${JSON_GUS}, '$.type')`, null],
  ],
  PARSE_JSON: [[`PARSE_JSON(#'{"name":"Gus"}'#)`, { name: 'Gus' }]],
  TRY_PARSE_JSON: [
    [`TRY_PARSE_JSON(#'{"name":"Gus"}'#)`, { name: 'Gus' }],
    [`TRY_PARSE_JSON(#'{"name":"Gus",x:x}'#)`, null],
  ],
  TO_JSON_STRING: [
    [`TO_JSON_STRING(ARRAY['a', 'b'])`, '["a","b"]'],
    [`TO_JSON_STRING(PARSE_JSON(#'{"a": 1}'#))`, '{"a":1}'],
  ],
};
