import type { Answer, Difference, Json, Mute } from './case.js';
import { findDifference } from './compare.js';
import { EXPRESSION_MUTES } from './expressions/expression-mutes.js';
import { NATIVE_MUTES } from './native/native-mutes.js';
import { SQL_MUTES } from './sql/sql-mutes.js';

export const MUTES: readonly Mute[] = [
  { id: 'original-fails', covers: ({ original }) => original.state === 'broken' },
  ...answeredHereOnly('original-fails', /Unable to convert object of type\[|Not supported for multi-value dimensions/),
  ...answeredHereOnly('search-of-lists', /Cannot create query type helper from invalid type/),
  ...answeredHereOnly('later-names', /Could not resolve type id 'mv-(regex|prefix)-filtered'/),
  ...answeredHereOnly('division-by-zero', /\/ by zero/),
  ...answeredHereOnly('offset-alone', /limit >= /),
  ...answeredHereOnly('time-format-alone', /(timeZone|locale) requires a format/),
  ...answeredHereOnly(
    'arrays-refused',
    /Predicate does not support ARRAY types|cannot make string matcher for ARRAY types|cannot cast \[ARRAY</,
  ),
  {
    id: 'arrays-refused',
    covers: ({ case: { kind }, dolmen }) =>
      kind === 'native' && dolmen.state === 'refused' && /is of type ARRAY<\w+>; filters that apply to it/.test(dolmen.message),
  },
  ...EXPRESSION_MUTES,
  ...NATIVE_MUTES,
  ...SQL_MUTES,
];

/** A native query that the original refuses with such a message, and Dolmen answers. */
function answeredHereOnly(id: string, message: RegExp): Mute[] {
  return [
    {
      id,
      covers: ({ case: { kind }, dolmen, original }) =>
        kind === 'native' && dolmen.state === 'rows' && original.state === 'refused' && message.test(original.message),
    },
  ];
}

/** The rule that allows a difference which `findUnmuted` does not find. */
export function muteOf(difference: Difference): string {
  return MUTES.find((mute) => 'covers' in mute && mute.covers(difference))?.id ?? 'rules that equate rows';
}

/** Place of the first difference that no rule allows, or undefined when there is none. */
export function findUnmuted(difference: Difference, mutes = MUTES): string | undefined {
  if (mutes.some((mute) => 'covers' in mute && mute.covers(difference))) return undefined;
  const [dolmen, original] = [difference.dolmen, difference.original];
  let [ours, theirs] = [rowsOf(dolmen), rowsOf(original)];
  for (const mute of mutes)
    if ('equate' in mute) [ours, theirs] = [mute.equate(ours, difference.case, theirs), mute.equate(theirs, difference.case, ours)];
  return findDifference(difference.case, withRows(dolmen, ours), withRows(original, theirs));
}

function rowsOf(answer: Answer): Json {
  return answer.state === 'rows' ? answer.rows : null;
}

function withRows(answer: Answer, rows: Json): Answer {
  return answer.state === 'rows' ? { ...answer, rows } : answer;
}
