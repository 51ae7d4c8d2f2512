import { holds, lengths, most, sum, type Words } from './words.js';

/** Functions of rows of several values. */
export const OF_LISTS: readonly Words[] = [
  ['MV_APPEND', sum("MV_LENGTH(MV_APPEND(tags, 'x1'))"), sum("len(list_append(tags, 'x1'))")],
  ['MV_PREPEND', sum("MV_LENGTH(MV_PREPEND('x1', tags))"), sum("len(list_prepend('x1', tags))")],
  ['MV_CONCAT', sum('MV_LENGTH(MV_CONCAT(tags, tags))'), sum('len(list_concat(tags, tags))')],
  ['MV_FILTER_NONE', sum("MV_LENGTH(MV_FILTER_NONE(tags, ARRAY['t3', 't4']))"), sum("len(list_filter(tags, x -> x NOT IN ('t3', 't4')))")],
  ['MV_FILTER_PREFIX', sum("MV_LENGTH(MV_FILTER_PREFIX(tags, 't1'))"), sum("len(list_filter(tags, x -> x LIKE 't1%'))")],
  ['MV_FILTER_REGEX', sum("MV_LENGTH(MV_FILTER_REGEX(tags, '^t1.*'))"), sum("len(list_filter(tags, x -> regexp_matches(x, '^t1')))")],
  ['MV_OFFSET_OF', holds("MV_OFFSET_OF(tags, 't3') >= 0"), holds("list_position(tags, 't3') > 0")],
  ['MV_ORDINAL', lengths('MV_ORDINAL(tags, 1)'), lengths('list_min(tags)')],
  ['MV_ORDINAL_OF', holds("MV_ORDINAL_OF(tags, 't3') > 0"), holds("list_position(tags, 't3') > 0")],
  ['MV_SLICE', sum('MV_LENGTH(MV_SLICE(tags, 0, 1))'), sum('len(tags[1:1])')],
  ['ARRAY_CONTAINS', holds("ARRAY_CONTAINS(MV_TO_ARRAY(tags), 't3')"), holds("list_contains(tags, 't3')")],
  ['ARRAY_OVERLAP', holds("ARRAY_OVERLAP(MV_TO_ARRAY(tags), ARRAY['t3', 't4'])"), holds("list_has_any(tags, ['t3', 't4'])")],
  ['ARRAY_APPEND', sum("ARRAY_LENGTH(ARRAY_APPEND(MV_TO_ARRAY(tags), 'x1'))"), sum("len(list_append(tags, 'x1'))")],
  ['ARRAY_PREPEND', sum("ARRAY_LENGTH(ARRAY_PREPEND('x1', MV_TO_ARRAY(tags)))"), sum("len(list_prepend('x1', tags))")],
  ['ARRAY_CONCAT', sum('ARRAY_LENGTH(ARRAY_CONCAT(MV_TO_ARRAY(tags), MV_TO_ARRAY(tags)))'), sum('len(list_concat(tags, tags))')],
  ['ARRAY_OFFSET', lengths('ARRAY_OFFSET(MV_TO_ARRAY(tags), 0)'), lengths('list_min(tags)')],
  ['ARRAY_ORDINAL', lengths('ARRAY_ORDINAL(MV_TO_ARRAY(tags), 1)'), lengths('list_min(tags)')],
  ['ARRAY_OFFSET_OF', holds("ARRAY_OFFSET_OF(MV_TO_ARRAY(tags), 't3') >= 0"), holds("list_position(tags, 't3') > 0")],
  ['ARRAY_SLICE', sum('ARRAY_LENGTH(ARRAY_SLICE(MV_TO_ARRAY(tags), 0, 1))'), sum('len(tags[1:1])')],
  ['ARRAY_TO_STRING', lengths("ARRAY_TO_STRING(MV_TO_ARRAY(tags), ',')"), lengths("array_to_string(tags, ',')")],
  ['ARRAY of numbers', sum('ARRAY_LENGTH(ARRAY[tiny, long])'), sum('len([tiny, long])')],
  ['ARRAY_CONTAINS of numbers', holds('ARRAY_CONTAINS(ARRAY[tiny, long], 5)'), holds('list_contains([tiny, long], 5)')],
  ['LENGTH of MV_TO_STRING', lengths("UPPER(MV_TO_STRING(tags, '-'))"), lengths("UPPER(array_to_string(tags, '-'))")],
];

/** Functions of documents. */
export const OF_DOCUMENTS: readonly Words[] = [
  ['JSON_VALUE', lengths("JSON_VALUE(doc, '$.kind')"), lengths("doc->>'$.kind'")],
  ['JSON_VALUE RETURNING BIGINT', sum("JSON_VALUE(doc, '$.n' RETURNING BIGINT)"), sum("CAST(doc->>'$.n' AS BIGINT)")],
  ['JSON_VALUE RETURNING DOUBLE', sum("JSON_VALUE(doc, '$.deep.d' RETURNING DOUBLE)"), sum("CAST(doc->>'$.deep.d' AS DOUBLE)")],
  ['JSON_VALUE = constant', holds("JSON_VALUE(doc, '$.kind') = 'k3'"), holds("doc->>'$.kind' = 'k3'")],
  ['JSON_VALUE of an element', sum("JSON_VALUE(doc, '$.deep.list[1]' RETURNING BIGINT)"), sum("CAST(doc->>'$.deep.list[1]' AS BIGINT)")],
  ['JSON_VALUE + 1', most("JSON_VALUE(doc, '$.n' RETURNING BIGINT) + 1"), most("CAST(doc->>'$.n' AS BIGINT) + 1")],
  ['COUNT DISTINCT of JSON_VALUE', "COUNT(DISTINCT JSON_VALUE(doc, '$.kind'))", "COUNT(DISTINCT doc->>'$.kind')"],
  ['JSON_QUERY', lengths("TO_JSON_STRING(JSON_QUERY(doc, '$.deep'))"), lengths("CAST(doc->'$.deep' AS VARCHAR)")],
  ['JSON_QUERY_ARRAY', sum("ARRAY_LENGTH(JSON_QUERY_ARRAY(doc, '$.deep.list'))"), sum("json_array_length(doc, '$.deep.list')")],
  ['JSON_KEYS', sum("ARRAY_LENGTH(JSON_KEYS(doc, '$.'))"), sum('len(json_keys(doc))')],
  ['JSON_PATHS', sum('ARRAY_LENGTH(JSON_PATHS(doc))'), null],
  ['TO_JSON_STRING', lengths('TO_JSON_STRING(doc)'), lengths('CAST(doc AS VARCHAR)')],
  ['JSON_OBJECT', lengths("TO_JSON_STRING(JSON_OBJECT(KEY 'a' VALUE tiny))"), lengths("CAST(json_object('a', tiny) AS VARCHAR)")],
  ['JSON_MERGE', lengths('TO_JSON_STRING(JSON_MERGE(doc, \'{"z":1}\'))'), null],
  ['PARSE_JSON', lengths("TO_JSON_STRING(PARSE_JSON('[' || CAST(tiny AS VARCHAR) || ']'))"), null],
  ['TRY_PARSE_JSON', holds('TRY_PARSE_JSON(low) IS NULL'), null],
];
