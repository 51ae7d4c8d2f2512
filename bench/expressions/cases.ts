/** The columns of the bench's rows, as plain TypeScript has them. */
export interface Columns {
  readonly channel: readonly string[];
  readonly country: readonly string[];
  readonly city: readonly string[];
  readonly user: readonly string[];
  /** NaN: null. */
  readonly holes: Float64Array;
  readonly small: Uint8Array;
  readonly delta: Int32Array;
  readonly score: Float64Array;
  readonly tags: readonly (readonly string[])[];
}

export interface Case {
  readonly name: string;
  readonly expression: string;
  /** The sum of the expression over all rows: what the engine answers and a loop adds up. */
  readonly type: 'LONG' | 'DOUBLE';
  loop(columns: Columns, row: number): number;
}

export const CASES: readonly Case[] = [
  // arithmetic
  {
    name: 'long arithmetic',
    expression: 'small * 3 + delta',
    type: 'LONG',
    loop: ({ small, delta }, i) => (small[i] ?? 0) * 3 + (delta[i] ?? 0),
  },
  {
    name: 'double arithmetic',
    expression: 'score / 2 + small',
    type: 'DOUBLE',
    loop: ({ score, small }, i) => (score[i] ?? 0) / 2 + (small[i] ?? 0),
  },
  { name: 'remainder', expression: 'delta % 7', type: 'LONG', loop: ({ delta }, i) => (delta[i] ?? 0) % 7 },
  { name: 'floor', expression: 'floor(score / 10)', type: 'DOUBLE', loop: ({ score }, i) => Math.floor((score[i] ?? 0) / 10) },
  { name: 'abs', expression: 'abs(delta)', type: 'LONG', loop: ({ delta }, i) => Math.abs(delta[i] ?? 0) },
  { name: 'sqrt', expression: 'sqrt(small)', type: 'DOUBLE', loop: ({ small }, i) => Math.sqrt(small[i] ?? 0) },
  {
    name: 'greatest',
    expression: 'greatest(delta, small)',
    type: 'LONG',
    loop: ({ delta, small }, i) => Math.max(delta[i] ?? 0, small[i] ?? 0),
  },
  // conditions
  {
    name: 'CASE on a number',
    expression: 'case_searched(delta > 0, delta, 0)',
    type: 'LONG',
    loop: ({ delta }, i) => Math.max(delta[i] ?? 0, 0),
  },
  {
    name: 'CASE of three branches',
    expression: 'case_searched(delta > 500, small, delta > 0, 2 * small, 1)',
    type: 'LONG',
    loop: ({ delta, small }, i) => ((delta[i] ?? 0) > 500 ? (small[i] ?? 0) : (delta[i] ?? 0) > 0 ? 2 * (small[i] ?? 0) : 1),
  },
  {
    name: 'CASE on a text',
    expression: "case_searched(city == 'city 7', 1, 0)",
    type: 'LONG',
    loop: ({ city }, i) => (city[i] === 'city 7' ? 1 : 0),
  },
  {
    name: 'CASE on a text, of a number',
    expression: "if(city == 'city 7', delta, 0)",
    type: 'LONG',
    loop: ({ city, delta }, i) => (city[i] === 'city 7' ? (delta[i] ?? 0) : 0),
  },
  {
    name: 'condition as a number',
    expression: '(small > 100) && (delta > 0)',
    type: 'LONG',
    loop: ({ small, delta }, i) => ((small[i] ?? 0) > 100 && (delta[i] ?? 0) > 0 ? 1 : 0),
  },
  {
    name: 'coalesce',
    expression: 'coalesce(holes, 1)',
    type: 'LONG',
    loop: ({ holes }, i) => (Number.isNaN(holes[i]) ? 1 : (holes[i] ?? 0)),
  },
  // texts
  { name: 'length of 5,000 texts', expression: 'strlen(city)', type: 'LONG', loop: ({ city }, i) => (city[i] ?? '').length },
  {
    name: 'length of 100,000 texts',
    expression: 'strlen(upper(user))',
    type: 'LONG',
    loop: ({ user }, i) => (user[i] ?? '').toUpperCase().length,
  },
  {
    name: 'concatenation of 10 × 250',
    expression: "strlen(concat(channel, '/', country))",
    type: 'LONG',
    loop: ({ channel, country }, i) => `${channel[i]}/${country[i]}`.length,
  },
  {
    name: 'concatenation of 5,000 × 100,000',
    expression: "strlen(concat(city, '/', user))",
    type: 'LONG',
    loop: ({ city, user }, i) => `${city[i]}/${user[i]}`.length,
  },
  { name: 'text of a number', expression: "strlen(cast(small, 'STRING'))", type: 'LONG', loop: ({ small }, i) => String(small[i]).length },
  {
    name: 'text and number',
    expression: 'strlen(concat(channel, delta))',
    type: 'LONG',
    loop: ({ channel, delta }, i) => `${channel[i]}${delta[i]}`.length,
  },
  // arrays
  { name: 'array length', expression: 'array_length(tags)', type: 'LONG', loop: ({ tags }, i) => tags[i]?.length ?? 0 },
  {
    name: 'array contains',
    expression: "array_contains(tags, 'tag 3')",
    type: 'LONG',
    loop: ({ tags }, i) => (tags[i]?.includes('tag 3') === true ? 1 : 0),
  },
  {
    name: 'array contains a column',
    expression: 'array_contains(tags, country)',
    type: 'LONG',
    loop: ({ tags, country }, i) => (tags[i]?.includes(country[i] ?? '') === true ? 1 : 0),
  },
  {
    name: 'fold',
    expression: 'fold((tag, sum) -> sum + strlen(tag), tags, 0)',
    type: 'LONG',
    loop: ({ tags }, i) => tags[i]?.reduce((sum, tag) => sum + tag.length, 0) ?? 0,
  },
  {
    name: 'filter of an array of columns',
    expression: 'array_length(filter((x) -> x > 50, array(small, delta)))',
    type: 'LONG',
    loop: ({ small, delta }, i) => [small[i] ?? 0, delta[i] ?? 0].filter((x) => x > 50).length,
  },
];
