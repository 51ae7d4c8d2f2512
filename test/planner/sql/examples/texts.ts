import type { Examples } from '../function-examples.js';

export const TEXT_EXAMPLES: Examples = {
  CONCAT: [["CONCAT(#'a'#, #'-'#, #'b'#)", 'a-b']],
  TEXTCAT: [["TEXTCAT(#'Boston'#, #' MA'#)", 'Boston MA']],
  CONTAINS_STRING: [
    ["CONTAINS_STRING(#'San Juan'#, 'Juan')", true],
    ["CONTAINS_STRING(#'San Juan'#, 'juan')", false],
  ],
  ICONTAINS_STRING: [["ICONTAINS_STRING(#'San Juan'#, 'juan')", true]],
  DECODE_BASE64_UTF8: [["DECODE_BASE64_UTF8(#'SGVsbG8sIFdvcmxkIQ=='#)", 'Hello, World!']],
  LEFT: [["LEFT(#'friend'#, 3)", 'fri']],
  RIGHT: [["RIGHT(#'friend'#, 3)", 'end']],
  LENGTH: [["LENGTH(#'friend'#)", 6]],
  CHAR_LENGTH: [["CHAR_LENGTH(#'friend'#)", 6]],
  CHARACTER_LENGTH: [["CHARACTER_LENGTH(#'friend'#)", 6]],
  STRLEN: [["STRLEN(#''#)", 0]],
  LOOKUP: [
    ["LOOKUP(#'SJU'#, 'code_to_name', 'key not found')", 'Luis Munoz Marin International Airport'],
    ["LOOKUP(#'BOS'#, 'code_to_name', 'key not found')", 'key not found'],
    ["LOOKUP(#'BOS'#, 'code_to_name')", null],
  ],
  LOWER: [["LOWER(#'SJU'#)", 'sju']],
  UPPER: [["UPPER(#'sju'#)", 'SJU']],
  LPAD: [
    ["LPAD(#'1'#, 4, '0')", '0001'],
    ["LPAD(#'12345'#, 4, '0')", '1234'],
  ],
  RPAD: [
    ["RPAD(#'ab'#, 5, '+')", 'ab+++'],
    ["RPAD(#'ab'#, 4)", 'ab  '],
  ],
  PARSE_LONG: [
    ["PARSE_LONG(#'1110'#, 2)", 14],
    ["PARSE_LONG(#'1110'#)", 1110],
  ],
  POSITION: [
    ["POSITION('PR' IN #'San Juan, PR'# FROM 5)", 11],
    ["POSITION('PR' IN #'Boston, MA'#)", 0],
  ],
  STRPOS: [["STRPOS(#'San Juan, PR'#, 'PR')", 11]],
  REGEXP_EXTRACT: [
    ["REGEXP_EXTRACT(#'San Juan, PR'#, '([^,]+)', 0)", 'San Juan'],
    ["REGEXP_EXTRACT(#'San Juan, PR'#, ', (.*)', 1)", 'PR'],
  ],
  REGEXP_LIKE: [["REGEXP_LIKE(#'San Juan, PR'#, '^San')", true]],
  REGEXP_REPLACE: [["REGEXP_REPLACE(#'foo bar'#, '[aeiou]', '_')", 'f__ b_r']],
  REPLACE: [["REPLACE(#'San Juan, PR'#, 'San', 'S.')", 'S. Juan, PR']],
  REPEAT: [["REPEAT(#'ab'#, 3)", 'ababab']],
  REVERSE: [["REVERSE(#'abc'#)", 'cba']],
  STRING_FORMAT: [
    ["STRING_FORMAT('Flight No.%d departing from %s', #314#, #'SJU'#)", 'Flight No.314 departing from SJU'],
    ["STRING_FORMAT('%05.1f', #2.25#)", '002.3'],
  ],
  SUBSTRING: [
    ["SUBSTRING(#'abcdefghi'#, 3, 3)", 'cde'],
    ["SUBSTRING(#'abcdefghi'# FROM 3)", 'cdefghi'],
    ["SUBSTRING(#'abcdefghi'# FROM #0#)", 'abcdefghi'],
    ["SUBSTRING(#'abcdefghi'# FROM #0# FOR #2#)", 'a'],
    ["SUBSTRING(#'abcdefghi'# FROM #-1# FOR #4#)", 'ab'],
    ["SUBSTRING(#'abcdefghi'# FROM #2# FOR #3#)", 'bcd'],
    ["SUBSTRING(#'abcdefghi'# FROM CAST(#NULL# AS BIGINT))", null],
  ],
  SUBSTR: [["SUBSTR(#'abcdefghi'#, 3, 3)", 'cde']],
  TRIM: [
    ["TRIM(#'  abc '#)", 'abc'],
    ["TRIM(BOTH '_' FROM #'__abc_'#)", 'abc'],
    ["TRIM(LEADING '_' FROM #'__abc_'#)", 'abc_'],
  ],
  BTRIM: [["BTRIM(#'__abc__'#, '_')", 'abc']],
  LTRIM: [["LTRIM(#'__abc__'#, '_')", 'abc__']],
  RTRIM: [["RTRIM(#'__abc__'#, '_')", '__abc']],
  CASE: [
    ["CASE WHEN #5# > 3 THEN 'more' ELSE 'less' END", 'more'],
    ["CASE #2# WHEN 1 THEN 'one' WHEN 2 THEN 'two' END", 'two'],
  ],
  CAST: [
    ["CAST(#'12'# AS BIGINT)", 12],
    ['CAST(#12.75# AS BIGINT)', 12],
    ['CAST(#12# AS VARCHAR)', '12'],
  ],
  COALESCE: [["COALESCE(NULL, #'x'#, 'y')", 'x']],
  NULLIF: [
    ["NULLIF(#'a'#, 'a')", null],
    ["NULLIF(#'a'#, 'b')", 'a'],
  ],
  NVL: [["NVL(NULL, #'x'#)", 'x']],
};
